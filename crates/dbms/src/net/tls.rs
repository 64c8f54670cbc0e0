//! Encryption of a TCP connection, by rustls, on a socket that never blocks.
//!
//! What is read is handed out as a plain socket hands it out: as much as the caller has room for and as there is.
//! So a read that gives less than was asked for has emptied both the socket and what rustls holds, and whoever polls
//! the socket afterwards misses nothing.

use std::{
    fmt,
    io::{self, Read, Write},
    net::TcpStream,
    os::fd::{AsRawFd, RawFd},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use execute::os::{Interest, wait};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
    },
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
    server::ParsedCertificate,
};

use super::{SILENCE, limits::BEFORE_LOGIN, stream::written};

/// How much encryption is asked for, in the words of `sslmode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// None.
    Disable,
    /// If the server offers it; its certificate is not looked at.
    #[default]
    Prefer,
    /// Or nothing; its certificate is not looked at.
    Require,
    /// Or nothing; its certificate must be signed by the root.
    VerifyCa,
    /// Or nothing; its certificate must be signed by the root and name the host.
    VerifyFull,
}

/// Whether and how a connection is encrypted. On a Unix socket nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    pub mode: TlsMode,
    /// The file with the root certificates.
    pub root: Option<PathBuf>,
}

impl Tls {
    /// The settings of rustls for this.
    fn config(&self) -> Result<ClientConfig, String> {
        let provider = Arc::new(ring::default_provider());
        let roots = match self.mode {
            TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => None,
            TlsMode::VerifyCa => Some(self.roots(&provider, true)?),
            TlsMode::VerifyFull => Some(self.roots(&provider, false)?),
        };
        let lenient = Arc::new(ServerCertificateVerifier {
            algorithms: provider.signature_verification_algorithms,
            roots,
        });
        let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = versions.map_err(|error| error.to_string())?;
        Ok(builder.dangerous().with_custom_certificate_verifier(lenient).with_no_client_auth())
    }

    fn roots(&self, provider: &Arc<CryptoProvider>, any_name: bool) -> Result<Roots, String> {
        let file = self.root.as_ref().ok_or("sslmode=verify-ca and verify-full need sslrootcert=FILE")?;
        let unread = |error: &dyn fmt::Display| {
            format!("the root certificate {} cannot be read: {error}", file.display())
        };
        let (mut roots, mut pinned) = (RootCertStore::empty(), Vec::new());
        for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unread(&error))? {
            let certificate = certificate.map_err(|error| unread(&error))?;
            roots.add(certificate.clone()).map_err(|error| unread(&error))?;
            pinned.push(certificate);
        }
        let strict = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
        Ok(Roots { strict: strict.map_err(|error| unread(&error))?, pinned, any_name })
    }
}

/// Looks at as much as is asked for, as the databases' own clients do. Without roots it takes any certificate: that is what
/// `prefer` and `require` mean to every client. That the server has the key of its certificate is always looked at.
#[derive(Debug)]
struct ServerCertificateVerifier {
    algorithms: WebPkiSupportedAlgorithms,
    roots: Option<Roots>,
}

/// Takes what a root has signed, or is itself one of the roots: that is how people use a certificate that signs itself.
#[derive(Debug)]
struct Roots {
    /// Looks at everything.
    strict: Arc<WebPkiServerVerifier>,
    /// The roots.
    pinned: Vec<CertificateDer<'static>>,
    /// Whatever name it has?
    any_name: bool,
}

impl ServerCertVerifier for ServerCertificateVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(Roots { strict, pinned, any_name }) = &self.roots else {
            return Ok(ServerCertVerified::assertion());
        };
        if pinned.contains(certificate) {
            if !any_name {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        match strict.verify_server_cert(certificate, between, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if *any_name => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

pub struct TlsStream {
    socket: TcpStream,
    connection: ClientConnection,
    /// May something be decrypted that nobody has taken yet?
    holds: bool,
}

impl fmt::Debug for TlsStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsStream").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl TlsStream {
    /// Shakes hands over a socket that does not block; at most for this long.
    pub fn open(socket: TcpStream, tls: &Tls, host: &str, within: Duration) -> Result<TlsStream, String> {
        let name = match (ServerName::try_from(host.to_string()), tls.mode) {
            (Ok(name), _) => name,
            (Err(_), TlsMode::VerifyFull) => {
                return Err(format!("`{host}` is no name that a certificate can hold"));
            }
            // The name is not looked at, but one has to be said.
            (Err(_), TlsMode::Disable | TlsMode::Prefer | TlsMode::Require | TlsMode::VerifyCa) => {
                ServerName::try_from("localhost").map_err(|error| error.to_string())?
            }
        };
        let mut connection =
            ClientConnection::new(Arc::new(tls.config()?), name).map_err(|e| e.to_string())?;
        connection.set_buffer_limit(None);
        let mut stream = TlsStream { socket, connection, holds: true };
        let (begun, mut came) = (Instant::now(), 0);
        while stream.connection.is_handshaking() {
            stream.flush_tls().map_err(|error| error.to_string())?;
            if !stream.connection.is_handshaking() {
                break;
            }
            let left = within.saturating_sub(begun.elapsed());
            if left.is_zero() || !wait(&[stream.fd()], Interest::Read, left) {
                return Err(format!("the encryption was not agreed on within {within:?}"));
            }
            match stream.connection.read_tls(&mut stream.socket) {
                Ok(0) => return Err("it closed the connection while the encryption was agreed on".into()),
                Ok(count) => came += count,
                Err(error) if passing(&error) => continue,
                Err(error) => return Err(error.to_string()),
            }
            if came > BEFORE_LOGIN {
                return Err("it sent more than 64 KB while the encryption was agreed on".into());
            }
            if let Err(error) = stream.connection.process_new_packets() {
                let _ = stream.flush_tls(); // Tells the server why.
                return Err(format!("the encryption could not be agreed on: {error}"));
            }
        }
        stream.flush_tls().map_err(|error| error.to_string())?;
        Ok(stream)
    }

    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// May there be something to read of which the socket knows nothing?
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// Takes everything; waits only while the socket's buffer is full.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.connection.writer().write_all(bytes)?;
        self.flush_tls()
    }

    fn flush_tls(&mut self) -> io::Result<()> {
        let mut patience = SILENCE;
        while self.connection.wants_write() {
            written(self.connection.write_tls(&mut self.socket), self.fd(), &mut patience)?;
        }
        Ok(())
    }
}

/// So often the socket is read for one read; what is left there is found by the next.
const RECORDS: usize = 256;

fn passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

impl Read for TlsStream {
    /// Fills the room as far as there is something, be it in the socket or in rustls.
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let (mut filled, mut records) = (0, 0);
        self.holds = false;
        let end = loop {
            let Some(left) = room.get_mut(filled..).filter(|left| !left.is_empty()) else {
                self.holds = true;
                return Ok(filled);
            };
            match self.connection.reader().read(left) {
                Ok(0) => break Ok(0),
                Ok(count) => {
                    filled += count;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => break Err(error), // It closed without saying so.
            }
            // Records may hold nothing, and come without end.
            records += 1;
            if records > RECORDS {
                break Err(io::ErrorKind::WouldBlock.into());
            }
            match self.connection.read_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Err(error),
            }
            if let Err(error) = self.connection.process_new_packets() {
                break Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
            if self.connection.wants_write() {
                self.flush_tls()?; // The server asked for new keys.
            }
        };
        // What was read before the end comes first; the end comes again with the next call.
        if filled > 0 { Ok(filled) } else { end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_no_certificate_can_name_is_not_verified() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let open = |host: &str, mode| {
            let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            socket.set_nonblocking(true).unwrap();
            let root =
                Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/attached/other-root.pem").into());
            TlsStream::open(socket, &Tls { mode, root }, host, Duration::from_millis(20)).err().unwrap()
        };
        for host in ["fe80::1%lo", "a..b", "b\u{fc}cher", ""] {
            let why = open(host, TlsMode::VerifyFull);
            assert!(why.contains("no name that a certificate can hold"), "{host}: {why}");
            // Where the name does not matter, only the silence of this server does.
            let why = open(host, TlsMode::VerifyCa);
            assert!(why.contains("not agreed on within"), "{host}: {why}");
        }
        assert!(open("localhost", TlsMode::VerifyFull).contains("not agreed on within"));
    }
}
