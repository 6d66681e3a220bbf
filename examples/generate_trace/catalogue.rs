//! The kernels, counters and API names that traces are made of.

use crate::model::{CounterTemplate, KernelTemplate, Module, Role, domain};

/// Calls the runtime makes inside a launch.
pub const NESTED_CALLS: [(&str, &str); 3] = [
    (domain::HSA, "hsa_queue_load_read_index_relaxed"),
    (domain::HSA, "hsa_signal_store_screlease"),
    (domain::HSA, "hsa_queue_add_write_index_screlease"),
];

/// Cheap calls frameworks make between launches.
pub const LIGHT_CALLS: [(&str, &str); 5] = [
    (domain::HIP, "hipGetDevice"),
    (domain::HIP, "hipGetLastError"),
    (domain::HIP_COMPILER, "__hipPushCallConfiguration"),
    (domain::HIP_COMPILER, "__hipPopCallConfiguration"),
    (domain::HIP, "hipEventRecord"),
];

/// Every other name an activity may carry.
pub const OTHER_NAMES: [&str; 16] = [
    "hipLaunchKernel",
    "hipExtLaunchKernel",
    "hipGraphLaunch",
    "hipMemcpyAsync",
    "hipStreamSynchronize",
    "hipMalloc",
    "hipFree",
    "hsa_amd_memory_async_copy_on_engine",
    "hsa_amd_memory_pool_allocate",
    "hsa_amd_memory_pool_free",
    "hsa_signal_wait_scacquire",
    "ncclAllReduce",
    "roctxThreadRangeA",
    "roctxProcessRangeA",
    "roctxMarkA",
    "",
];

/// Names of copies: to device, to host, between devices.
pub const COPY_NAMES: [&str; 3] =
    ["MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE"];

const fn counter(
    name: &'static str,
    block: &'static str,
    description: &'static str,
    expression: &'static str,
    per_xcc: bool,
    rate_per_us: u64,
) -> CounterTemplate {
    CounterTemplate { name, block, description, expression, per_xcc, rate_per_us }
}

/// Counters in the order `--counters` takes them.
#[rustfmt::skip]
pub static COUNTERS: [CounterTemplate; 10] = [
    counter("SQ_WAVES", "SQ", "Waves sent to the CUs, per XCC", "", true, 40),
    counter("GRBM_GUI_ACTIVE", "GRBM", "Cycles the GPU was busy, per XCC", "", true, 2_100),
    counter("TCC_HIT_sum", "TCC", "L2 hits over all channels, per XCC", "reduce(TCC_HIT,sum)", true, 9_000),
    counter("TCC_MISS_sum", "TCC", "L2 misses over all channels, per XCC", "reduce(TCC_MISS,sum)", true, 2_500),
    counter("SQ_INSTS_VALU", "SQ", "Vector instructions issued, per XCC", "", true, 30_000),
    counter("SQ_BUSY_CYCLES", "SQ", "Cycles a sequencer was busy, per XCC", "", true, 8_000),
    counter("SQ_WAVE_CYCLES", "SQ", "Cycles of all waves, per XCC", "", true, 160_000),
    counter("SQ_INSTS_LDS", "SQ", "LDS instructions issued, per XCC", "", true, 4_000),
    counter("OccupancyPercent", "", "Occupied wave slots", "400*SQ_WAVE_CYCLES/SQ_BUSY_CYCLES/CU_NUM", false, 0),
    counter("FETCH_SIZE", "", "Kilobytes read from memory", "(TCC_BUBBLE_sum*128+TCC_EA0_RDREQ_sum*64)/1024", false, 1_200),
];

/// Sensors whose samples are recorded.
#[rustfmt::skip]
pub static SENSORS: [CounterTemplate; 2] = [
    counter("gfxclk", "", "Clock of the compute units in MHz", "", false, 0),
    counter("socket_power", "", "Power in W", "", false, 0),
];

struct Shape {
    base_duration_us: u64,
    workgroup: [u32; 3],
    workgroups: [u32; 2],
    registers: [i64; 3],
    lds_bytes: i64,
    scratch_bytes: i64,
}

const fn shape(
    base_duration_us: u64,
    workgroup: [u32; 3],
    workgroups: [u32; 2],
    registers: [i64; 3],
    lds_bytes: i64,
) -> Shape {
    Shape { base_duration_us, workgroup, workgroups, registers, lds_bytes, scratch_bytes: 0 }
}

const fn kernel(module: Module, role: Role, shape: Shape, names: [&'static str; 3]) -> KernelTemplate {
    let [truncated_name, mangled_name, display_name] = names;
    let [arch_vgpr_count, accum_vgpr_count, sgpr_count] = shape.registers;
    KernelTemplate {
        mangled_name,
        display_name,
        truncated_name,
        module,
        role,
        base_duration_ns: shape.base_duration_us * 1_000,
        workgroup: shape.workgroup,
        workgroups: shape.workgroups,
        arch_vgpr_count,
        accum_vgpr_count,
        sgpr_count,
        lds_bytes: shape.lds_bytes,
        scratch_bytes: shape.scratch_bytes,
    }
}

const fn spilling(mut template: KernelTemplate, scratch_bytes: i64) -> KernelTemplate {
    template.scratch_bytes = scratch_bytes;
    template
}

use Module::{Attention, Blas, Collectives, Framework, Runtime};
use Role::{Backward, Both, Communication, Forward, Optimizer, Unused};

/// The kernels of a training step. Those of `Framework` are loaded once per GPU, so display names repeat.
/// The first five have every role, so that `--kernels` can cut the list there.
#[rustfmt::skip]
pub static KERNELS: [KernelTemplate; 20] = [
    kernel(Blas, Forward, shape(210, [256, 1, 1], [304, 1], [128, 128, 112], 65_536),
        ["Cijk_Alik_Bljk_BBS_BH_UserArgs_MT256x256x64_MI16x16x1_SN_WG64_4_1.kd", "Cijk_Alik_Bljk_BBS_BH_UserArgs_MT256x256x64_MI16x16x1_SN_WG64_4_1", "Cijk_Alik_Bljk_BBS_BH_UserArgs_MT256x256x64_MI16x16x1_SN_WG64_4_1"]),
    kernel(Blas, Backward, shape(260, [256, 1, 1], [608, 1], [128, 128, 112], 65_536),
        ["Cijk_Ailk_Bljk_BBS_BH_UserArgs_MT256x224x64_MI16x16x1_SN_WG32_8_1.kd", "Cijk_Ailk_Bljk_BBS_BH_UserArgs_MT256x224x64_MI16x16x1_SN_WG32_8_1", "Cijk_Ailk_Bljk_BBS_BH_UserArgs_MT256x224x64_MI16x16x1_SN_WG32_8_1"]),
    kernel(Framework, Both, shape(12, [256, 1, 1], [4_096, 1], [16, 0, 16], 0),
        ["vectorized_elementwise_kernel", "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_addIN3c108BFloat16EEESt5arrayIPcLm3EEEEviT0_T1_", "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)"]),
    kernel(Framework, Optimizer, shape(95, [512, 1, 1], [320, 1], [72, 0, 64], 0),
        ["multi_tensor_apply_kernel", "_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi4EEENS1_18FusedAdamMathFunctorEEEvv", "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<4>, FusedAdamMathFunctor>(...)"]),
    kernel(Collectives, Communication, shape(240, [512, 1, 1], [32, 1], [96, 24, 112], 25_664),
        ["ncclDevKernel_Generic_1", "_Z23ncclDevKernel_Generic_124ncclDevKernelArgsStorageILm4096EE", "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"]),
    kernel(Attention, Forward, shape(150, [256, 1, 1], [16, 128], [120, 0, 96], 34_816),
        ["kentry", "_ZN7ck_tile6kentryILi256ELi2ENS_13FmhaFwdKernelINS_26FmhaFwdTilePartitioner_HBSEEEEEvNT1_5KargsE", "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<ck_tile::FmhaFwdTilePartitioner_HBS>>(...)"]),
    spilling(kernel(Attention, Backward, shape(330, [256, 1, 1], [32, 128], [128, 128, 112], 65_536),
        ["kentry", "_ZN7ck_tile6kentryILi256ELi1ENS_19FmhaBwdDQDKDVKernelINS_23FmhaBwdTilePartitionerEEEEEvNT1_5KargsE", "void ck_tile::kentry<256, 1, ck_tile::FmhaBwdDQDKDVKernel<ck_tile::FmhaBwdTilePartitioner>>(...)"]), 256),
    kernel(Framework, Both, shape(24, [256, 1, 1], [2_048, 1], [32, 0, 32], 1_024),
        ["triton_red_fused__to_copy_add_mean_mul_rsqrt_12.kd", "triton_red_fused__to_copy_add_mean_mul_rsqrt_12", "triton_red_fused__to_copy_add_mean_mul_rsqrt_12"]),
    kernel(Blas, Both, shape(14, [256, 1, 1], [16, 4], [64, 32, 96], 16_384),
        ["Cijk_Alik_Bljk_BBS_BH_MT32x16x1024_MI16x16x1_SN_WG16_4_4.kd", "Cijk_Alik_Bljk_BBS_BH_MT32x16x1024_MI16x16x1_SN_WG16_4_4", "Cijk_Alik_Bljk_BBS_BH_MT32x16x1024_MI16x16x1_SN_WG16_4_4"]),
    kernel(Framework, Forward, shape(8, [256, 1, 1], [4_096, 1], [20, 0, 16], 0),
        ["vectorized_elementwise_kernel", "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_11FillFunctorIN3c108BFloat16EEESt5arrayIPcLm1EEEEviT0_T1_", "void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul> >(int, at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul>)"]),
    kernel(Framework, Both, shape(18, [512, 1, 1], [1_024, 1], [32, 0, 32], 4_096),
        ["reduce_kernel", "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_10MeanOpsIffEEjfLi4EEEEEvT1_", "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float>, unsigned int, float, 4> >(...)"]),
    kernel(Runtime, Unused, shape(3, [512, 1, 1], [1, 1], [16, 0, 128], 0),
        ["__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer", "__amd_rocclr_copyBuffer"]),
    kernel(Blas, Backward, shape(190, [256, 1, 1], [256, 1], [124, 128, 112], 49_152),
        ["Cijk_Ailk_Bjlk_BBS_BH_UserArgs_MT128x128x64_MI16x16x1_SN_WG32_8_1.kd", "Cijk_Ailk_Bjlk_BBS_BH_UserArgs_MT128x128x64_MI16x16x1_SN_WG32_8_1", "Cijk_Ailk_Bjlk_BBS_BH_UserArgs_MT128x128x64_MI16x16x1_SN_WG32_8_1"]),
    kernel(Attention, Forward, shape(9, [256, 1, 1], [2_048, 1], [24, 0, 32], 0),
        ["rotary_embedding_kernel", "_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, c10::BFloat16*, c10::BFloat16 const*, int, long, long, int, int, int)"]),
    kernel(Runtime, Optimizer, shape(4, [512, 1, 1], [8, 1], [16, 0, 128], 0),
        ["__amd_rocclr_fillBufferAligned.kd", "__amd_rocclr_fillBufferAligned", "__amd_rocclr_fillBufferAligned"]),
    kernel(Attention, Backward, shape(22, [256, 1, 1], [64, 32], [40, 0, 48], 0),
        ["kentry", "_ZN7ck_tile6kentryILi64ELi2ENS_21FmhaBwdOGradDotOKernelINS_1AEEEEEvNT1_5KargsE", "void ck_tile::kentry<64, 2, ck_tile::FmhaBwdOGradDotOKernel<ck_tile::A>>(...)"]),
    kernel(Framework, Both, shape(16, [128, 1, 1], [2_048, 1], [28, 0, 48], 0),
        ["elementwise_kernel_manual_unroll", "_ZN2at6native32elementwise_kernel_manual_unrollILi128ELi8EZNS0_15gpu_kernel_implINS0_13BinaryFunctorEEEEEviT1_", "void at::native::elementwise_kernel_manual_unroll<128, 8, at::native::gpu_kernel_impl<at::native::BinaryFunctor>(at::TensorIteratorBase&)::{lambda(int, bool)#1}>(...)"]),
    kernel(Framework, Forward, shape(26, [1_024, 1, 1], [2_048, 1], [44, 0, 32], 8_192),
        ["cunn_SoftMaxForward", "_ZN2at6native12_GLOBAL__N_119cunn_SoftMaxForwardILi4EfffNS1_22SoftMaxForwardEpilogueEEEvPT2_PKT0_i", "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, SoftMaxForwardEpilogue>(float*, float const*, int)"]),
    kernel(Framework, Forward, shape(21, [256, 1, 1], [1_024, 2], [36, 0, 48], 0),
        ["indexSelectLargeIndex", "_ZN2at6native12_GLOBAL__N_121indexSelectLargeIndexIN3c108BFloat16EljLi2ELi2ELin2ELb1EEEvv", "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>(...)"]),
    kernel(Framework, Forward, shape(11, [256, 1, 1], [3_072, 1], [16, 0, 32], 0),
        ["triton_poi_fused_mul_silu_3.kd", "triton_poi_fused_mul_silu_3", "triton_poi_fused_mul_silu_3"]),
];
