//! Kernels as host functions. One is chosen by the name in the symbol, mangled or not. A code object that defines the symbol
//! `fake_hsa_KERNEL_is_OTHER` behaves as another function, so that changed binaries of one name can be distinguished.

use wavesieve_captures::hsa::KernelDispatchPacket;

use crate::executables;

/// A dispatch, as a kernel sees it.
struct Launch {
    kernarg: u64,
    block: u64,
    group_bytes: u64,
    variables: Vec<(String, u64)>,
}

impl Launch {
    fn argument<T: Copy>(&self, offset: u64) -> T {
        // SAFETY: the kernel was launched with its arguments, whose types and places are those of `kernels.hip`.
        unsafe { ((self.kernarg + offset) as *const T).read_unaligned() }
    }

    /// Floats that an argument points to.
    fn floats(&self, offset: u64, count: usize) -> &'static mut [f32] {
        // SAFETY: the program gives memory of this size, as a GPU would need it.
        unsafe { std::slice::from_raw_parts_mut(self.argument::<u64>(offset) as *mut f32, count) }
    }

    fn count(&self, offset: u64) -> usize {
        usize::try_from(self.argument::<i32>(offset)).unwrap_or(0)
    }

    fn variable(&self, name: &str) -> Option<u64> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, address)| *address)
    }
}

type HostKernel = fn(&Launch);

/// Names, and what they run.
const KERNELS: [(&str, HostKernel); 9] = [
    ("add", add),
    ("scale", scale),
    ("copy", copy),
    ("saxpy", saxpy),
    ("block_sums", block_sums),
    ("chase", chase),
    ("add_off_by_one", add_off_by_one),
    ("add_almost", add_almost),
    ("add_out_of_place", add_out_of_place),
];

/// Runs a dispatch.
pub(crate) fn run(packet: &KernelDispatchPacket) {
    let Some((symbol, executable)) = executables::kernel_at(packet.kernel_object) else {
        eprintln!("fake hsa: no kernel is at {:#x}", packet.kernel_object);
        return;
    };
    let variables = executables::variables(executable);
    let Some((name, mut kernel)) = KERNELS.iter().copied().find(|(name, _)| is_named(&symbol, name)) else {
        eprintln!("fake hsa: no host function for {symbol}; it does nothing");
        return;
    };
    let other = variables.iter().find_map(|(variable, _)| variable.strip_prefix(&format!("fake_hsa_{name}_is_")));
    if let Some((_, function)) = other.and_then(|other| KERNELS.iter().find(|(name, _)| *name == other)) {
        kernel = *function;
    }
    kernel(&Launch {
        kernarg: packet.kernarg_address as u64,
        block: u64::from(packet.workgroup_size_x),
        group_bytes: u64::from(packet.group_segment_size),
        variables,
    });
}

/// Whether a symbol is this name, or mangles it.
fn is_named(symbol: &str, name: &str) -> bool {
    symbol == name || (symbol.starts_with("_Z") && symbol.contains(&format!("{}{name}", name.len())))
}

/// `sum[i] += term[i]`
fn add(launch: &Launch) {
    let n = launch.count(16);
    for (sum, term) in launch.floats(0, n).iter_mut().zip(launch.floats(8, n)) {
        *sum += *term;
    }
}

/// As `add`, but wrong in one element.
fn add_off_by_one(launch: &Launch) {
    add(launch);
    if let Some(first) = launch.floats(0, launch.count(16)).first_mut() {
        *first += 1.0;
    }
}

/// As `add`, but with other rounding.
fn add_almost(launch: &Launch) {
    add(launch);
    for sum in launch.floats(0, launch.count(16)) {
        *sum = f32::from_bits(sum.to_bits() + 1);
    }
}

/// As `add`, but writes into the terms too.
fn add_out_of_place(launch: &Launch) {
    add(launch);
    if let Some(last) = launch.floats(8, launch.count(16)).last_mut() {
        *last = -1.0;
    }
}

/// `out[i] = in[i] * factor`
fn scale(launch: &Launch) {
    let n = launch.count(20);
    let factor: f32 = launch.argument(16);
    for (out, value) in launch.floats(0, n).iter_mut().zip(launch.floats(8, n)) {
        *out = *value * factor;
    }
}

/// `to[i] = from[i]`
fn copy(launch: &Launch) {
    let n = launch.count(16);
    for (to, from) in launch.floats(0, n).iter_mut().zip(launch.floats(8, n)) {
        *to = *from;
    }
}

/// `y[i] += a * x[i]`, where the module counts its calls and adds a shift.
fn saxpy(launch: &Launch) {
    let n = launch.count(20);
    let a: f32 = launch.argument(16);
    let mut shift = 0.0;
    if let Some(place) = launch.variable("saxpy_shift") {
        // SAFETY: the variable of the code object is a float.
        shift = unsafe { (place as *const f32).read() };
    }
    if let Some(place) = launch.variable("saxpy_calls") {
        // SAFETY: the variable of the code object is a number of 32 bits.
        unsafe { *(place as *mut u32) += 1 };
    }
    for (y, x) in launch.floats(0, n).iter_mut().zip(launch.floats(8, n)) {
        *y += a * *x + shift;
    }
}

/// Sums of blocks through dynamic LDS: without room for a block, they are not numbers.
fn block_sums(launch: &Launch) {
    let n = launch.count(16);
    let block = launch.block.max(1) as usize;
    let has_room = launch.group_bytes >= launch.block * 4;
    let sums = launch.floats(0, n.div_ceil(block));
    for (sum, values) in sums.iter_mut().zip(launch.floats(8, n).chunks(block)) {
        *sum = if has_room { values.iter().sum() } else { f32::NAN };
    }
}

/// Follows a list of nodes (next, value) and adds 1 to each value.
fn chase(launch: &Launch) {
    let mut node: u64 = launch.argument(0);
    while node != 0 {
        // SAFETY: nodes are an address and a number, as the program made them.
        unsafe {
            *((node + 8) as *mut u64) += 1;
            node = *(node as *const u64);
        }
    }
}
