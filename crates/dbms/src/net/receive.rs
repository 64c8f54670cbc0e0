//! Taking an answer off a socket that never blocks: the same for every protocol, which only has to say what bytes make a
//! message, and what messages an answer.

use std::io::{self, Read};

use execute::WireReply;

/// What reading from the socket gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketRead {
    /// Bytes, and all that were there.
    Drained,
    /// Bytes, and perhaps there are more.
    More,
    /// None at this moment.
    Nothing,
    /// The other side has closed, or the connection broke.
    Closed,
}

/// Reads once from a stream that does not block. Also says how many bytes came.
pub fn read(stream: &mut dyn Read, room: &mut [u8]) -> (SocketRead, usize) {
    loop {
        return match stream.read(room) {
            Ok(0) => (SocketRead::Closed, 0),
            Ok(count) if count < room.len() => (SocketRead::Drained, count),
            Ok(count) => (SocketRead::More, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => (SocketRead::Nothing, 0),
            Err(_) => (SocketRead::Closed, 0),
        };
    }
}

/// A connection that answers statements.
pub trait Receiver {
    /// What is wrong with bytes that make no sense.
    type Malformed;

    /// Reads once.
    fn fill(&mut self) -> SocketRead;
    /// Gives the answer if what is here completes it.
    fn assemble(&mut self) -> Result<Option<WireReply>, Self::Malformed>;
    /// Is an answer awaited?
    fn outstanding(&self) -> bool;
    /// Was an answer given up that may still come?
    fn abandoned(&self) -> bool;
    /// Will nothing more come of it than what is here already?
    fn broken(&self) -> bool;
    /// The answer of a connection that is gone. It is broken from here on.
    fn lost(&mut self) -> WireReply;
    /// The answer where the bytes make no sense. It is broken from here on.
    fn malformed(&mut self, what: Self::Malformed) -> WireReply;
}

/// So often is read at a time. A server that sends faster than we read must not keep us from looking at the clock.
const READS: usize = 64;

/// Takes what has come, or as much of it as is taken at a time; gives the answer once it is complete.
pub fn receive(from: &mut impl Receiver) -> Option<WireReply> {
    if !from.outstanding() {
        return None;
    }
    if from.abandoned() {
        return Some(from.lost()); // What is there to read answers something else.
    }
    for _ in 0..READS {
        let filled = from.fill();
        if filled == SocketRead::Nothing {
            return from.broken().then(|| from.lost());
        }
        match from.assemble() {
            Ok(Some(answer)) => return Some(answer),
            // A server that ends a session says why first; that would have been the answer.
            Ok(None) if filled == SocketRead::Closed => return Some(from.lost()),
            Ok(None) if filled == SocketRead::Drained && !from.broken() => return None,
            Ok(None) => {}
            Err(malformed) => return Some(from.malformed(malformed)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use execute::RawReply;
    use model::Open;

    use super::*;

    /// A statement whose answer is complete with the byte `!`; `?` makes no sense.
    struct Script {
        fills: Vec<(SocketRead, &'static str)>,
        here: String,
        broken: bool,
    }

    fn answer(affected: u64) -> WireReply {
        WireReply { reply: RawReply::Done { affected, matched: None }, warnings: 0, transaction: Open::No }
    }

    impl Receiver for Script {
        type Malformed = ();

        fn fill(&mut self) -> SocketRead {
            let (fill, text) = self.fills.remove(0);
            self.here += text;
            fill
        }

        fn assemble(&mut self) -> Result<Option<WireReply>, ()> {
            if self.here.contains('?') { Err(()) } else { Ok(self.here.contains('!').then(|| answer(1))) }
        }

        fn outstanding(&self) -> bool {
            true
        }

        fn abandoned(&self) -> bool {
            false
        }

        fn broken(&self) -> bool {
            self.broken
        }

        fn lost(&mut self) -> WireReply {
            answer(2)
        }

        fn malformed(&mut self, (): ()) -> WireReply {
            answer(3)
        }
    }

    #[test]
    fn an_answer_comes_when_it_is_complete_and_the_end_only_after_it() {
        use SocketRead::{Closed, Drained, More, Nothing};
        let receive = |broken, fills: &[(SocketRead, &'static str)]| {
            let mut script = Script { fills: fills.to_vec(), here: String::new(), broken };
            let answer = receive(&mut script).map(|answer| answer.reply);
            assert!(script.fills.is_empty(), "it stops before the end");
            answer.map(|reply| match reply {
                RawReply::Done { affected, .. } => affected,
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(receive(false, &[(Nothing, "")]), None);
        assert_eq!(receive(false, &[(Drained, "a")]), None);
        assert_eq!(receive(false, &[(More, "a"), (Drained, "!")]), Some(1));
        assert_eq!(receive(false, &[(More, "!")]), Some(1), "what is behind an answer stays there");
        assert_eq!(receive(false, &[(More, "a"), (Closed, "")]), Some(2));
        assert_eq!(receive(false, &[(Closed, "!")]), Some(1), "the last words");
        assert_eq!(receive(true, &[(Drained, "a"), (Nothing, "")]), Some(2));
        assert_eq!(
            receive(true, &[(Drained, "a"), (Drained, "!")]),
            Some(1),
            "written in vain, but answered"
        );
        assert_eq!(receive(false, &[(Drained, "?")]), Some(3));
        assert_eq!(receive(false, &[(More, "a"); READS]), None, "it must not go on for ever");
    }
}
