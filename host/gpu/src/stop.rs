//! How a wish to stop reaches kernels that run.
//!
//! The host waits for kernels in calls of the driver, which return when the kernels have ended. So kernels whose
//! launches the host can't bound look at a word, the one behind the error word (`stopped` in `common.clh`), and end
//! once it is set. What they have counted by then is a lower bound. A thread of the process looks at the stop flags of
//! all runs and sets the word; a run that goes on all the same is told to [`when_late`].

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use gramer_graph::context::Cancel;
use gramer_graph::error::Result;
use opencl3::command_queue::{CommandQueue, enqueue_map_buffer, enqueue_write_buffer, flush};
use opencl3::memory::{CL_MAP_READ, CL_MAP_WRITE};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_mem};

use crate::device::Device;
use crate::error::failed;
use crate::memory::Buffer;

/// How often the stop flags of runs are looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long a run may go on after it was asked to stop before it is late.
const LATE: Duration = Duration::from_millis(700);
/// What kernels find in the word.
static SET: u32 = 1;

/// The error word of checked kernels, and behind it the word that ends kernels.
pub(crate) struct Words {
    buffer: Buffer<u32>,
    flag: Arc<Flag>,
}

/// The word that ends kernels.
struct Flag {
    device: Arc<Device>,
    buffer: Handle,
    /// The word where the host's processor runs the kernels: its driver runs nothing else beside them, so the
    /// host writes where they read.
    shared: Option<&'static AtomicU32>,
    raised: AtomicBool,
}

/// A buffer for the thread that looks at stop flags.
struct Handle(cl_mem);

// SAFETY: OpenCL's objects may be used by any thread of the process.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

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
        let (handle, raised) = (Handle(buffer.raw()), AtomicBool::new(false));
        let flag = Arc::new(Flag { device: device.clone(), buffer: handle, shared, raised });
        Ok(Words { buffer, flag })
    }

    /// The buffer, as kernels take it.
    pub fn buffer(&self) -> &Buffer<u32> {
        &self.buffer
    }

    /// Whether kernels may have ended before their work was done.
    pub fn were_raised(&self) -> bool {
        self.flag.raised.load(Ordering::Acquire)
    }

    /// Lets kernels run again.
    fn lower(&self) -> Result<()> {
        if !self.were_raised() {
            return Ok(());
        }
        let device = &self.flag.device;
        // Kernels of the stopped run end by the word.
        device.finish()?;
        match self.flag.shared {
            Some(word) => word.store(0, Ordering::Release),
            None => self.flag.put(&device.queue, &0)?,
        }
        device.finish()?;
        self.flag.raised.store(false, Ordering::Release);
        Ok(())
    }
}

/// The second word of a buffer where the host writes it.
fn mapped(device: &Device, buffer: &Buffer<u32>) -> Result<&'static AtomicU32> {
    let mut at = std::ptr::null_mut();
    let (flags, bytes) = (CL_MAP_READ | CL_MAP_WRITE, 2 * size_of::<u32>());
    // SAFETY: the buffer has two words; the call returns when the address was written.
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
    // SAFETY: both words are there as long as the buffer, and nobody uses the reference longer: it belongs to a
    // `Flag`, which is raised while a run watches it and lowered by its `Words`.
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
        // SAFETY: the value lives as long as the process, and the buffer has two words.
        let put = unsafe {
            let (at, bytes) = (size_of::<u32>(), size_of::<u32>());
            let value = std::ptr::from_ref(value).cast();
            let queue = queue.get();
            enqueue_write_buffer(
                queue,
                self.buffer.0,
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
pub(crate) struct Watched(u64);

struct Run {
    number: u64,
    cancel: Cancel,
    flag: Option<Arc<Flag>>,
    asked: Option<Instant>,
}

#[derive(Default)]
struct Runs {
    begun: u64,
    open: Vec<Run>,
    /// The thread waits for a run.
    idle: bool,
}

static RUNS: Mutex<Runs> = Mutex::new(Runs { begun: 0, open: vec![], idle: false });
static BEGUN: Condvar = Condvar::new();
static LATE_RUNS: OnceLock<fn()> = OnceLock::new();

/// Has `call` called where a run goes on for most of a second after it was asked to stop: its kernels don't look at the
/// word, or the driver doesn't answer. For a program that would rather end than wait.
pub fn when_late(call: fn()) {
    let _ = LATE_RUNS.set(call);
}

fn runs() -> MutexGuard<'static, Runs> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched {
    /// Watches over a run; its kernels hear of a stop by `words`.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Device`].
    pub fn begin(cancel: &Cancel, words: Option<&Words>) -> Result<Self> {
        static THREAD: Once = Once::new();
        words.map_or(Ok(()), Words::lower)?;
        // Without the thread kernels run to their end.
        THREAD.call_once(|| drop(std::thread::Builder::new().name("stop".into()).spawn(look)));
        let mut runs = runs();
        runs.begun += 1;
        let (number, flag) = (runs.begun, words.map(|words| words.flag.clone()));
        runs.open.push(Run { number, cancel: cancel.clone(), flag, asked: None });
        if std::mem::take(&mut runs.idle) {
            BEGUN.notify_one();
        }
        Ok(Watched(number))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        runs().open.retain(|run| run.number != self.0);
    }
}

/// Looks at the stop flags of all runs.
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
                    // With the runs locked: the run, and its buffer with it, ends afterwards.
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
