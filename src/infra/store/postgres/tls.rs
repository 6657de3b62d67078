//! How far the certificate of a server is looked at.

use crate::base::Problem;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Which servers are believed. The file holds the certificates of who signs; without one those of the system count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trust {
    /// Encrypted, but whoever answers is believed.
    Anybody,
    /// Somebody who is trusted signed the certificate.
    Signed(Option<PathBuf>),
    /// The same, and it is of the host that was asked for.
    Named(Option<PathBuf>),
}

impl Trust {
    /// What makes encrypted connections.
    ///
    /// # Errors
    /// The certificates of those who sign cannot be read.
    pub fn connector(&self) -> Result<MakeRustlsConnect, Problem> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|e| Problem::new(format!("cannot set up TLS: {e}")))?;
        let config = match self {
            Trust::Named(file) => builder.with_root_certificates(roots(file.as_deref())?).with_no_client_auth(),
            other => {
                let roots = match other {
                    Trust::Signed(file) => Some(roots(file.as_deref())?),
                    _ => None,
                };
                let verifier = Arc::new(Lenient { provider, roots });
                builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
            }
        };
        Ok(MakeRustlsConnect::new(config))
    }
}

fn roots(file: Option<&Path>) -> Result<RootCertStore, Problem> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(path) => {
            let wrong =
                |why: String| Problem::new(format!("cannot read the certificates of `{}`: {why}", path.display()));
            let text = crate::base::file::read(path).map_err(|e| Problem::io("read", path, &e))?;
            for certificate in CertificateDer::pem_slice_iter(&text) {
                let certificate = certificate.map_err(|e| wrong(e.to_string()))?;
                roots.add(certificate).map_err(|e| wrong(e.to_string()))?;
            }
            if roots.is_empty() {
                return Err(wrong("it holds none".to_owned()).help("it must be in PEM form"));
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                return Err(Problem::new("this system has no certificates of those who sign")
                    .help("install the package ca-certificates, or name a file by `sslrootcert`"));
            }
        }
    }
    Ok(roots)
}

/// Looks at who signed where it has roots, and never at the name.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    roots: Option<RootCertStore>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(roots) = &self.roots {
            let certificate = ParsedCertificate::try_from(certificate)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, roots, between, now, algorithms)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
