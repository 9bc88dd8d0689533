//! The extension of the Xilinx Runtime that places a buffer in a memory bank; as
//! `CL/cl_ext_xilinx.h` declares it, with which a test compares it.

use std::ffi::{c_uint, c_void};

use opencl3::context::Context;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::types::cl_mem_flags;

/// Makes `clCreateBuffer` take its last argument for a [`MemExtPtr`]. (The header's `1 << 31` is a
/// negative number, whose upper bits mean nothing.)
pub const CL_MEM_EXT_PTR_XILINX: cl_mem_flags = 1 << 31;
/// In [`MemExtPtr::flags`]: the lower bits are the position of a memory in the xclbin.
pub const XCL_MEM_TOPOLOGY: c_uint = 1 << 31;

/// `cl_mem_ext_ptr_t`.
#[repr(C)]
#[derive(Debug)]
pub struct MemExtPtr {
    /// [`XCL_MEM_TOPOLOGY`] and the memory.
    pub flags: c_uint,
    /// Memory of the host for the buffer, or null.
    pub obj: *mut c_void,
    /// Must be null.
    pub param: *mut c_void,
}

/// A buffer of `bytes` in the memory at position `memory` of the xclbin.
///
/// # Errors
/// The runtime's code, for example where the memory is full.
pub fn buffer(context: &Context, bytes: u64, memory: u32) -> Result<Buffer<u8>, i32> {
    let mut place = MemExtPtr {
        flags: XCL_MEM_TOPOLOGY | memory,
        obj: std::ptr::null_mut(),
        param: std::ptr::null_mut(),
    };
    let pointer: *mut MemExtPtr = &mut place;
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    // SAFETY: the structure has the layout that the flag announces, and the runtime copies what it
    // needs of it before it returns.
    unsafe {
        let flags = CL_MEM_READ_WRITE | CL_MEM_EXT_PTR_XILINX;
        Buffer::create(context, flags, bytes, pointer.cast()).map_err(|e| e.0)
    }
}
