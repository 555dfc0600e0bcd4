//! The sections of the manual around the options, as plain data.
//!
//! Words in backquotes are typed as they stand.

use super::Block::{self, Item, Lines, Text};

/// Before the options.
pub(crate) const BEFORE: &[(&str, &[Block])] = &[(
    "DESCRIPTION",
    &[
        Text(
            "httperf loads an HTTP server and reports how it coped. With options alone it is the classic tool: \
             it opens connections (or begins sessions) on a schedule, makes calls on them, and prints one \
             report at the end. Every call is one request and its reply.",
        ),
        Text(
            "With `--rate` or `--period` the load is an open loop: arrivals come at their times whether the \
             server keeps up or not, so a server that slows down does not slow the load down. Without them one \
             connection follows the other, or `--concurrency` of them are kept going.",
        ),
        Text(
            "A session is a chain of calls with pauses between them, made by one imagined user on connections \
             of its own.",
        ),
        Text(
            "Long options may be cut short as long as what is left fits one option only, and an option of \
             httperf 0.9.0 is never made ambiguous by one of the others. A value follows after a blank or \
             after `=`; values that may be left out only after `=`. Short options may be grouped. If an \
             option is repeated, the last one counts. Other words are ignored, but a URL or the name of a \
             subcommand among them is an error.",
        ),
        Text(
            "To measure the server and not the client, run the two on different machines, leave the client's \
             machine alone during the test, and look at the CPU line and the errors before the rates.",
        ),
    ],
)];

/// After the options and the subcommands.
pub(crate) const AFTER: &[(&str, &[Block])] = &[
    (
        "OUTPUT",
        &[
            Text(
                "The first line repeats the options that took effect. Then come samples (`-v`), printed \
                 requests and replies, and the report. A line of the report is never left out; what was not \
                 measured is 0.0.",
            ),
            Item(
                "Maximum connect burst length",
                "The most connections begun at once. Above 1 with a rate, this program was late.",
            ),
            Item(
                "Total",
                "Connections attempted, requests sent to their last byte, complete replies, and the length of \
                 the test in seconds.",
            ),
            Item(
                "Connection rate",
                "Connections per second, milliseconds per connection, and the most that were open at once. \
                 Below the rate asked for, something gave way.",
            ),
            Item(
                "Connection time [ms]",
                "From the connect to the close, for connections that brought at least one reply. The median \
                 is the middle of a bin of 1 ms. The second line is the mean time until a connection stood, \
                 TLS included; refused connections are part of it.",
            ),
            Item("Connection length", "Replies per connection that brought any."),
            Item(
                "Request rate, Request size",
                "Requests per second, milliseconds per request, and bytes per request, cut to a whole number.",
            ),
            Item(
                "Reply rate [replies/s]",
                "From samples of five seconds each: their minimum, mean, maximum and standard deviation. A \
                 last, shorter stretch is no sample, so a test of less than five seconds has none.",
            ),
            Item(
                "Reply time [ms]",
                "response: from sending a request until its status line is there. transfer: from then until \
                 the reply is complete. Means.",
            ),
            Item(
                "Reply size [B]",
                "Means, each cut to a whole number: header, content as decoded, footer (what follows the last \
                 chunk; 2 for a chunked reply without trailers) and their sum.",
            ),
            Item("Reply status", "Replies by the first digit of their status."),
            Item(
                "CPU time [s]",
                "Of this process, in seconds and as a share of the test. This program sleeps when there is \
                 nothing to do, so the share is what the load costs.",
            ),
            Item(
                "Net I/O",
                "Bytes of requests and replies per second, in KB (1024 bytes) and in 10^6 bits. Chunk \
                 framing, footers, partial replies, TLS and TCP are not in it.",
            ),
            Item(
                "Errors",
                "client-timo: a limit of `--timeout` ran out. socket-timo: the kernel gave a connection up. \
                 connrefused, connreset: the server refused a connection, or ended one early. fd-unavail, \
                 addrunavail, ftab-full: descriptors or ports of this machine ran out; the result is then not \
                 about the server. other: anything else. The first error of each kind is also a line on \
                 stderr.",
            ),
            Item(
                "Session rate [sess/s]",
                "Only with sessions. Minimum, maximum and deviation from samples of five seconds; the mean is \
                 successful sessions over the length of the test; in parentheses successful sessions and \
                 ended ones.",
            ),
            Item(
                "Session, Session lifetime [s], Session failtime [s]",
                "Connections per successful session, and how long successful and failed sessions took, on \
                 average.",
            ),
            Item(
                "Session length histogram",
                "How many sessions ended after 0, 1, 2, ... replies, successful or not; up to 10000 replies. \
                 The JSON document has longer ones.",
            ),
            Item(
                "Quality, Calls, Class",
                "Only with `--wmix`. Calls by grade: good and tolerable by the time from the moment a call was due to \
                 the last byte of its reply; failed are slower ones, replies of a status of 500 or more, and calls that \
                 were lost with their sessions. Then all calls, and those of each class, whatever number of attempts \
                 they took; response is the mean of those times.",
            ),
        ],
    ),
    (
        "EXIT STATUS",
        &[
            Item("0", "The test was run, whatever happened in it: errors of the server change nothing."),
            Item("1", "Wrong options, or the test could not be set up or its result not written."),
            Item("2", "A subcommand was not understood."),
            Item("4", "The result is not valid, and `--strict` was given."),
            Item("101", "A fault in this program; the report covers what came before it."),
            Item("130", "SIGINT came a second time."),
            Item("255", "Options that cannot go together: cookies without sessions, two lists of servers."),
        ],
    ),
    (
        "SIGNALS",
        &[
            Item(
                "SIGINT",
                "Ends the test at once, with its report and its files. The status is 0, or 4 with `--strict`.",
            ),
            Item("SIGTERM, SIGHUP", "The same, but then the program dies by that signal."),
            Item("SIGUSR1", "The report so far, on stderr; the test goes on."),
            Item("SIGPIPE", "Ignored: a closed stdout ends no test and loses no file."),
        ],
    ),
    (
        "ENVIRONMENT",
        &[Item("SSLKEYLOGFILE", "The file for the secrets of TLS; looked at with `--ssl-keylog` only.")],
    ),
    (
        "FILES",
        &[
            Item(
                "Session file (--wsesslog)",
                "Lines of text. A line that begins with `#` is a comment; blank lines end a session. Any other \
                 line is a URI, then arguments with blanks between them. A URI at the beginning of a line \
                 starts a burst; an indented one belongs to the burst above. The arguments are \
                 `method=NAME`, `think=SECONDS` (the pause after this burst) and `contents=TEXT`, the body. \
                 TEXT may be quoted by ' or \"; `\\n`, `\\r` and `\\t` stand for LF, CR and tab, a backslash \
                 at the end of a line goes on in the next, and before any other character it stands for that \
                 character. The method stays GET unless another is named. Two arguments are not of 0.9.0: \
                 `headers=TEXT` adds header fields, with `\\n` between them, and `contents=@NAME` takes the body \
                 from a file, beside this one.",
            ),
            Lines(
                "# a session of two bursts\n/index.html think=2.0\n\t/style.css\n\t/logo.png\n/order \
                 method=POST contents='item=7&n=1'",
            ),
            Item(
                "URI file (--wlog)",
                "URIs with NUL bytes or line ends between them. Empty ones are skipped.",
            ),
            Item(
                "Mix file (--wmix)",
                "TOML with the tables `[sessions]`, `[calls]`, `[quality]` and one `[[class]]` for each class of URIs; \
                 docs/wmix.md in the source explains every key. A mistake is shown at its place.",
            ),
            Lines(
                "[sessions]\nrate = 20.0\ncount = 1000\nlength = { mean = 10 }\nthink = { distribution = \"exponential\", \
                 mean = \"5s\" }\n\n[quality]\ngood = \"3s\"\ntolerable = \"5s\"\n\n[[class]]\nname = \"small\"\nweight = 1\nuri \
                 = \"/dir/{file}\"\npick.file = { count = 9, zipf = 1.0 }",
            ),
            Item("Server file (--servers)", "Names or addresses with NUL bytes or line ends between them."),
        ],
    ),
    (
        "EXAMPLES",
        &[
            Text("A server to try things out on, on port 8080 of this machine:"),
            Lines("httperf serve"),
            Text("A hundred connections, ten a second, one call on each:"),
            Lines("httperf --server 127.0.0.1 --port 8080 --num-conns 100 --rate 10 --timeout 5"),
            Text("Poisson arrivals, 50 a second on average, and the result as a document:"),
            Lines("httperf --server 127.0.0.1 --port 8080 --num-conns 500 --period e0.02 --json result.json"),
            Text("Fifty connections at a time, twenty calls on each:"),
            Lines("httperf --server 127.0.0.1 --port 8080 --num-conns 1000 --num-calls 20 --concurrency 50"),
            Text("Ten users who make five calls each, two seconds apart, one new user a second:"),
            Lines("httperf --server 127.0.0.1 --port 8080 --wsess 10,5,2 --rate 1 --timeout 5"),
            Text("The same over TLS, with `httperf serve --tls --port 8443` for a server:"),
            Lines("httperf --server 127.0.0.1 --port 8443 --ssl --wsess 10,5,2 --rate 1 --timeout 5"),
        ],
    ),
    (
        "DIFFERENCES",
        &[Text(
            "Options, texts, counting and random sequences are those of httperf 0.9.0. What differs differs on \
             purpose; docs/classic.md in the source lists each difference with its reason. `--classic-strict` \
             restores the original's reading of replies.",
        )],
    ),
    ("SEE ALSO", &[Text("`curl`(1), `ss`(8), `tcp`(7)")]),
];
