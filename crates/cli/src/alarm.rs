//! The first failure of each cause in one line: what, where, and what to do.

use httperf::engine::{Broken, Cause};
use httperf::stat::Alarm;
use httperf::wire::Note;

/// The line, without its end, and without the name of the program before it.
pub(crate) fn line(alarm: &Alarm) -> String {
    match *alarm {
        Alarm::Failed { cause, errno, fault, target } => {
            let what = match fault {
                Some(Broken::Http(fault)) => format!("the server sent {fault}"),
                Some(Broken::Tls(fault)) => fault.to_string(),
                None => what(cause, errno),
            };
            let advice = advice(cause);
            format!("{target}: {what} ({}){advice}", cause.key())
        }
        Alarm::Noted(note) => noted(note),
    }
}

fn what(cause: Cause, errno: i32) -> String {
    let text = match cause {
        Cause::ConnectTimeout => "no connection within the time limit",
        Cause::HandshakeTimeout => "no TLS handshake within the time limit",
        Cause::ReplyTimeout => "no complete reply within the time limit",
        Cause::SocketTimo => "the kernel gave up: connection timed out",
        Cause::ConnRefused => "connection refused",
        Cause::ConnReset => "connection reset",
        Cause::ClosedEarly => "the server closed the connection without a reply",
        Cause::ClosedIdle => "the server closed the connection after a reply, without saying so before",
        Cause::Truncated => "the server closed the connection inside a reply",
        Cause::FdUnavail => "no file descriptor left for this process",
        Cause::FtabFull => "no file descriptor left on this system",
        Cause::AddrUnavail => "no local port left",
        Cause::NoBuffers => "no buffer space left in the kernel",
        Cause::Malformed | Cause::Limit | Cause::Unsolicited => "the server broke the protocol",
        Cause::TlsHandshake => "the TLS handshake failed",
        Cause::TlsCertificate => "the server's certificate was not accepted",
        Cause::Unreachable | Cause::Other => {
            let error = std::io::Error::from_raw_os_error(errno);
            return format!("connection failed with unexpected error {errno}: {error}");
        }
    };
    text.to_owned()
}

fn advice(cause: Cause) -> &'static str {
    match cause {
        Cause::ConnRefused => "; is the server running, and on this port?",
        Cause::TlsCertificate => "; --ssl-ca-file says whom to trust, --ssl-verify=no checks nothing",
        Cause::ConnectTimeout | Cause::HandshakeTimeout | Cause::ReplyTimeout => {
            "; --timeout and --think-timeout set the limit"
        }
        Cause::FdUnavail => "; raise the hard limit (ulimit -Hn) or open fewer connections at once",
        Cause::FtabFull => "; raise fs.file-max or open fewer connections at once",
        Cause::AddrUnavail => {
            "; make more calls on each connection (--num-calls), or use --hog, --myaddr or --close-with-reset"
        }
        Cause::NoBuffers => "; give the kernel more memory for sockets or open fewer connections at once",
        _ => "",
    }
}

fn noted(note: Note) -> String {
    match note {
        Note::LongField(bytes) => format!("truncating header from {bytes} to 1024 bytes"),
        Note::UnknownCoding => {
            "unknown transfer encoding; the body is read to the end of the connection".to_owned()
        }
        Note::GarbageStatus => "invalid status line, taken as status 599".to_owned(),
        Note::NoCloseNotify => "TLS ended without close_notify".to_owned(),
        Note::LengthAndChunked => "a reply with both Content-Length and Transfer-Encoding".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use httperf::wire::{Fault, TlsFault};

    #[test]
    fn a_line_says_where_what_and_what_to_do() {
        let target = "127.0.0.1:81".parse().unwrap();
        let failed = |cause, errno, fault| line(&Alarm::Failed { cause, errno, fault, target });
        assert_eq!(
            failed(Cause::ConnRefused, 111, None),
            "127.0.0.1:81: connection refused (connrefused); is the server running, and on this port?"
        );
        assert_eq!(
            failed(Cause::Unreachable, 113, None),
            "127.0.0.1:81: connection failed with unexpected error 113: No route to host (os error 113) (unreachable)"
        );
        assert_eq!(
            failed(Cause::Malformed, 0, Some(Fault::Malformed("a header that is none").into())),
            "127.0.0.1:81: the server sent a header that is none (malformed)"
        );
        assert_eq!(
            failed(Cause::TlsHandshake, 0, Some(TlsFault::NotTls.into())),
            format!("127.0.0.1:81: {} (tls_handshake)", TlsFault::NotTls)
        );
    }
}
