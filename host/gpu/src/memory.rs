//! Device memory: the budget, and typed buffers that count against it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::Pod;
use gramer_base::error::{Error, Result};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context as ClContext;
use opencl3::memory::{Buffer as ClBuffer, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, ClMem};
use opencl3::types::{CL_BLOCKING, cl_mem, cl_mem_flags};

use crate::calls::{CLEAR, Calls, READ, WRITE};
use crate::error::{failed, refused};

/// The bytes of the device that may be used, and those that are.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
    /// Bytes transferred to and from the device since the last call.
    written: AtomicU64,
    read: AtomicU64,
    /// The last refusal.
    refused: Mutex<Option<Refusal>>,
}

/// A buffer that the budget has no room for.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    /// Purpose.
    what: String,
    /// Largest number of bytes in use.
    together: u64,
    limit: u64,
}

impl Refusal {
    /// The refusal as an error, where the whole task takes this many bytes.
    pub fn error(&self, task: u64) -> Error {
        Error::Unsupported(format!(
            "the GPU has no room for {}: {} bytes may be used; give the setting `memory` at least \
             {}K, or use the engine `cpu`",
            self.what,
            self.limit,
            task.max(self.together).div_ceil(1024)
        ))
    }
}

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: u64) -> Self {
        let zero = || AtomicU64::new(0);
        let refused = Mutex::default();
        Budget { limit, used: zero(), peak: zero(), written: zero(), read: zero(), refused }
    }

    /// Bytes in all.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes that are free.
    pub fn free(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Peak of bytes in use.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// Bytes that went over the bus to the device and back since this was last asked: a graph counts for
    /// the first task on it.
    pub fn moved(&self) -> (u64, u64) {
        (self.written.swap(0, Ordering::Relaxed), self.read.swap(0, Ordering::Relaxed))
    }

    fn take(&self, bytes: u64, what: &str) -> Result<()> {
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|&sum| sum <= self.limit)
        });
        match taken {
            Ok(before) => {
                self.peak.fetch_max(before + bytes, Ordering::Relaxed);
                Ok(())
            }
            Err(used) => {
                let together = used.saturating_add(bytes);
                let refusal = Refusal { what: what.into(), together, limit: self.limit };
                let error = refusal.error(0);
                *self.refused() = Some(refusal);
                Err(error)
            }
        }
    }

    fn refused(&self) -> MutexGuard<'_, Option<Refusal>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last refusal since this was last asked.
    pub(crate) fn take_refusal(&self) -> Option<Refusal> {
        self.refused().take()
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Elements in device memory.
pub(crate) struct Buffer<T: Pod> {
    inner: ClBuffer<T>,
    len: usize,
    bytes: u64,
    budget: Arc<Budget>,
    calls: Arc<Calls>,
    device: String,
}

/// Bytes of a buffer that are filled: a driver (NVIDIA 580.159.04) loses its device where it fills behind 2^31 words.
const MOST_FILLED: usize = 1 << 32;

/// Context, queue and budget of new buffers.
pub(crate) struct Place<'a> {
    pub context: &'a ClContext,
    pub queue: &'a CommandQueue,
    pub budget: &'a Arc<Budget>,
    pub calls: &'a Arc<Calls>,
    pub device: &'a str,
    /// True if kernels do not wait for the commands of this queue.
    pub unordered: bool,
}

impl Place<'_> {
    /// Waits until writes to a buffer have reached the device, unless kernels wait for the queue anyway. (A blocking write
    /// returns as soon as the host's memory may be reused.)
    fn settle(&self, action: &str) -> Result<()> {
        if !self.unordered {
            return Ok(());
        }
        let done = self.calls.next().and_then(|()| self.queue.finish());
        done.map_err(refused(self.device, action))
    }
}

impl<T: Pod> Buffer<T> {
    /// Room for `len` elements (at least one), called `what` in messages. Their values are unknown.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the budget is too small, [`Error::Device`] where the device has
    /// none, though the budget does.
    pub fn new(place: &Place<'_>, len: usize, what: &str) -> Result<Self> {
        Self::with_flags(place, len, what, CL_MEM_READ_WRITE)
    }

    /// Allocates a buffer in memory shared with the host, for kernels that run on its CPU.
    ///
    /// # Errors
    /// As [`Buffer::new`].
    pub fn on_host(place: &Place<'_>, len: usize, what: &str) -> Result<Self> {
        Self::with_flags(place, len, what, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR)
    }

    fn with_flags(place: &Place<'_>, len: usize, what: &str, flags: cl_mem_flags) -> Result<Self> {
        let len = len.max(1);
        let bytes = (len * size_of::<T>()) as u64;
        place.budget.take(bytes, what)?;
        let reserve = format!("reserve {bytes} bytes for {what}");
        // SAFETY: the host pointer is null, so that the driver allocates the buffer itself.
        let made = place.calls.next().and_then(|()| unsafe {
            ClBuffer::<T>::create(place.context, flags, len, std::ptr::null_mut())
        });
        let inner = made.map_err(|e| {
            place.budget.give_back(bytes);
            failed(place.device, &reserve, e.0)
        })?;
        let (budget, device) = (place.budget.clone(), place.device.to_string());
        let calls = place.calls.clone();
        let mut buffer = Buffer { inner, len, bytes, budget, calls, device };
        // Drivers refuse what is too much only when it is first used, and then as a whole.
        const TOUCH: u64 = 1 << 20;
        if bytes > MOST_FILLED as u64 {
            let last = (len - 1) * size_of::<T>();
            // SAFETY: the call returns when the element was read, and it is the buffer's last one.
            let written = place.calls.next().and_then(|()| unsafe {
                let place = (place.queue, &mut buffer.inner);
                place.0.enqueue_write_buffer(place.1, CL_BLOCKING, last, &[T::zeroed()], &[])
            });
            written.map_err(refused(place.device, &reserve))?;
            place.settle(&reserve)?;
        } else if bytes > TOUCH {
            buffer.zero(place.queue)?;
            place.queue.finish().map_err(refused(place.device, &reserve))?;
        }
        Ok(buffer)
    }

    /// Copies `items` to the device. Kernels queued after this call see the whole copy.
    ///
    /// # Errors
    /// As [`Buffer::new`].
    pub fn of(place: &Place<'_>, items: &[T], what: &str) -> Result<Self> {
        let mut buffer = Buffer::new(place, items.len(), what)?;
        if !items.is_empty() {
            buffer.write(place.queue, items)?;
            place.settle("write to its memory")?;
        }
        Ok(buffer)
    }

    /// Writes `items` to the front, and waits until that is done.
    pub fn write(&mut self, queue: &CommandQueue, items: &[T]) -> Result<()> {
        assert!(items.len() <= self.len);
        self.budget.written.fetch_add(size_of_val(items) as u64, Ordering::Relaxed);
        // SAFETY: the call returns when `items` were read, and there is room for them.
        let written = self.calls.next().and_then(|()| unsafe {
            queue.enqueue_write_buffer(&mut self.inner, CL_BLOCKING, 0, items, &[])
        });
        let event = written.map_err(refused(&self.device, "write to its memory"))?;
        self.calls.queued(WRITE, event);
        Ok(())
    }

    /// Reads the first elements once all before in the queue is done.
    pub fn read(&self, queue: &CommandQueue, items: &mut [T]) -> Result<()> {
        assert!(items.len() <= self.len);
        self.budget.read.fetch_add(size_of_val(items) as u64, Ordering::Relaxed);
        // SAFETY: the call returns when `items` were written, and the buffer has as many.
        let read = self.calls.next().and_then(|()| unsafe {
            queue.enqueue_read_buffer(&self.inner, CL_BLOCKING, 0, items, &[])
        });
        let event = read.map_err(refused(&self.device, "read from its memory"))?;
        self.calls.queued(READ, event);
        Ok(())
    }

    /// Writes `items` from the element `at` on, and waits until that is done.
    pub fn write_at(&mut self, queue: &CommandQueue, at: usize, items: &[T]) -> Result<()> {
        assert!(at + items.len() <= self.len);
        if items.is_empty() {
            return Ok(());
        }
        let offset = at * size_of::<T>();
        // SAFETY: the call returns when `items` were read, and there is room for them.
        let written = self.calls.next().and_then(|()| unsafe {
            queue.enqueue_write_buffer(&mut self.inner, CL_BLOCKING, offset, items, &[])
        });
        let event = written.map_err(refused(&self.device, "write to its memory"))?;
        self.calls.queued(WRITE, event);
        Ok(())
    }

    /// Reads elements from the element `at` on once all before in the queue is done.
    pub fn read_at(&self, queue: &CommandQueue, at: usize, items: &mut [T]) -> Result<()> {
        assert!(at + items.len() <= self.len);
        if items.is_empty() {
            return Ok(());
        }
        let offset = at * size_of::<T>();
        // SAFETY: the call returns when `items` were written, and the buffer has as many.
        let read = self.calls.next().and_then(|()| unsafe {
            queue.enqueue_read_buffer(&self.inner, CL_BLOCKING, offset, items, &[])
        });
        let event = read.map_err(refused(&self.device, "read from its memory"))?;
        self.calls.queued(READ, event);
        Ok(())
    }

    /// Sets all bytes to 0.
    pub fn zero(&self, queue: &CommandQueue) -> Result<()> {
        const WORD: usize = size_of::<u32>();
        /// Bytes that are written at a time where nothing is filled.
        const PART: usize = 1 << 28;
        assert_eq!(self.bytes as usize % WORD, 0, "elements are words");
        let (zero, bytes) = (0u32, self.bytes as usize);
        let filled = bytes.min(MOST_FILLED);
        // SAFETY: the range is the buffer's, a multiple of the pattern, which is copied by the call.
        let event = self.calls.next().map_err(|e| e.0).and_then(|()| unsafe {
            opencl3::command_queue::enqueue_fill_buffer(
                queue.get(),
                self.inner.get(),
                (&raw const zero).cast(),
                WORD,
                0,
                filled,
                0,
                std::ptr::null(),
            )
        });
        let event = event.map_err(|code| failed(&self.device, "clear its memory", code))?;
        self.calls.queued(CLEAR, opencl3::event::Event::new(event));
        let zeros = vec![0u8; PART.min(bytes - filled)];
        for from in (filled..bytes).step_by(PART) {
            // SAFETY: the call returns when the bytes were read, and the range is the buffer's.
            let written = self.calls.next().map_err(|e| e.0).and_then(|()| unsafe {
                opencl3::command_queue::enqueue_write_buffer(
                    queue.get(),
                    self.inner.get(),
                    CL_BLOCKING,
                    from,
                    PART.min(bytes - from),
                    zeros.as_ptr().cast(),
                    0,
                    std::ptr::null(),
                )
            });
            let event = written.map_err(|code| failed(&self.device, "clear its memory", code))?;
            self.calls.queued(CLEAR, opencl3::event::Event::new(event));
        }
        Ok(())
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The handle, as kernels take it.
    pub fn raw(&self) -> cl_mem {
        self.inner.get()
    }
}

impl<T: Pod> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_never_exceeded_and_names_what_would_do() {
        let budget = Budget::new(10_000);
        budget.take(6_000, "a graph").unwrap();
        let text = budget.take(5_000, "tasks").unwrap_err().to_string();
        assert!(
            text.contains("room for tasks") && text.contains("the setting `memory` at least 11K"),
            "{text}"
        );
        budget.give_back(6_000);
        budget.take(5_000, "tasks").unwrap();
        assert_eq!((budget.free(), budget.peak()), (5_000, 6_000));
    }
}
