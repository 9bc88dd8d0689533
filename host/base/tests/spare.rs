//! Allocations in a process whose memory is limited, and which must not end.
#![cfg(target_os = "linux")]

use gramer_base::memory::trying;
use gramer_base::spare::{SpareAllocator, is_short, keep};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[global_allocator]
static ALLOCATOR: SpareAllocator = SpareAllocator;

/// Address space of this process.
fn used() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    // SAFETY: the call only asks.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64
}

/// The only test here: the limit is that of the process.
#[test]
fn small_allocations_go_on_until_the_caller_looks() {
    assert!(keep(0).is_ok() && !is_short(), "no limit, no room");
    let before = getrlimit(Resource::As);
    let limit = |more: u64| {
        let current = Some(used() + more);
        setrlimit(Resource::As, Rlimit { current, ..before }).unwrap();
    };
    limit(32 << 20);
    let said = keep(0).unwrap_err().to_string();
    assert!(said.contains("not enough memory: 64 MiB were refused"), "{said}");
    limit(160 << 20);
    keep(0).unwrap();
    let mut held: Vec<Box<[u8]>> = vec![];
    let mut after = 0;
    // As work does that looks at a flag now and then.
    while after < 200 {
        held.push(vec![1; 100 << 10].into());
        after += usize::from(is_short());
    }
    assert!(held.len() * (100 << 10) > 96 << 20, "{}", held.len());
    // An array that may be refused is no reason to give up room.
    drop(held);
    keep(0).unwrap();
    assert!(trying(|| Vec::<u8>::new().try_reserve_exact(1 << 30)).is_err() && !is_short());
    // A large one that must not be refused has the room that is kept for it.
    limit(110 << 20);
    keep(100 << 20).unwrap();
    let large = vec![1u8; 90 << 20];
    assert!(is_short() && large[large.len() - 1] == 1);
}
