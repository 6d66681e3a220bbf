//! Work of the program.

use std::ffi::c_void;
use std::fs::File;
use std::os::fd::AsRawFd;

use wavesieve_captures::hsa::*;

use crate::arguments::Arguments;
use crate::runtime::{Runtime, check};

unsafe extern "C" fn keep<T: Copy>(item: T, data: *mut c_void) -> Status {
    // SAFETY: the data is a list of these.
    unsafe { (*data.cast::<Vec<T>>()).push(item) };
    SUCCESS
}

unsafe extern "C" fn keep_symbol(_: Executable, _: Agent, symbol: ExecutableSymbol, data: *mut c_void) -> Status {
    // SAFETY: the data is a list of these.
    unsafe { keep(symbol, data) }
}

/// A kernel, and bytes of its LDS and scratch memory.
struct Kernel {
    object: u64,
    group: u32,
    private: u32,
}

struct Program {
    runtime: Runtime,
    gpu: Agent,
    pool: MemoryPool,
    region: Region,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let program = Program::begin()?;
    let executable = program.load(arguments)?;
    let kernel = program.kernel(executable, &arguments.kernel)?;
    for number in 0..arguments.regions {
        let place = program.allocate(arguments.region_bytes)?;
        fill(place, arguments.region_bytes, number);
    }
    let n = arguments.elements as usize;
    let first = if arguments.is_virtual { program.map(n * 4)? } else { program.allocate(n * 4)? };
    let second = program.allocate_of_region(n * 4)?;
    let kernarg = program.allocate(4096)?;
    let (first_values, second_values) = (first as *mut f32, second as *mut f32);
    for index in 0..n {
        // SAFETY: both have as many floats.
        unsafe {
            first_values.add(index).write(index as f32);
            second_values.add(index).write(1.0);
        }
    }
    if let Some(place) = program.variable(executable, "saxpy_shift") {
        // SAFETY: the variable is a float.
        unsafe { (place as *mut f32).write(0.5) };
    }
    let nodes = if arguments.kernel == "chase" { program.nodes(&[first, second])? } else { 0 };
    program.write_arguments(arguments, kernarg, first, second, nodes);
    program.dispatch(arguments, &kernel, kernarg)?;
    // SAFETY: both have as many floats.
    let (first, second) =
        unsafe { (std::slice::from_raw_parts(first_values, n), std::slice::from_raw_parts(second_values, n)) };
    println!("first {:?}", &first[..n.min(8)]);
    println!("second {:?}", &second[..n.min(8)]);
    if arguments.shuts_down {
        // SAFETY: nothing is used afterwards.
        check("hsa_shut_down", unsafe { (program.runtime.hsa_shut_down)() })?;
    }
    Ok(())
}

/// Numbers that compress badly, after a part of zeros.
fn fill(place: u64, bytes: usize, seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for index in bytes / 32..bytes / 8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // SAFETY: the place has as many bytes.
        unsafe { (place as *mut u64).add(index).write(state & 0x00ff_00ff_00ff_00ff) };
    }
}

impl Program {
    fn begin() -> Result<Self, String> {
        let runtime = Runtime::load()?;
        let mut agents: Vec<Agent> = Vec::new();
        let mut pools: Vec<MemoryPool> = Vec::new();
        let mut regions: Vec<Region> = Vec::new();
        // SAFETY: the callbacks fill lists of what they get.
        unsafe {
            check("hsa_init", (runtime.hsa_init)())?;
            check("hsa_iterate_agents", (runtime.hsa_iterate_agents)(keep::<Agent>, (&raw mut agents).cast()))?;
        }
        let kind = |agent: &Agent| {
            let mut kind = DEVICE_CPU;
            // SAFETY: the type of a device is a number of 32 bits.
            unsafe { (runtime.hsa_agent_get_info)(*agent, AGENT_INFO_DEVICE, (&raw mut kind).cast()) };
            kind
        };
        let gpu = *agents.iter().find(|agent| kind(agent) == DEVICE_GPU).ok_or("no GPU")?;
        let cpu = *agents.iter().find(|agent| kind(agent) == DEVICE_CPU).ok_or("no processor")?;
        // SAFETY: see above.
        unsafe {
            let pools_of = runtime.hsa_amd_agent_iterate_memory_pools;
            check("iterating pools", pools_of(gpu, keep::<MemoryPool>, (&raw mut pools).cast()))?;
            let regions_of = runtime.hsa_agent_iterate_regions;
            check("iterating regions", regions_of(cpu, keep::<Region>, (&raw mut regions).cast()))?;
        }
        let pool = *pools.first().ok_or("no pool")?;
        let region = *regions.first().ok_or("no region")?;
        Ok(Self { runtime, gpu, pool, region })
    }

    fn allocate(&self, bytes: usize) -> Result<u64, String> {
        let mut place = std::ptr::null_mut();
        // SAFETY: there is room for the address.
        let status = unsafe { (self.runtime.hsa_amd_memory_pool_allocate)(self.pool, bytes, 0, &raw mut place) };
        check("hsa_amd_memory_pool_allocate", status).map(|()| place as u64)
    }

    fn allocate_of_region(&self, bytes: usize) -> Result<u64, String> {
        let mut place = std::ptr::null_mut();
        // SAFETY: there is room for the address.
        let status = unsafe { (self.runtime.hsa_memory_allocate)(self.region, bytes, &raw mut place) };
        check("hsa_memory_allocate", status).map(|()| place as u64)
    }

    /// Virtual memory at an address of its own; a second range is reserved and mapped without access.
    fn map(&self, bytes: usize) -> Result<u64, String> {
        let bytes = bytes.next_multiple_of(4096);
        let runtime = &self.runtime;
        let mut place = std::ptr::null_mut();
        let mut handle = VmemHandle::default();
        let access = MemoryAccess { permissions: ACCESS_READ_WRITE, agent: self.gpu };
        // SAFETY: the range is reserved before it is mapped, and mapped before it is used.
        unsafe {
            let status = (runtime.hsa_amd_vmem_address_reserve)(&raw mut place, bytes * 2, 0x6100_0000_0000, 0);
            check("hsa_amd_vmem_address_reserve", status)?;
            let create = runtime.hsa_amd_vmem_handle_create;
            check("hsa_amd_vmem_handle_create", create(self.pool, bytes, MEMORY_TYPE_NONE, 0, &raw mut handle))?;
            check("hsa_amd_vmem_map", (runtime.hsa_amd_vmem_map)(place, bytes, 0, handle, 0))?;
            check("hsa_amd_vmem_set_access", (runtime.hsa_amd_vmem_set_access)(place, bytes, &raw const access, 1))?;
            let behind = place.cast::<u8>().add(bytes).cast();
            check("hsa_amd_vmem_map", (runtime.hsa_amd_vmem_map)(behind, bytes, 0, handle, 0))?;
        }
        Ok(place as u64)
    }

    fn load(&self, arguments: &Arguments) -> Result<Executable, String> {
        let runtime = &self.runtime;
        let named = |error: std::io::Error| format!("{}: {error}", arguments.code_object);
        let bytes = std::fs::read(&arguments.code_object).map_err(named)?;
        let mut reader = CodeObjectReader::default();
        let mut executable = Executable::default();
        // SAFETY: the bytes and the file live longer than the reader.
        unsafe {
            if arguments.is_from_file {
                let file = File::open(&arguments.code_object).map_err(named)?;
                let create = runtime.hsa_code_object_reader_create_from_file;
                check("creating a reader", create(file.as_raw_fd(), &raw mut reader))?;
            } else {
                let create = runtime.hsa_code_object_reader_create_from_memory;
                check("creating a reader", create(bytes.as_ptr().cast(), bytes.len(), &raw mut reader))?;
            }
            let create = runtime.hsa_executable_create_alt;
            let made = create(PROFILE_FULL, FLOAT_ROUNDING_DEFAULT, std::ptr::null(), &raw mut executable);
            check("hsa_executable_create_alt", made)?;
            let load = runtime.hsa_executable_load_agent_code_object;
            let null = std::ptr::null();
            check("loading code", load(executable, self.gpu, reader, null, std::ptr::null_mut()))?;
            check("hsa_executable_freeze", (runtime.hsa_executable_freeze)(executable, std::ptr::null()))?;
            (runtime.hsa_code_object_reader_destroy)(reader);
        }
        Ok(executable)
    }

    fn symbol_number<T: Default>(&self, symbol: ExecutableSymbol, attribute: u32) -> T {
        let mut value = T::default();
        // SAFETY: callers name the type of the attribute.
        unsafe { (self.runtime.hsa_executable_symbol_get_info)(symbol, attribute, (&raw mut value).cast()) };
        value
    }

    /// The first symbol whose name contains a text and that is a kernel, or is not.
    fn symbol(&self, executable: Executable, part: &str, kind: u32) -> Option<ExecutableSymbol> {
        let mut symbols: Vec<ExecutableSymbol> = Vec::new();
        // SAFETY: the callback fills the list.
        unsafe {
            let iterate = self.runtime.hsa_executable_iterate_agent_symbols;
            iterate(executable, self.gpu, keep_symbol, (&raw mut symbols).cast());
        }
        symbols.into_iter().find(|symbol| {
            let length: u32 = self.symbol_number(*symbol, SYMBOL_INFO_NAME_LENGTH);
            let mut name = vec![0_u8; length as usize];
            // SAFETY: there is room for the name.
            unsafe {
                let get = self.runtime.hsa_executable_symbol_get_info;
                get(*symbol, SYMBOL_INFO_NAME, name.as_mut_ptr().cast());
            }
            let name = String::from_utf8_lossy(&name).into_owned();
            name.contains(part) && self.symbol_number::<u32>(*symbol, SYMBOL_INFO_TYPE) == kind
        })
    }

    fn kernel(&self, executable: Executable, name: &str) -> Result<Kernel, String> {
        let symbol = self.symbol(executable, name, SYMBOL_KERNEL).ok_or(format!("no kernel {name}"))?;
        Ok(Kernel {
            object: self.symbol_number(symbol, SYMBOL_INFO_KERNEL_OBJECT),
            group: self.symbol_number(symbol, SYMBOL_INFO_GROUP_SIZE),
            private: self.symbol_number(symbol, SYMBOL_INFO_PRIVATE_SIZE),
        })
    }

    fn variable(&self, executable: Executable, name: &str) -> Option<u64> {
        let symbol = self.symbol(executable, name, SYMBOL_VARIABLE)?;
        Some(self.symbol_number(symbol, SYMBOL_INFO_VARIABLE_ADDRESS))
    }

    /// Three nodes in memory of their own, each before its next; the last two words of each are other numbers.
    fn nodes(&self, others: &[u64]) -> Result<u64, String> {
        let mut next = 0;
        for number in 0..3 {
            let node = self.allocate(32)?;
            let words = [next, number, 0x1234, others.len() as u64];
            // SAFETY: the node has as many words.
            unsafe { (node as *mut [u64; 4]).write(words) };
            next = node;
        }
        Ok(next)
    }

    fn write_arguments(&self, arguments: &Arguments, kernarg: u64, first: u64, second: u64, nodes: u64) {
        let put = |offset: u64, bytes: &[u8]| {
            // SAFETY: the page of arguments has more bytes.
            unsafe { ((kernarg + offset) as *mut u8).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        };
        let n = arguments.elements as i32;
        if nodes != 0 {
            put(0, &nodes.to_le_bytes());
            return;
        }
        put(0, &first.to_le_bytes());
        put(8, &second.to_le_bytes());
        if matches!(arguments.kernel.as_str(), "scale" | "saxpy") {
            put(16, &2.0_f32.to_le_bytes());
            put(20, &n.to_le_bytes());
        } else {
            put(16, &n.to_le_bytes());
        }
    }

    fn dispatch(&self, arguments: &Arguments, kernel: &Kernel, kernarg: u64) -> Result<(), String> {
        let runtime = &self.runtime;
        let mut queues = Vec::new();
        for _ in 0..=u32::from(arguments.has_two_queues) {
            let mut queue = std::ptr::null_mut();
            let null = std::ptr::null_mut();
            // SAFETY: there is room for the address.
            let status = unsafe {
                (runtime.hsa_queue_create)(self.gpu, 256, QUEUE_MULTI, None, null, u32::MAX, u32::MAX, &raw mut queue)
            };
            check("hsa_queue_create", status)?;
            queues.push(queue);
        }
        let mut signal = Signal::default();
        // SAFETY: there is room for the handle.
        let status =
            unsafe { (runtime.hsa_signal_create)(arguments.dispatches as i64, 0, std::ptr::null(), &raw mut signal) };
        check("hsa_signal_create", status)?;
        for number in 0..arguments.dispatches {
            if arguments.aborts_after == Some(number) {
                std::process::abort();
            }
            let queue = queues[number as usize % queues.len()];
            let is_last = number + 1 == arguments.dispatches;
            let packet = KernelDispatchPacket {
                header: packet_header(PACKET_KERNEL_DISPATCH, true),
                setup: 1,
                workgroup_size_x: 64,
                workgroup_size_y: 1,
                workgroup_size_z: 1,
                reserved0: 0,
                grid_size_x: arguments.elements.next_multiple_of(64),
                grid_size_y: 1,
                grid_size_z: 1,
                private_segment_size: kernel.private,
                group_segment_size: kernel.group + arguments.dynamic_lds,
                kernel_object: kernel.object,
                kernarg_address: kernarg as *mut c_void,
                reserved2: 0,
                completion_signal: signal,
            };
            // SAFETY: the ring has room for all packets; the header is written last.
            unsafe {
                let index = (runtime.hsa_queue_add_write_index_screlease)(queue, 1);
                let ring = (*queue).base_address.cast::<KernelDispatchPacket>();
                ring.add((index & u64::from((*queue).size - 1)) as usize).write_volatile(packet);
                if !arguments.is_batch || is_last {
                    (runtime.hsa_signal_store_screlease)((*queue).doorbell_signal, index as i64);
                }
            }
        }
        // SAFETY: the signal counts all dispatches.
        unsafe {
            (runtime.hsa_signal_wait_scacquire)(signal, CONDITION_LT, 1, u64::MAX, WAIT_BLOCKED);
            (runtime.hsa_signal_destroy)(signal);
            for queue in queues {
                check("hsa_queue_destroy", (runtime.hsa_queue_destroy)(queue))?;
            }
        }
        Ok(())
    }
}
