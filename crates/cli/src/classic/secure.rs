//! What the TLS options ask for: files are read here, and mistakes found before any packet.

use httperf::engine::Secure;
use httperf::wire::{Ciphers, Identity, TlsClient, TlsSpec, TlsVersions, Verify};

use crate::personality::httperf::options::{Options, SslProtocol};
use crate::secure::{read, roots};

/// TLS with each of these servers; `None` without `--ssl`. An error is a line for the user.
pub(super) fn secure(options: &Options, servers: &[Vec<u8>]) -> Result<Option<Secure>, String> {
    let ssl = &options.ssl;
    if !ssl.on {
        return Ok(None);
    }
    let mut spec = TlsSpec::new("");
    spec.versions = match ssl.protocol {
        Some(SslProtocol::Tls12) => TlsVersions::Tls12,
        Some(SslProtocol::Tls13) => TlsVersions::Tls13,
        _ => TlsVersions::Auto,
    };
    if let Some(list) = &ssl.ciphers {
        let list = String::from_utf8_lossy(list);
        spec.ciphers = Some(Ciphers::from_list(&list).map_err(|error| format!("--ssl-ciphers: {error}"))?);
    }
    if ssl.verify {
        spec.verify = Verify::Roots(roots("--ssl-ca-file", ssl.ca_file.as_deref(), ssl.ca_path.as_deref())?);
    }
    spec.identity = match (&ssl.certificate, &ssl.key) {
        (None, None) => None,
        // One file may hold both.
        (Some(certificate), key) => Some(Identity {
            certificates: read("--ssl-certificate", certificate)?,
            key: read("--ssl-key", key.as_ref().unwrap_or(certificate))?,
        }),
        (None, Some(_)) => return Err("--ssl-key needs --ssl-certificate".to_owned()),
    };
    spec.keylog = ssl.keylog;
    if ssl.keylog && std::env::var_os("SSLKEYLOGFILE").is_none() {
        return Err("--ssl-keylog needs a file name in the environment variable SSLKEYLOGFILE".to_owned());
    }
    let name_for_all = ssl.server_name.as_ref().or(options.server_name.as_ref());
    let client = |server: &Vec<u8>| {
        let name = String::from_utf8_lossy(name_for_all.unwrap_or(server)).into_owned();
        let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name);
        let spec = TlsSpec { server_name: name.to_owned(), ..spec.clone() };
        TlsClient::new(&spec).map_err(|error| format!("failed to set up TLS: {error}"))
    };
    let clients = servers.iter().map(client).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(Secure { clients: clients.into(), resume: !ssl.no_reuse }))
}
