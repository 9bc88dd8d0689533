//! One device: its context and queue, what it can hold, and its programs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use gramer_base::error::{Error, Result};
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::event::Event;
use opencl3::types::cl_mem;
use tracing::info;

use crate::Settings;
use crate::activity::Activity;
use crate::calls::Calls;
use crate::error::{failed, refused};
use crate::lanes::{self, Form, Lanes};
use crate::local::ClassShape;
use crate::memory::{Budget, Place};
use crate::platform::{Handle, is_pocl, pocl_lacks};
use crate::program::{Cache, Program};

/// Limits of a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Maximum of lanes in a work-group.
    pub group: usize,
    /// Bytes of local memory of a work-group.
    pub local: usize,
    /// Compute units.
    pub units: usize,
    /// Whether it is a CPU, which runs lanes one after another.
    pub portable: bool,
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Arg {
    Buffer(cl_mem),
    U32(u32),
    U64(u64),
    /// Bytes of local memory.
    Local(usize),
}

/// Counters of a device's work since it was opened.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub launches: AtomicU64,
    pub built: AtomicU64,
    pub cached: AtomicU64,
    /// Traversals that `wide` gave to warps without work.
    pub donations: AtomicU64,
    /// The last search by `wide`.
    pub activity: Mutex<Activity>,
}

/// Position in the command queue.
pub(crate) struct Mark(Event);

/// An opened device.
pub(crate) struct Device {
    pub limits: Limits,
    pub budget: Arc<Budget>,
    pub work: Work,
    pub queue: CommandQueue,
    /// Queue for transfers while kernels run; created on first use.
    copies: OnceLock<CommandQueue>,
    pub calls: Arc<Calls>,
    /// Classes of roots of `local`; none: its own.
    pub classes: Vec<ClassShape>,
    /// As [`Settings::pivots`](crate::Settings::pivots).
    pub pivots: Option<bool>,
    /// The form of lane operations: what was requested, what is offered, and what was chosen.
    lanes: (Option<Lanes>, Option<Lanes>),
    form: OnceLock<Form>,
    context: Context,
    /// Name in messages.
    label: String,
    is_pocl: bool,
    checked: bool,
    cache: Cache,
    programs: Mutex<HashMap<u64, Arc<Program>>>,
}

impl Device {
    pub fn open(handle: Handle, settings: &Settings) -> Result<Self> {
        let Handle { device, found } = handle;
        let label = format!("{} ({})", found.device, found.name);
        let context = Context::from_device(&device).map_err(refused(&label, "make a context"))?;
        // Without further properties kernels run in the order in which they were queued.
        let timed = settings.times || settings.profile.is_some();
        let properties = if timed { CL_QUEUE_PROFILING_ENABLE } else { 0 };
        // SAFETY: the device is the context's.
        let queue = unsafe { CommandQueue::create(&context, device.id(), properties) }
            .map_err(refused(&label, "make a queue"))?;
        let limits = Limits {
            group: device.max_work_group_size().unwrap_or(1),
            local: device.local_mem_size().unwrap_or(0) as usize,
            units: found.compute_units.max(1) as usize,
            portable: found.kind != "gpu",
        };
        // What the driver and other programs hold isn't known: a tenth is left to them.
        let limit = settings.memory.unwrap_or(found.memory / 10 * 9 / settings.sharing.max(1));
        info!(device = label, driver = found.driver, bytes = limit, "the device is opened");
        let version = device.version().unwrap_or_default();
        let identity = format!("{}\n{}\n{}\n{version}", found.platform, found.name, found.driver);
        let extensions = device.extensions().unwrap_or_default();
        let opened = Device {
            lanes: (settings.lanes, lanes::offered(&found, &extensions)),
            form: OnceLock::new(),
            limits,
            budget: Arc::new(Budget::new(limit)),
            work: Work::default(),
            queue,
            copies: OnceLock::new(),
            calls: Arc::new(Calls::new(settings.fault, timed)),
            classes: settings.classes.clone(),
            pivots: settings.pivots,
            context,
            label,
            is_pocl: is_pocl(&found.platform),
            checked: settings.checked,
            cache: Cache::new(settings.cache.clone(), identity),
            programs: Mutex::default(),
        };
        // Whatever the task: a device without what was requested is refused, and not only once that is used.
        if settings.lanes.is_some() {
            opened.form()?;
        }
        Ok(opened)
    }

    /// The form of lane operations, chosen on first use.
    ///
    /// # Errors
    /// As [`lanes::choose`].
    pub fn form(&self) -> Result<&Form> {
        if self.form.get().is_none() {
            let (asked, offered) = self.lanes;
            let _ = self.form.set(lanes::choose(self, asked, offered)?);
        }
        Ok(self.form.get().expect("it was set above"))
    }

    /// Returns the form if it has been determined.
    pub fn known_form(&self) -> Option<&Form> {
        self.form.get()
    }

    /// Note on the cache of programs, given once.
    pub fn cache_note(&self) -> Option<String> {
        self.cache.note()
    }

    /// Name in messages.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Whether kernels test their indices.
    pub fn is_checked(&self) -> bool {
        self.checked
    }

    /// Returns the place for new buffers of this device.
    pub fn place(&self) -> Place<'_> {
        let (context, queue) = (&self.context, &self.queue);
        let (budget, calls) = (&self.budget, &self.calls);
        Place { context, queue, budget, calls, device: &self.label, unordered: false }
    }

    /// Returns the place for buffers written through [`Device::copies`], without waiting for kernels.
    ///
    /// # Errors
    /// As [`Device::copies`].
    pub fn place_beside(&self) -> Result<Place<'_>> {
        Ok(Place { queue: self.copies()?, unordered: true, ..self.place() })
    }

    /// Lanes of a work-group: `wished`, or fewer (a power of two) where the device has fewer.
    pub fn lanes(&self, wished: usize) -> usize {
        let most = 1usize << self.limits.group.max(1).ilog2();
        wished.min(most)
    }

    /// The program of these sources, built or taken from the cache.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`] with the compiler's words.
    pub fn program(&self, name: &str, sources: &[&str]) -> Result<Arc<Program>> {
        let mut text = String::new();
        if self.checked {
            text.push_str("#define CHECKED\n");
        }
        sources.iter().for_each(|source| text.push_str(source));
        let key = self.cache.key(&text);
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&key) {
            return Ok(program.clone());
        }
        self.calls.next().map_err(refused(&self.label, &format!("build the program {name}")))?;
        let begun = Instant::now();
        let made = Program::make(&self.context, &self.label, name, &text, key, &self.cache);
        let (program, cached) = made.map_err(|error| match (error, self.is_pocl) {
            (Error::Device(what), true) => {
                let reason = pocl_lacks().map(|reason| format!("; {reason}"));
                Error::Device(what + &reason.unwrap_or_default())
            }
            (error, _) => error,
        })?;
        let seconds = begun.elapsed().as_secs_f64();
        info!(name, cached, seconds, "a program is built or taken from the cache");
        let counter = if cached { &self.work.cached } else { &self.work.built };
        counter.fetch_add(1, Ordering::Relaxed);
        let program = Arc::new(program);
        programs.insert(key, program.clone());
        Ok(program)
    }

    /// The compiler's messages on these sources, if it refuses them.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn refusal(&self, sources: &[&str]) -> Result<Option<String>> {
        Program::refusal(&self.context, &self.label, &sources.concat())
    }

    /// Queues a kernel: `groups` work-groups of `lanes` lanes.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn launch(
        &self,
        program: &Program,
        kernel: &str,
        args: &[Arg],
        groups: usize,
        lanes: usize,
    ) -> Result<()> {
        if groups == 0 {
            return Ok(());
        }
        let fail = |code| failed(&self.label, &format!("run the kernel {kernel}"), code);
        self.calls.next().map_err(|e| fail(e.0))?;
        let held = program.kernel(kernel).lock().unwrap_or_else(PoisonError::into_inner);
        for (at, arg) in args.iter().enumerate() {
            // SAFETY: the kernel takes arguments of these types in this order (its source is in
            // this crate); OpenCL refuses an argument of another size here, and a missing one below.
            // It keeps a buffer that is released until the commands that use it have ended.
            unsafe {
                match arg {
                    Arg::Buffer(buffer) => held.set_arg(at as u32, buffer),
                    Arg::U32(value) => held.set_arg(at as u32, value),
                    Arg::U64(value) => held.set_arg(at as u32, value),
                    Arg::Local(bytes) => held.set_arg_local_buffer(at as u32, *bytes),
                }
            }
            .map_err(|e| fail(e.0))?;
        }
        // SAFETY: the kernel is locked, the sizes are arrays of the given dimension, and no event is waited for.
        let event = unsafe {
            opencl3::command_queue::enqueue_nd_range_kernel(
                self.queue.get(),
                held.get(),
                1,
                std::ptr::null(),
                [groups * lanes].as_ptr(),
                [lanes].as_ptr(),
                0,
                std::ptr::null(),
            )
        }
        .map_err(fail)?;
        self.calls.queued(kernel, Event::new(event));
        self.work.launches.fetch_add(1, Ordering::Relaxed);
        if self.checked {
            // A kernel that loses the device is named.
            self.queue.finish().map_err(|e| fail(e.0))?;
        }
        Ok(())
    }

    /// The queued commands.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn mark(&self) -> Result<Mark> {
        // SAFETY: the list of events to wait for is empty.
        let marked = self.calls.next().and_then(|()| unsafe {
            let event = self.queue.enqueue_marker_with_wait_list(&[])?;
            self.queue.flush()?;
            Ok(event)
        });
        marked.map(Mark).map_err(refused(&self.label, "mark its work"))
    }

    /// Waits until what was marked is done.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn wait(&self, mark: &Mark) -> Result<()> {
        let done = self.calls.next().and_then(|()| mark.0.wait());
        done.map_err(refused(&self.label, "finish its work"))
    }

    /// A queue for reads while kernels run, independent of the other queue.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn copies(&self) -> Result<&CommandQueue> {
        if self.copies.get().is_none() {
            let properties = if self.calls.profiled() { CL_QUEUE_PROFILING_ENABLE } else { 0 };
            let made = self.calls.next().and_then(|()| {
                // SAFETY: the device is the context's.
                unsafe {
                    CommandQueue::create(&self.context, self.context.default_device(), properties)
                }
            });
            let _ = self.copies.set(made.map_err(refused(&self.label, "make a queue"))?);
        }
        Ok(self.copies.get().expect("it was set above"))
    }

    /// Waits for all queued commands.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn finish(&self) -> Result<()> {
        let done = self.calls.next().and_then(|()| self.queue.finish());
        done.map_err(refused(&self.label, "finish its work"))
    }
}
