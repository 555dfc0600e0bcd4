//! Certificates and keys from files: what options of TLS name is read here.

use std::fs;
use std::path::Path;

use httperf::wire::{CertificateDer, certificates_from_pem};

/// Whom to trust: what the user named, else what the system trusts.
pub(crate) fn roots(
    option: &str,
    file: Option<&Path>,
    folder: Option<&Path>,
) -> Result<Vec<CertificateDer<'static>>, String> {
    if file.is_none() && folder.is_none() {
        let system = rustls_native_certs::load_native_certs();
        if system.certs.is_empty() {
            return Err(format!("this system has no list of trusted certificates, give one with {option}"));
        }
        return Ok(system.certs);
    }
    let mut roots = Vec::new();
    if let Some(file) = file {
        let found = certificates_from_pem(&read(option, file)?);
        roots.extend(found.map_err(|error| format!("{option}: {}: {error}", file.display()))?);
    }
    if let Some(folder) = folder {
        let failed = |error| format!("--ssl-ca-path: failed to read {}: {error}", folder.display());
        let before = roots.len();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            // Such folders hold other things as well: keys, lists, links that lead nowhere.
            if let Ok(pem) = fs::read(&path)
                && let Ok(found) = certificates_from_pem(&pem)
            {
                roots.extend(found);
            }
        }
        if roots.len() == before {
            return Err(format!("--ssl-ca-path: there is no certificate in {}", folder.display()));
        }
    }
    Ok(roots)
}

/// The bytes of a file that an option names.
pub(crate) fn read(option: &str, path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{option}: failed to read {}: {error}", path.display()))
}
