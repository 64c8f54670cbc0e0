//! Where a worker and its server run: on one CPU together, and with real-time priority where that is allowed.
//!
//! Client and server on one CPU make a round trip of 12 us instead of 55. With the server above the client in
//! real-time priority, woken sessions run in wake order and nothing preempts them, so replays agree. Real-time
//! threads starve everybody else on their CPU: it is used only if another CPU stays free.

use crate::os;

/// What is wished for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Pin worker and server to one CPU.
    pub pin: bool,
    /// Use real-time priority, if permitted.
    pub realtime: bool,
    /// On this CPU; none means the last one.
    pub cpu: Option<usize>,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// The CPU that both are pinned to.
    pub cpu: Option<usize>,
    /// Do both have real-time priority?
    pub realtime: bool,
    /// What is missing and what that costs, to be said once.
    pub note: Option<String>,
}

const SERVER: i32 = 10;
const CLIENT: i32 = 5;

/// Puts the calling thread and the server's threads in their place. The server must have come up already:
/// MySQL started under real-time priority never does.
pub fn place(wish: Placement, server: Option<u32>) -> Placed {
    let mut placed = Placed::default();
    let (Some(pid), true) = (server, wish.pin) else { return placed };
    let cpus = os::cpus();
    if cpus.len() < 2 {
        placed.note =
            Some("one CPU only: no pinning and no real-time priority; replays may differ more".into());
        return placed;
    }
    let cpu = wish.cpu.filter(|cpu| cpus.contains(cpu)).unwrap_or(cpus[cpus.len() - 1]);
    let threads = os::family(pid);
    if !threads.iter().all(|&tid| os::pin_thread(tid, &[cpu]) || gone(tid)) || !os::pin_thread(0, &[cpu]) {
        placed.note =
            Some("no right to pin the server to a CPU: statements take about four times as long".into());
        return placed;
    }
    placed.cpu = Some(cpu);
    if wish.realtime {
        placed.realtime = os::set_realtime(0, Some(CLIENT))
            && os::family(pid).iter().all(|&tid| os::set_realtime(tid, Some(SERVER)) || gone(tid));
        if !placed.realtime {
            // Some may have got it before one did not.
            os::family(pid).into_iter().chain([0]).for_each(|tid| {
                os::set_realtime(tid, None);
            });
            placed.note = Some(
                "no right to real-time priority (root or CAP_SYS_NICE): where several sessions wake together, replays may differ"
                    .into(),
            );
        }
    }
    if !placed.realtime {
        // An answer wakes the worker; the server's thread first ends what it is at, as it does under real-time priority, and is
        // asleep by the time that somebody looks.
        os::give_way();
    }
    placed
}

/// Gives the calling thread back its freedom, so that what it starts next does not inherit the place.
pub fn release(before: &[usize]) {
    os::set_realtime(0, None);
    os::pin_thread(0, before);
}

/// A thread may end between being listed and being placed.
fn gone(tid: u32) -> bool {
    !std::path::Path::new(&format!("/proc/{tid}")).exists()
}
