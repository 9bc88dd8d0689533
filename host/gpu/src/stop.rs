//! How a cancellation reaches running kernels.
//!
//! The host waits for kernels in calls of the driver, which return when the kernels have ended. So kernels whose
//! launches the host can't bound look at a word, the one behind the error word (`stopped` in `common.clh`), and end
//! once it is set. What they have counted by then is a lower bound. A thread of the process looks at the stop flags of
//! all runs and sets the word; a run that continues is reported to [`when_late`].

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use gramer_base::context::Cancel;
use gramer_base::error::Result;
use opencl3::command_queue::{CommandQueue, enqueue_map_buffer, enqueue_write_buffer, flush};
use opencl3::memory::{CL_MAP_READ, CL_MAP_WRITE};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING};

use crate::device::Device;
use crate::error::failed;
use crate::memory::Buffer;

/// How often the stop flags of runs are looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Maximum delay of a run after its cancellation.
const LATE: Duration = Duration::from_millis(700);
/// Value of the stop word.
static SET: u32 = 1;

/// The error word of checked kernels, and behind it the word that ends kernels.
pub(crate) struct Words(Arc<Flag>);

/// Both words, for the run and for the thread that looks at stop flags.
struct Flag {
    device: Arc<Device>,
    buffer: Buffer<u32>,
    /// The second word, if the host's CPU runs the kernels: its driver executes no other command concurrently, so the
    /// host writes to their memory directly. It lies in `buffer`, and no copy of the reference leaves this structure.
    shared: Option<&'static AtomicU32>,
    raised: AtomicBool,
}

impl Words {
    /// Both words, 0.
    ///
    /// # Errors
    /// As [`Buffer::new`].
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let place = device.place();
        let portable = device.limits.portable;
        let mut buffer = match portable {
            true => Buffer::on_host(&place, 2, "the error word")?,
            false => Buffer::new(&place, 2, "the error word")?,
        };
        buffer.write(&device.queue, &[0, 0])?;
        let shared = if portable { Some(mapped(device, &buffer)?) } else { None };
        let (device, raised) = (device.clone(), AtomicBool::new(false));
        Ok(Words(Arc::new(Flag { device, buffer, shared, raised })))
    }

    /// The buffer, as kernels take it.
    pub fn buffer(&self) -> &Buffer<u32> {
        &self.0.buffer
    }

    /// Whether kernels may have ended before their work was done.
    pub fn were_raised(&self) -> bool {
        self.0.raised.load(Ordering::Acquire)
    }

    /// Clears the stop word.
    fn lower(&self) -> Result<()> {
        if !self.were_raised() {
            return Ok(());
        }
        let device = &self.0.device;
        // Kernels of the stopped run end by the word.
        device.finish()?;
        match self.0.shared {
            Some(word) => word.store(0, Ordering::Release),
            None => self.0.put(&device.queue, &0)?,
        }
        device.finish()?;
        self.0.raised.store(false, Ordering::Release);
        Ok(())
    }
}

/// The second word of a buffer where the host writes it.
fn mapped(device: &Device, buffer: &Buffer<u32>) -> Result<&'static AtomicU32> {
    let mut at = std::ptr::null_mut();
    let (flags, bytes) = (CL_MAP_READ | CL_MAP_WRITE, 2 * size_of::<u32>());
    // SAFETY: both handles are live, the buffer has two words, and the call returns when the address was written.
    let made = unsafe {
        let (queue, buffer) = (device.queue.get(), buffer.raw());
        enqueue_map_buffer(
            queue,
            buffer,
            CL_BLOCKING,
            flags,
            0,
            bytes,
            &mut at,
            0,
            std::ptr::null(),
        )
    };
    let event = made.map_err(|code| failed(device.label(), "map the error word", code))?;
    drop(opencl3::event::Event::new(event));
    // SAFETY: the driver maps both words, aligned as OpenCL's largest type, until the buffer is freed. The reference
    // belongs to the `Flag` that owns the buffer. Kernels only read the word, and the host writes it atomically.
    Ok(unsafe { &*at.cast::<AtomicU32>().add(1) })
}

impl Flag {
    fn raise(&self) {
        // Kernels see the word after this: who reads their sums knows that they may be too small.
        self.raised.store(true, Ordering::Release);
        match self.shared {
            Some(word) => word.store(SET, Ordering::Release),
            // Where it can't be written kernels run to their end, as they do on a device without a second queue.
            None => drop(self.device.copies().and_then(|queue| self.put(queue, &SET))),
        }
    }

    /// Queues a write of the word.
    fn put(&self, queue: &CommandQueue, value: &'static u32) -> Result<()> {
        // SAFETY: both handles are live, the value lives as long as the process, and the buffer has two words.
        let put = unsafe {
            let (at, bytes) = (size_of::<u32>(), size_of::<u32>());
            let value = std::ptr::from_ref(value).cast();
            let queue = queue.get();
            enqueue_write_buffer(
                queue,
                self.buffer.raw(),
                CL_NON_BLOCKING,
                at,
                bytes,
                value,
                0,
                std::ptr::null(),
            )
            .and_then(|event| flush(queue).map(|()| event))
        };
        let event = put.map_err(|code| failed(self.device.label(), "stop its kernels", code))?;
        drop(opencl3::event::Event::new(event));
        Ok(())
    }
}

/// A run whose stop flag is looked at until this is dropped.
pub(crate) struct RunGuard(u64);

struct OpenRun {
    number: u64,
    cancel: Cancel,
    flag: Option<Arc<Flag>>,
    asked: Option<Instant>,
}

#[derive(Default)]
struct Runs {
    begun: u64,
    open: Vec<OpenRun>,
    /// The thread waits for a run.
    idle: bool,
}

static RUNS: Mutex<Runs> = Mutex::new(Runs { begun: 0, open: vec![], idle: false });
static BEGUN: Condvar = Condvar::new();
static LATE_RUNS: OnceLock<fn()> = OnceLock::new();

/// Calls `call` if a run continues for most of a second after a stop: its kernels don't check the word, or the driver does
/// not answer. For programs that would rather end than wait.
pub fn when_late(call: fn()) {
    let _ = LATE_RUNS.set(call);
}

fn runs() -> MutexGuard<'static, Runs> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunGuard {
    /// Watches over a run; its kernels hear of a stop by `words`.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn begin(cancel: &Cancel, words: Option<&Words>) -> Result<Self> {
        static THREAD: Once = Once::new();
        words.map_or(Ok(()), Words::lower)?;
        // Without the thread kernels run to their end.
        THREAD.call_once(|| drop(std::thread::Builder::new().name("stop".into()).spawn(look)));
        let mut runs = runs();
        runs.begun += 1;
        let (number, flag) = (runs.begun, words.map(|words| words.0.clone()));
        runs.open.push(OpenRun { number, cancel: cancel.clone(), flag, asked: None });
        if std::mem::take(&mut runs.idle) {
            BEGUN.notify_one();
        }
        Ok(RunGuard(number))
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        runs().open.retain(|run| run.number != self.0);
    }
}

/// Polls the stop flags of all runs.
fn look() {
    let mut runs = runs();
    loop {
        if runs.open.is_empty() {
            runs.idle = true;
            runs = BEGUN.wait(runs).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let mut late = false;
        for run in &mut runs.open {
            match run.asked {
                Some(asked) => late |= asked.elapsed() > LATE,
                None if run.cancel.is_cancelled() => {
                    run.asked = Some(Instant::now());
                    // With the runs locked: the run isn't over, and the next one doesn't find its own word raised.
                    run.flag.iter().for_each(|flag| flag.raise());
                }
                None => {}
            }
        }
        if late && let Some(call) = LATE_RUNS.get() {
            call();
        }
        runs = BEGUN.wait_timeout(runs, LOOK).unwrap_or_else(PoisonError::into_inner).0;
    }
}
