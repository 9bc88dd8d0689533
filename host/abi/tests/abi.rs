//! The raw interface of OpenCL and of the vendor's extension, as we, `opencl3` and `cl-sys` have
//! it, against the C headers.
//!
//! It links libOpenCL (through `cl-sys`), which may be missing, so that it is built only by its name:
//! `cargo test -p gramer-abi --test abi`, `make test-emulation`.

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};
use std::path::Path;
use std::process::Command;

use cl_sys as sys;
use gramer::accelerator::xilinx::{CL_MEM_EXT_PTR_XILINX, MemExtPtr, XCL_MEM_TOPOLOGY};
use opencl3::{device, event, memory, types};

/// Prints `name value` for everything below.
const PROGRAM: &str = r#"
#define CL_TARGET_OPENCL_VERSION 120
#include <stddef.h>
#include <stdio.h>
#include <CL/cl.h>
#include <CL/cl_ext_xilinx.h>
#define VALUE(name) printf(#name " %llu\n", (unsigned long long)(unsigned)(name));
#define SIZE(name) printf("sizeof_" #name " %zu\n", sizeof(name));
int main(void) {
    VALUE(CL_MEM_EXT_PTR_XILINX) VALUE(XCL_MEM_TOPOLOGY) VALUE(CL_MEM_READ_WRITE)
    VALUE(CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) VALUE(CL_DEVICE_TYPE_ALL)
    VALUE(CL_DEVICE_TYPE_ACCELERATOR) VALUE(CL_DEVICE_TYPE_GPU) VALUE(CL_DEVICE_TYPE_CPU)
    VALUE(CL_EVENT_COMMAND_EXECUTION_STATUS) VALUE(CL_COMPLETE) VALUE(CL_RUNNING)
    VALUE(CL_TRUE) VALUE(CL_DEVICE_NAME) VALUE(CL_DRIVER_VERSION) VALUE(CL_DEVICE_GLOBAL_MEM_SIZE)
    VALUE(CL_DEVICE_NOT_FOUND) VALUE(CL_PLATFORM_NOT_FOUND_KHR)
    SIZE(cl_mem_flags) SIZE(cl_bool) SIZE(cl_mem) SIZE(cl_event) SIZE(cl_kernel) SIZE(cl_uint)
    SIZE(cl_command_queue_properties) SIZE(cl_device_type) SIZE(cl_mem_migration_flags)
    SIZE(cl_mem_ext_ptr_t)
    printf("flags %zu\n", offsetof(cl_mem_ext_ptr_t, flags));
    printf("obj %zu\n", offsetof(cl_mem_ext_ptr_t, obj));
    printf("param %zu\n", offsetof(cl_mem_ext_ptr_t, param));
    printf("kernel %zu\n", offsetof(cl_mem_ext_ptr_t, kernel));
    return 0;
}
"#;

/// What the headers say.
fn headers() -> BTreeMap<String, u64> {
    let include = ["/opt/xilinx/xrt/include", "/usr/include/xrt"]
        .into_iter()
        .find(|p| Path::new(p).join("CL/cl_ext_xilinx.h").is_file())
        .expect("the header of the Xilinx Runtime: scripts/setup-xrt.sh installs libxrt-dev");
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("abi.c"), folder.path().join("abi"));
    std::fs::write(&source, PROGRAM).unwrap();
    let compiled = Command::new("cc")
        .args(["-w", "-I", include, "-o"])
        .arg(&program)
        .arg(&source)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let pair = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_string(), value.parse().ok()?))
    };
    text.lines().map(|line| pair(line).unwrap()).collect()
}

#[test]
fn constants_and_structures_are_those_of_the_headers() {
    let headers = headers();
    let mut seen = 0;
    let mut same = |name: &str, values: &[i128]| {
        let expected = headers[name];
        for (i, &value) in values.iter().enumerate() {
            // The headers' values as 32 bits, as the program prints them.
            assert_eq!(value as u32 as u64, expected, "{name}, number {i}");
        }
        seen += 1;
    };
    // Ours, opencl3's and cl-sys's, as far as each has them.
    same("CL_MEM_EXT_PTR_XILINX", &[CL_MEM_EXT_PTR_XILINX.into()]);
    same("XCL_MEM_TOPOLOGY", &[XCL_MEM_TOPOLOGY.into()]);
    same("CL_MEM_READ_WRITE", &[memory::CL_MEM_READ_WRITE.into(), sys::CL_MEM_READ_WRITE.into()]);
    same(
        "CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED",
        &[
            memory::CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED.into(),
            sys::CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED.into(),
        ],
    );
    same(
        "CL_DEVICE_TYPE_ALL",
        &[device::CL_DEVICE_TYPE_ALL.into(), sys::CL_DEVICE_TYPE_ALL.into()],
    );
    same(
        "CL_DEVICE_TYPE_ACCELERATOR",
        &[device::CL_DEVICE_TYPE_ACCELERATOR.into(), sys::CL_DEVICE_TYPE_ACCELERATOR.into()],
    );
    same(
        "CL_DEVICE_TYPE_GPU",
        &[device::CL_DEVICE_TYPE_GPU.into(), sys::CL_DEVICE_TYPE_GPU.into()],
    );
    same(
        "CL_DEVICE_TYPE_CPU",
        &[device::CL_DEVICE_TYPE_CPU.into(), sys::CL_DEVICE_TYPE_CPU.into()],
    );
    same(
        "CL_EVENT_COMMAND_EXECUTION_STATUS",
        &[
            event::CL_EVENT_COMMAND_EXECUTION_STATUS.into(),
            sys::CL_EVENT_COMMAND_EXECUTION_STATUS.into(),
        ],
    );
    same("CL_COMPLETE", &[event::CL_COMPLETE.into(), sys::CL_COMPLETE.into()]);
    same("CL_RUNNING", &[event::CL_RUNNING.into(), sys::CL_RUNNING.into()]);
    same("CL_TRUE", &[types::CL_BLOCKING.into(), sys::CL_TRUE.into()]);
    same("CL_DEVICE_NAME", &[device::CL_DEVICE_NAME.into(), sys::CL_DEVICE_NAME.into()]);
    same("CL_DRIVER_VERSION", &[device::CL_DRIVER_VERSION.into(), sys::CL_DRIVER_VERSION.into()]);
    same(
        "CL_DEVICE_GLOBAL_MEM_SIZE",
        &[device::CL_DEVICE_GLOBAL_MEM_SIZE.into(), sys::CL_DEVICE_GLOBAL_MEM_SIZE.into()],
    );
    same("CL_DEVICE_NOT_FOUND", &[-1]);
    same("CL_PLATFORM_NOT_FOUND_KHR", &[-1001]);

    let mut size = |name: &str, sizes: &[usize]| {
        same(name, &sizes.iter().map(|&s| s as i128).collect::<Vec<_>>());
    };
    let flags = [size_of::<types::cl_mem_flags>(), size_of::<sys::cl_mem_flags>()];
    size("sizeof_cl_mem_flags", &flags);
    size("sizeof_cl_bool", &[size_of::<types::cl_bool>(), size_of::<sys::cl_bool>()]);
    size("sizeof_cl_mem", &[size_of::<types::cl_mem>(), size_of::<sys::cl_mem>()]);
    size("sizeof_cl_event", &[size_of::<types::cl_event>(), size_of::<sys::cl_event>()]);
    size("sizeof_cl_kernel", &[size_of::<types::cl_kernel>(), size_of::<sys::cl_kernel>()]);
    size("sizeof_cl_uint", &[size_of::<types::cl_uint>(), size_of::<sys::cl_uint>()]);
    size(
        "sizeof_cl_command_queue_properties",
        &[
            size_of::<types::cl_command_queue_properties>(),
            size_of::<sys::cl_command_queue_properties>(),
        ],
    );
    size("sizeof_cl_device_type", &[size_of::<types::cl_device_type>()]);
    size("sizeof_cl_mem_migration_flags", &[size_of::<types::cl_mem_migration_flags>()]);
    size("sizeof_cl_mem_ext_ptr_t", &[size_of::<MemExtPtr>()]);
    size("flags", &[offset_of!(MemExtPtr, flags)]);
    size("obj", &[offset_of!(MemExtPtr, obj)]);
    size("param", &[offset_of!(MemExtPtr, param)]);
    size("kernel", &[offset_of!(MemExtPtr, param)]);
    assert_eq!(seen, headers.len(), "everything that the program prints is compared");
}

/// The functions that are called have the types that both bindings give them, and are there.
#[test]
fn the_loader_has_the_functions_that_are_called() {
    let functions = [
        sys::clCreateCommandQueue as *const (),
        sys::clCreateBuffer as *const (),
        sys::clEnqueueMigrateMemObjects as *const (),
        sys::clEnqueueTask as *const (),
        sys::clSetKernelArg as *const (),
        sys::clGetEventInfo as *const (),
    ];
    assert!(functions.iter().all(|f| !f.is_null()));
}
