//! What a classic command line names and the run needs: servers, files of headers, URIs and sessions.
//! Everything is read, and found wanting, before the first packet.

use std::fs;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::Path;

use httperf::UrisPlan;
use httperf::load::{Entries, SessionLog, WsetSpec};

use crate::personality::httperf::options::Options;

/// The servers of `--servers`, else the one of `--server`, by name. An error is a line for the user.
pub(super) fn servers(options: &Options) -> Result<Vec<Vec<u8>>, String> {
    let Some(file) = &options.servers else { return Ok(vec![options.server.clone()]) };
    let text =
        fs::read(file).map_err(|error| format!("--servers: failed to read {}: {error}", file.display()))?;
    // NUL separates; so do the ends of lines, which no name contains.
    let names = text.split(|byte| matches!(byte, 0 | b'\n' | b'\r')).map(<[u8]>::trim_ascii);
    let names: Vec<_> = names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect();
    if names.is_empty() {
        return Err(format!("--servers: there is no server in {}", file.display()));
    }
    Ok(names)
}

/// The address of a server: the first of IPv4, else the first of IPv6. A literal may stand in brackets.
pub(super) fn resolve(server: &[u8], port: u16) -> Option<SocketAddr> {
    let name = std::str::from_utf8(server).ok()?;
    let literal = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    if let Ok(address) = literal.parse::<IpAddr>() {
        return Some(SocketAddr::new(address, port));
    }
    let addresses: Vec<_> = (name, port).to_socket_addrs().ok()?.collect();
    addresses.iter().find(|address| address.is_ipv4()).or(addresses.first()).copied()
}

/// The text of the Host header: the name as it was given, a bare IPv6 address in brackets, never the port.
pub(super) fn host(options: &Options, server: &[u8]) -> Vec<u8> {
    if let Some(name) = &options.server_name {
        return name.clone();
    }
    let is_ipv6 = std::str::from_utf8(server).is_ok_and(|name| name.parse::<Ipv6Addr>().is_ok());
    if is_ipv6 { [b"[", server, b"]"].concat() } else { server.to_vec() }
}

/// The bytes of `--add-header-file`, and a warning: the original warns of a file it cannot read, and goes on.
pub(super) fn header_file(options: &Options) -> (Vec<u8>, Option<String>) {
    let Some(file) = &options.add_header_file else { return (Vec::new(), None) };
    match fs::read(file) {
        Ok(bytes) if bytes.is_empty() || bytes.ends_with(b"\n") => (bytes, None),
        Ok(bytes) => {
            let text = format!(
                "warning: {} does not end with a line end: the request may never be complete",
                file.display()
            );
            (bytes, Some(text))
        }
        Err(error) => {
            let text = format!("warning: --add-header-file: failed to read {}: {error}", file.display());
            (Vec::new(), Some(text))
        }
    }
}

/// Where the URIs of calls come from. An error is the original's text.
pub(super) fn uris(options: &Options) -> Result<UrisPlan, String> {
    if let Some(wlog) = &options.wlog {
        let name = wlog.file.display();
        let bytes = fs::read(&wlog.file).map_err(|_| format!("can't open {name}"))?;
        let entries = Entries::parse(&bytes).map_err(|error| error.message(name))?;
        return Ok(UrisPlan::Wlog(entries.into(), wlog.again));
    }
    let Some(wset) = options.wset.filter(|wset| wset.files > 0) else { return Ok(UrisPlan::Fixed) };
    Ok(UrisPlan::Wset(WsetSpec {
        prefix: if options.uri == b"/" { Vec::new() } else { options.uri.clone() },
        files: u64::from(wset.files),
        miss: wset.miss,
        client: options.client.id,
        clients: options.client.of,
    }))
}

/// The sessions of `--wsesslog`. An error begins with the original's text.
pub(super) fn session_log(file: &Path) -> Result<SessionLog, String> {
    let bytes = fs::read(file).map_err(|_| format!("can't open {}", file.display()))?;
    SessionLog::parse(file, &bytes, &mut |path| fs::read(path)).map_err(|error| error.to_string())
}
