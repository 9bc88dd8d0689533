//! Memory of the host that kernels read where it lies (zero copy).
//!
//! NVIDIA's OpenCL copies buffers of `CL_MEM_ALLOC_HOST_PTR` to the device; its extension
//! `cl_nv_create_buffer` makes buffers that stay in the host's memory. Elsewhere
//! `CL_MEM_ALLOC_HOST_PTR` asks for that.

use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

use gramer_base::error::Result;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::memory::{Buffer, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, ClMem};
use opencl3::types::{CL_BLOCKING, cl_context, cl_mem, cl_platform_id};

use crate::error::{failed, refused};

/// `clCreateBufferNV`: context, flags, NVIDIA's flags, bytes, host pointer, error.
type CreateBuffer =
    unsafe extern "C" fn(cl_context, u64, u64, usize, *mut c_void, *mut i32) -> cl_mem;
type Address = unsafe extern "C" fn(cl_platform_id, *const c_char) -> *mut c_void;
/// `CL_MEM_LOCATION_HOST_NV`.
const LOCATION_HOST: u64 = 1;

/// Words in the host's memory for kernels.
pub(crate) struct HostBuffer {
    inner: Buffer<u32>,
}

impl HostBuffer {
    /// A copy of the parts, one after the other.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`] if the device refuses.
    pub fn of(
        context: &Context,
        queue: &CommandQueue,
        label: &str,
        parts: &[&[u32]],
    ) -> Result<Self> {
        let words: usize = parts.iter().map(|p| p.len()).sum();
        let bytes = words.max(1) * size_of::<u32>();
        let reserve = format!("reserve {bytes} bytes of the host's memory for the graph");
        let inner = match create_buffer_nv(context) {
            Some(create) => {
                let mut code = 0;
                // SAFETY: the function is the driver's, called as its extension says; no memory of
                // the host is named.
                let raw = unsafe {
                    let (context, host) = (context.get(), std::ptr::null_mut());
                    create(context, CL_MEM_READ_WRITE, LOCATION_HOST, bytes, host, &mut code)
                };
                if code != 0 {
                    return Err(failed(label, &reserve, code));
                }
                Buffer::new(raw)
            }
            // SAFETY: the host pointer is null, so that the driver allocates the buffer itself.
            None => unsafe {
                let flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
                Buffer::create(context, flags, words.max(1), std::ptr::null_mut())
            }
            .map_err(refused(label, &reserve))?,
        };
        let mut buffer = HostBuffer { inner };
        let mut at = 0;
        for part in parts.iter().filter(|p| !p.is_empty()) {
            // SAFETY: the call returns when the part was read, and there is room for it.
            unsafe { queue.enqueue_write_buffer(&mut buffer.inner, CL_BLOCKING, at, part, &[]) }
                .map_err(refused(label, "write to the host's memory"))?;
            at += size_of_val(*part);
        }
        Ok(buffer)
    }

    /// The handle, as kernels take it.
    pub fn raw(&self) -> cl_mem {
        self.inner.get()
    }
}

/// Whether kernels read buffers in the host's memory where they lie.
pub(crate) fn is_zero_copy(context: &Context) -> bool {
    let device = Device::new(context.default_device());
    device.host_unified_memory().is_ok_and(|unified| unified) || create_buffer_nv(context).is_some()
}

/// The function of `cl_nv_create_buffer`, if the driver offers it.
fn create_buffer_nv(context: &Context) -> Option<CreateBuffer> {
    static LOADER: OnceLock<Option<libloading::Library>> = OnceLock::new();
    let device = Device::new(context.default_device());
    if !device.extensions().ok()?.split(' ').any(|name| name == "cl_nv_create_buffer") {
        return None;
    }
    // SAFETY: the loader made the context, so that it is open already and its initialisers have run.
    let open = || unsafe { libloading::Library::new("libOpenCL.so.1") }.ok();
    let loader = LOADER.get_or_init(open).as_ref()?;
    let name = c"clCreateBufferNV";
    // SAFETY: OpenCL 1.2 gives these types to the function, and the extension to what it finds.
    unsafe {
        let address: libloading::Symbol<'_, Address> =
            loader.get(b"clGetExtensionFunctionAddressForPlatform\0").ok()?;
        let found = address(device.platform().ok()?, name.as_ptr());
        (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, CreateBuffer>(found))
    }
}
