//! Does a server take connections? The MySQL family greets whoever connects; PostgreSQL waits to be told who we are, and
//! while it is starting answers with an error.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::{Duration, Instant},
};

use super::spec::ReadySign;

/// How long to wait before the socket is tried again.
const PAUSE: Duration = Duration::from_millis(2);

/// A server, as far as is needed to ask.
#[derive(Clone, Copy, Debug)]
pub struct ReadyCheck<'a> {
    pub socket: &'a Path,
    pub sign: ReadySign,
    /// The account for a login.
    pub user: &'a str,
}

/// Waits until it takes connections. `go_on` waits between two attempts and says whether there is still hope.
pub fn wait_until_open(
    check: ReadyCheck<'_>,
    patience: Duration,
    go_on: &mut dyn FnMut(Duration) -> bool,
) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < patience {
        match try_once(check, patience.saturating_sub(begin.elapsed()), go_on) {
            Some(true) => return true,
            Some(false) => {}
            None => return false,
        }
        if !go_on(PAUSE) {
            return false;
        }
    }
    false
}

/// One attempt; none if there is no more hope.
fn try_once(
    check: ReadyCheck<'_>,
    patience: Duration,
    go_on: &mut dyn FnMut(Duration) -> bool,
) -> Option<bool> {
    let begin = Instant::now();
    let Ok(mut stream) = UnixStream::connect(check.socket) else { return Some(false) };
    let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
    let (hello, good, bye): (Vec<u8>, Option<u8>, &[u8]) = match check.sign {
        ReadySign::Greeting => (Vec::new(), None, &[]),
        // An answer that begins with R is about the password, so the server is up; E is an error. Then we say X.
        ReadySign::Login => (startup(check.user), Some(b'R'), &[b'X', 0, 0, 0, 4]),
    };
    if stream.write_all(&hello).is_err() {
        return Some(false);
    }
    let mut byte = [0; 1];
    loop {
        match stream.read(&mut byte) {
            Ok(n) if n > 0 => {
                let open = good.is_none_or(|good| good == byte[0]);
                if open {
                    let _ = stream.write_all(bye);
                }
                return Some(open);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && begin.elapsed() < patience => {
                if !go_on(PAUSE) {
                    return None;
                }
            }
            Ok(_) | Err(_) => return Some(false),
        }
    }
}

/// Says a statement to a PostgreSQL server that is up and lets us in without a password.
pub fn say(check: ReadyCheck<'_>, sql: &str, patience: Duration) -> io::Result<()> {
    let mut stream = UnixStream::connect(check.socket)?;
    stream.set_read_timeout(Some(patience))?;
    stream.write_all(&startup(check.user))?;
    answered(&mut stream)?;
    let mut query = vec![b'Q'];
    query.extend((sql.len() as u32 + 5).to_be_bytes());
    query.extend(sql.as_bytes());
    query.push(0);
    stream.write_all(&query)?;
    answered(&mut stream)?;
    stream.write_all(&[b'X', 0, 0, 0, 4])
}

/// Reads what the server answers until it is ready for more.
fn answered(stream: &mut UnixStream) -> io::Result<()> {
    /// Longer answers than these are not for what is asked here.
    const LONGEST: u32 = 1 << 16;
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let length = u32::from_be_bytes(length).checked_sub(4).filter(|length| *length <= LONGEST);
        let mut body = vec![0; length.ok_or(io::ErrorKind::InvalidData)? as usize];
        stream.read_exact(&mut body)?;
        match kind {
            b'E' => return Err(io::Error::other("the server refuses to set a password")),
            b'Z' => return Ok(()),
            _ => {}
        }
    }
}

/// PostgreSQL's first message: protocol 3.0 and who we are.
fn startup(user: &str) -> Vec<u8> {
    let mut body = 196_608u32.to_be_bytes().to_vec();
    for word in ["user", user, "database", "postgres"] {
        body.extend(word.as_bytes());
        body.push(0);
    }
    body.push(0);
    let mut message = (body.len() as u32 + 4).to_be_bytes().to_vec();
    message.extend(body);
    message
}

#[cfg(test)]
mod tests {
    use std::{os::unix::net::UnixListener, thread};

    use super::*;

    /// A socket whose answers to the first, second, .. visitor are given.
    fn opens(sign: ReadySign, answers: &'static [&'static [u8]]) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let visitors = thread::spawn(move || {
            for answer in answers {
                let (mut visitor, _) = listener.accept().unwrap();
                if sign == ReadySign::Login {
                    let mut length = [0; 4];
                    visitor.read_exact(&mut length).unwrap();
                    let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
                    visitor.read_exact(&mut rest).unwrap();
                    assert!(rest.ends_with(b"\0\0"));
                }
                let _ = visitor.write_all(answer);
            }
        });
        let mut tries = 0;
        let check = ReadyCheck { socket: &socket, sign, user: "me" };
        let open = wait_until_open(check, Duration::from_secs(20), &mut |_| {
            tries += 1;
            tries < answers.len()
        });
        visitors.join().unwrap();
        open
    }

    #[test]
    fn a_door_is_open_when_the_right_answer_comes() {
        assert!(opens(ReadySign::Greeting, &[b"", b"J"]));
        assert!(!opens(ReadySign::Greeting, &[b""]));
        assert!(opens(ReadySign::Login, &[b"", b"E57P03", b"R"]));
        assert!(!opens(ReadySign::Login, &[b"E57P03", b"E57P03"]));
    }
}
