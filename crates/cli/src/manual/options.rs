//! What the manual says of each option: a paragraph by name, where the one line of `--help` is too short.
//!
//! Words in backquotes are typed as they stand; names of values are written as in the table of options. A
//! test holds the list complete.

/// The paragraphs, in the order of [`crate::flags::FLAGS`].
pub(crate) const OPTIONS: &[(&str, &str)] = &[
    (
        "add-header",
        "Appends S to the header of every request, after the Host field. S is taken as it is, so it must end \
         with a line end of its own, written `\\n`; several fields are several such lines. `\\n` stands for \
         CR LF, `\\r` for CR, `\\a` for LF, `\\\\` for a backslash and `\\NNN` for the byte with that octal \
         code. Given twice, the last one counts. In the first line of the output values of secret fields \
         stand as `***`.",
    ),
    (
        "burst-length",
        "Calls come in bursts of N. Without sessions the N calls of a burst are sent one behind the other on \
         the same connection, without waiting; the next burst begins when all replies are there. In a session \
         the first call of a burst goes alone, and the other N - 1 follow its reply at once. A last burst may \
         be shorter.",
    ),
    (
        "client",
        "This is client I of N that load one server together; the form is `I/N`, and I begins at 0. It \
         chooses the random sequence of `--period`, shifts the sampling times by a part of five seconds and \
         the files of `--wset`. It does not divide anything: each client offers the full rate. The default is \
         `0/1`.",
    ),
    (
        "close-with-reset",
        "Connections are closed by a TCP reset, not by the usual exchange of FIN segments. No port stays in \
         TIME-WAIT then, but data under way may be lost; use it only when ports are what limits the test.",
    ),
    (
        "debug",
        "Writes a trace of the run to stderr: sessions, connections and failures with 1, arrivals, calls and \
         replies too with 2, every piece of a request and a reply with 3 and more. Each line has its time `t` \
         in seconds.",
    ),
    (
        "failure-status",
        "In a session a reply of this status fails the session, although the reply is counted. With \
         `--retry-on-failure` the call is made again instead. No effect without sessions.",
    ),
    ("help", "Prints a summary of the options on stdout and ends with status 0."),
    (
        "hog",
        "Binds each connection to a local port of our own choice, from 1024 up to 65535, not only to those \
         of the kernel's ephemeral range. Ports in use are skipped. Useful when many connections in TIME-WAIT \
         use the ephemeral range up.",
    ),
    (
        "http-version",
        "The version that requests carry, `1.0` or `1.1`. With 1.0 each request asks for a persistent \
         connection (`Connection: keep-alive`), and in sessions a connection is closed after its reply.",
    ),
    (
        "max-connections",
        "In sessions: how many connections one session may have open, at most 4. 0, the default, means 4. No \
         effect without sessions.",
    ),
    (
        "max-piped-calls",
        "In sessions: how many calls may be pending on one connection, at most 32. 0, the default, means 32, \
         or 1 with HTTP/1.0. No effect without sessions.",
    ),
    (
        "method",
        "The method of the requests, any token; the default is GET. A body is not sent with it; sessions from a file \
         (`--wsesslog`) can do that.",
    ),
    ("no-host-hdr", "Leaves the Host field out of the requests."),
    (
        "num-calls",
        "Calls on each connection, one after the other or in bursts (`--burst-length`), before it is closed; 1 \
         unless given. Above 1 the server must keep connections open. Without sessions only.",
    ),
    (
        "num-conns",
        "Connections in all, 1 unless given; the test ends when the last of them has ended. -1 is as good as no limit. \
         Without sessions only.",
    ),
    (
        "period",
        "The time between two arrivals: of connections, or of sessions in a session workload. A number, or \
         `d` and a number, is a fixed time in seconds. `eT1` draws from an exponential distribution with mean \
         T1, which makes a Poisson process. `uT1,T2` draws evenly from T1 to T2. `vT1,D1,T2,D2,...` keeps to \
         T1 for D1 seconds, then to T2 for D2 seconds and so on, up to 16 pairs, over and over. 0 is no \
         schedule: one after the other. The same period and `--client` give the same sequence of times in \
         every run. `--rate` and `--period` replace each other.",
    ),
    ("port", "The port of the server. The default is 80, or 443 with `--ssl`."),
    (
        "print-reply",
        "Prints replies on stdout: header lines begin with `RH`, the number of the call and a colon, body \
         lines with `RB`; `RS` gives the sizes. With `=header` or `=body` only those lines and the sizes.",
    ),
    (
        "print-request",
        "Prints requests on stdout: header lines begin with `SH`, the number of the call and a colon, body \
         lines with `SB`; `SS` gives the sizes. With `=header` or `=body` only those lines and the sizes. A \
         request that is sent again is printed again. Secrets are printed as they are.",
    ),
    (
        "rate",
        "Arrivals per second: connections, or sessions in a session workload, at equal distances, whether the \
         server keeps up or not. 0, the default, means one after the other: the next begins when the one \
         before has ended.",
    ),
    (
        "recv-buffer",
        "The size of a socket's receive buffer (SO_RCVBUF). The first line shows 16384 if the option is not \
         given; the kernel then chooses.",
    ),
    (
        "retry-on-failure",
        "In sessions: a call that failed is made again, be it by `--failure-status` or because the connection \
         was lost before it had brought any reply, with pauses of 1, 2, 4, up to 100 ms. After ten attempts \
         without a reply the session fails. A connection that ran into `--timeout` fails its session all the \
         same.",
    ),
    (
        "send-buffer",
        "The size of a socket's send buffer (SO_SNDBUF). The first line shows 4096 if the option is not given; \
         the kernel then chooses.",
    ),
    (
        "server",
        "Whom to load: a name, an IPv4 address or an IPv6 address, with or without brackets. A name is looked \
         up once, before the test, and its first IPv4 address is taken, or else its first IPv6 address.",
    ),
    (
        "server-name",
        "The text of the Host field, if it is not that of `--server`. The port is never part of it.",
    ),
    (
        "session-cookies",
        "Each session remembers one cookie: what stands before the first semicolon of the latest Set-Cookie \
         field. It goes with every later call of that session. Path, domain and expiry are not looked at.",
    ),
    (
        "ssl",
        "Speaks TLS 1.2 or 1.3 with the server. The certificate is not checked unless `--ssl-verify` is given. \
         The handshake is part of the connect time and stands under the time limit of connecting.",
    ),
    (
        "ssl-ciphers",
        "The cipher suites that may be used with TLS 1.2, by their OpenSSL names, with colons between them. \
         Those of TLS 1.3 are offered all the same, unless the list names some of them. An unknown name is an \
         error that lists the known ones.",
    ),
    (
        "ssl-no-reuse",
        "Every connection makes a full handshake. Otherwise the later connections of a session resume the TLS \
         session of the first; without sessions nothing is ever resumed.",
    ),
    (
        "think-timeout",
        "Time that the server may take before its reply, added to `--timeout` while a reply is awaited. Each \
         of the two works without the other.",
    ),
    (
        "timeout",
        "The limit, in seconds, for connecting, for each step of sending a request, for the wait until a reply \
         begins, and for a whole reply from its first byte to its last. A connection that exceeds it is closed \
         with all its calls and counted once, as client-timo. Without it there is no limit: always give one \
         when the server may be overloaded.",
    ),
    (
        "uri",
        "What to ask for, sent as it is; the default is `/`. With `--wset` it is the prefix of the URIs.",
    ),
    (
        "verbose",
        "Once: the number of descriptors, the reply rate at every sample, the URIs of `--wset` and `--wlog`. \
         Twice: also the histogram of connection times, and the objects of `--wsesspage`. Three times: also \
         every interarrival time, on stderr.",
    ),
    ("version", "Prints the version on stdout. The test goes on; add `--help` to end there."),
    (
        "wlog",
        "Takes the URIs of the calls from a file, in order; see FILES. After `y` the file is begun again at its \
         end; after `n` the test ends there. For connections and for `--wsess`; it goes before `--wset`.",
    ),
    (
        "wsess",
        "A session workload: the first number of sessions, each of the second number of calls, with the third \
         number of seconds between one burst (`--burst-length`) and the next. `--rate` and `--period` then \
         speak of sessions.",
    ),
    (
        "wsesslog",
        "A session workload from a file, which names URIs, methods, bodies and think times; see FILES. Its \
         sessions are taken in turn until N have been started. X is the think time, in seconds, of bursts that \
         name none.",
    ),
    (
        "wsesspage",
        "Like `--wsess`, but each call is a page: images and frames that an HTML page names, and that lie on \
         the same server, are fetched too, down to frames in frames eight deep, and at most 1000 for a page. \
         `--uri` must be absolute.",
    ),
    (
        "wset",
        "A working set of N files. The URI is the prefix `--uri`, then the digits of a number below N, one a \
         folder, then `.html`. Every call takes the file of the one before it, but a share X of them, evenly \
         spread, goes on to the next; 0 stays with one file, 1 never asks for one twice in a row. For \
         connections and for `--wsess`.",
    ),
    (
        "add-header-file",
        "Appends the bytes of file F to the header of every request, behind those of `--add-header`. They must \
         end with CR LF.",
    ),
    (
        "classic-strict",
        "Reads replies as httperf 0.9.0 did: `Connection: close` is not looked at, a body cut short by the end \
         of the connection counts as a reply, and a status line that is none is status 599. Its crashes and \
         hangs do not come back.",
    ),
    (
        "concurrency",
        "A closed loop: N connections (or sessions) at a time; the next begins when one of them ends. \
         `--num-conns` is the total, as ever. Not together with a rate.",
    ),
    (
        "cookie-jar",
        "As `--session-cookies`, which it implies, but a session keeps up to 64 cookies, each under its name, \
         and gives up those that the server deletes. Paths, domains and dates are not looked at.",
    ),
    (
        "json",
        "Writes the result as one JSON document, with latency histograms and figures per interval. The file \
         appears when the test has ended, whole or not at all. With `-` it goes to stdout, and the report to \
         stderr.",
    ),
    ("live", "Shows the run as it goes on stderr, if that is a terminal."),
    (
        "myaddr",
        "The source address of connections: a name, an address, or a range from A to B. It may be repeated; \
         connections take the addresses in turn.",
    ),
    (
        "periodic-stats",
        "Prints a line at every sample, every five seconds: the time, connections, requests and replies per \
         second, errors, and the mean times of connecting and of the response since the line before.",
    ),
    (
        "runtime",
        "Ends the test after X seconds, or with `--num-conns` if that comes first. With `--runtime` alone the \
         time decides.",
    ),
    (
        "servers",
        "Takes the server of each connection from file F in turn: names or addresses with NUL bytes or line \
         ends between them. The connections of a session take turns too. Host field and TLS handshake carry the \
         name of the server at hand, unless `--server-name` gives one for all. Not together with `--server`.",
    ),
    (
        "show-secrets",
        "Prints values of Authorization, Cookie and other secret fields and parameters as they are, where \
         otherwise `***` stands.",
    ),
    ("ssl-ca-file", "A PEM file of certificates to trust, for `--ssl-verify`."),
    ("ssl-ca-path", "A directory of PEM files with certificates to trust, for `--ssl-verify`."),
    (
        "ssl-certificate",
        "A PEM file with the certificate that the client shows if it is asked, with its chain.",
    ),
    (
        "ssl-key",
        "A PEM file with the private key of `--ssl-certificate`. Without it, the key is looked for in that \
         file.",
    ),
    (
        "ssl-keylog",
        "Writes the secrets of TLS connections to the file named by the environment variable SSLKEYLOGFILE, \
         so that other tools can decrypt a recording.",
    ),
    (
        "ssl-protocol",
        "The version of TLS to speak: `auto`, `TLSv1.2` or `TLSv1.3`. It turns `--ssl` on. Versions below 1.2 \
         are understood and refused.",
    ),
    (
        "ssl-verify",
        "With `--ssl`: checks the certificate of the server against those trusted by this machine, or by \
         `--ssl-ca-file` and `--ssl-ca-path`. A connection that does not pass fails, and the test goes on.",
    ),
    (
        "strict",
        "Ends with status 4 if the result is not valid: if the client did not keep its schedule, or SIGINT \
         ended the test early. The report is printed all the same, and the reasons on stderr. Errors of the \
         server do not make a result invalid.",
    ),
    (
        "threads",
        "N loops share one schedule, each on a thread of its own, and their counts are added. A sequential \
         load cannot be shared: it needs a rate, or a `--concurrency` of at least N.",
    ),
    ("tls-server-name", "The name to ask for in the TLS handshake (SNI), if it is not that of `--server`."),
    ("use-timer-cache", "Accepted for the sake of scripts written for httperf 0.9.1; it has no effect."),
    (
        "wmix",
        "A session workload from a file that describes a mix, in the manner of SPECweb: classes of URIs with weights, how \
         popular the URIs of a class are, how many calls are dynamic, when sessions arrive, how long they are, \
         how long users think, and which response times are good or tolerable; see FILES. The mix takes the place of \
         `--rate`, `--num-conns`, `--uri` and their like. `--client` seeds its draws; `--runtime` may end it early.",
    ),
];
