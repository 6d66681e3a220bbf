//! A stand-in for `libhsa-runtime64.so.1`, so that capturing and replaying run without ROCm and without a GPU.
//!
//! It has the tables of functions of ROCm 6.1, loads the tools of `HSA_TOOLS_LIB`, and calls through the tables, so that what
//! a tool replaces is what the program gets. Memory is the host's: pools are mapped at addresses that are the same in every
//! run, and virtual memory is reserved, backed and mapped as on a GPU. Code objects are real: kernels and variables are found
//! by their symbols, sizes by the kernel descriptors. A kernel runs as the host function of its name (`kernels`), in a thread
//! of its queue.
//!
//! Variables: `FAKE_HSA_AGENT` names the GPU (gfx942), `FAKE_HSA_DELAY_MS` delays each kernel, `FAKE_HSA_CORE_MAJOR` and
//! `FAKE_HSA_AMD_BYTES` change versions of tables, `FAKE_HSA_FAIL_COPY_FROM` names addresses (hexadecimal, separated by
//! commas) at which copies fail, `FAKE_HSA_NO_AGENT=1` has no GPU, and with
//! `FAKE_HSA_OLD_QUEUES=1` handlers of queues get one packet at a time and may write once, as up to ROCm 6.

mod agents;
mod code;
mod executables;
mod exports;
mod kernels;
mod memory;
mod queues;
mod settings;
mod signals;
mod system;
mod tools;
mod vmem;
