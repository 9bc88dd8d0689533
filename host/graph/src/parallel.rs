//! Work on a few threads of our own. Reading a graph on one thread must start no other.

/// Runs `work` with 0..threads and returns the results in that order. One thread is the caller.
pub(super) fn on_threads<R: Send>(threads: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    for_parts((0..threads.max(1)).collect(), work)
}

/// Runs `work` on each part, each on a thread of its own (the last one on the caller's), and
/// returns the results in order.
pub(super) fn for_parts<P: Send, R: Send>(
    mut parts: Vec<P>,
    work: impl Fn(P) -> R + Sync,
) -> Vec<R> {
    let Some(last) = parts.pop() else { return Vec::new() };
    let work = &work;
    std::thread::scope(|scope| {
        let handles: Vec<_> =
            parts.into_iter().map(|part| scope.spawn(move || work(part))).collect();
        let last = work(last);
        let mut results: Vec<R> = handles
            .into_iter()
            .map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        results.push(last);
        results
    })
}
