//! Families of kernels: their names without the parts that tuning and new builds change. The rules are
//! `share/kernel_families.toml`.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

static BUILTIN: LazyLock<Families> = LazyLock::new(|| {
    let file: RuleFile = toml::from_str(data!("share/kernel_families.toml")).unwrap_or_default();
    let compiled = file.rule.into_iter().filter_map(|rule| Some((Regex::new(&rule.pattern).ok()?, rule.with)));
    Families { rules: compiled.collect() }
});

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    rule: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    #[serde(rename = "library")]
    _library: String,
    pattern: String,
    with: String,
}

/// The rules.
pub struct Families {
    rules: Vec<(Regex, String)>,
}

impl Families {
    /// The built-in rules.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// The family of a kernel by its full name.
    pub fn of(&self, name: &str) -> String {
        self.rules
            .iter()
            .fold(name.to_owned(), |name, (pattern, with)| pattern.replace_all(&name, with.as_str()).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles() {
        let file: RuleFile = toml::from_str(data!("share/kernel_families.toml")).unwrap();
        assert_eq!(Families::builtin().rules.len(), file.rule.len());
        assert!(file.rule.len() > 8);
    }

    #[test]
    fn what_tuning_changes_goes() {
        let same = |one: &str, other: &str| assert_eq!(Families::builtin().of(one), Families::builtin().of(other));
        same(
            "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x16x256_MI16x16x1_SN_LDSB1_ISA950",
            "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x64x128_MI32x32x1_SN_LDSB0_ISA950",
        );
        same("triton_poi_fused_add_mul_12", "triton_poi_fused_add_mul_7");
        same("_attn_fwd_0d1d2d3de", "_attn_fwd_0d1d2d34d");
        same(
            "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
            "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<8192ul>)",
        );
        same("miopenSp3AsmConv_v30_3_1_gfx942_fp16_dot2_stride1", "miopenSp3AsmConv_v30_2_6_gfx90a_fp16_dot2_stride1");
        same("gemm_kernel.kd", "gemm_kernel");
        same(
            "__omp_offloading_30_57b8f__QMlaplacian_modPlaplacian_l21",
            "__omp_offloading_10302_8e818f__QMlaplacian_modPlaplacian_l21",
        );
        same("__omp_offloading_fd00_1f3a_main_l12.kd", "__omp_offloading_30_2b_main_l12");
        same(
            "void Kokkos::Experimental::Impl::hip_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<run()::{lambda(int)#1}, \
             Kokkos::RangePolicy<Kokkos::Experimental::HIP>, Kokkos::Experimental::HIP>, 1024u, 1u>(int)",
            "void Kokkos::Impl::hip_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<run()::{lambda(int)#2}, \
             Kokkos::RangePolicy<Kokkos::HIP>, Kokkos::HIP>, 1024u, 1u>(int)",
        );
        same(
            "typeinfo name for main::{lambda(sycl::_V1::handler&)#1}",
            "typeinfo name for main::{lambda(sycl::_V2::handler&)#3}",
        );
        same("void f<g()::{lambda(int)#1}>(int)", "void f<g()::{lambda(int)#2}>(int)");
        same(
            "void RAJA::policy::hip::impl::forall_hip_kernel<256ul, RAJA::Iterators::numeric_iterator<long, long, long*>, \
             rajaperf::stream::TRIAD::runHipVariantImpl<256ul>(rajaperf::VariantID)::{lambda(long)#1}, long>\
             (rajaperf::stream::TRIAD::runHipVariantImpl<256ul>(rajaperf::VariantID)::{lambda(long)#1}, long*, long)",
            "void RAJA::policy::hip::impl::forall_hip_kernel<512ul, RAJA::Iterators::numeric_iterator<long, long, long*>, \
             rajaperf::stream::TRIAD::runHipVariantImpl<512ul>(rajaperf::VariantID)::{lambda(long)#1}, long>\
             (rajaperf::stream::TRIAD::runHipVariantImpl<512ul>(rajaperf::VariantID)::{lambda(long)#1}, long*, long)",
        );
        same(
            "void RAJA::policy::hip::impl::forallp_hip_kernel<RAJA::policy::hip::hip_exec<RAJA::iteration_mapping::Direct, \
             RAJA::hip::IndexGlobal<(RAJA::named_dim)0, 256, 0>, true>, long*, main::{lambda(int)#2}, long>(main::{lambda(int)#2})",
            "void RAJA::policy::hip::impl::forallp_hip_kernel<RAJA::policy::hip::hip_exec<RAJA::iteration_mapping::Direct, \
             RAJA::hip::IndexGlobal<(RAJA::named_dim)0, 1024, 0>, true>, long*, main::{lambda(int)#3}, long>(main::{lambda(int)#3})",
        );
        same(
            "void RAJA::internal::HipKernelLauncherFixed<256, RAJA::internal::LoopData<int>, f>(f)",
            "void RAJA::internal::HipKernelLauncherFixed<128, RAJA::internal::LoopData<int>, f>(f)",
        );
        same(
            "s_compute_bubble_ee_source$m_bubbles_ee_$ck_L185_28",
            "s_compute_bubble_ee_source$m_bubbles_ee_$ck_L185_31.kd",
        );
        same("jacobi_$ck_L45_1", "jacobi_$ck_L45_2_cce$noloop$form");
        same("MAIN__$_omp_fn$3", "MAIN__._omp_fn.3");
        same("step._omp_fn.0.constprop.1", "step._omp_fn.0");
    }

    #[test]
    fn other_work_stays_apart() {
        let other = |one: &str, other: &str| assert_ne!(Families::builtin().of(one), Families::builtin().of(other));
        other("Cijk_Ailk_Bljk_BBS_BH_MT64x16x256_MI16x16x1", "Cijk_Alik_Bljk_BBS_BH_MT64x16x256_MI16x16x1");
        other("Cijk_Ailk_Bljk_SB_MT64x64x16_SE", "Cijk_Ailk_Bljk_HHS_BH_MT64x64x16_SE");
        other("triton_poi_fused_add_mul_1", "triton_poi_fused_add_1");
        other("triton_red_fused_add_1", "triton_poi_fused_add_1");
        other("void f<float>(int)", "void f<double>(int)");
        other("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)");
        other("vectorized_elementwise_kernel<4, add>", "vectorized_elementwise_kernel<8, add>");
        other("__omp_offloading_30_57b8f_main_l21", "__omp_offloading_30_57b8f_main_l42");
        other("__omp_offloading_30_57b8f_main_l21", "__omp_offloading_30_57b8f_step_l21");
        other("void Kokkos::Impl::f<Kokkos::HIP>(int)", "void Kokkos::Impl::f<Kokkos::Serial>(int)");
        other(
            "void RAJA::internal::HipKernelLauncherFixed<256, RAJA::statement::For<0, RAJA::statement::For<1, f>>>(f)",
            "void RAJA::internal::HipKernelLauncherFixed<256, RAJA::statement::For<1, RAJA::statement::For<0, f>>>(f)",
        );
        other(
            "void RAJA::policy::hip::impl::forall_hip_kernel<256ul, long*, rajaperf::stream::TRIAD::run()::{lambda(long)#1}>(long)",
            "void RAJA::policy::hip::impl::forall_hip_kernel<256ul, long*, rajaperf::stream::COPY::run()::{lambda(long)#1}>(long)",
        );
        other(
            "RAJA::hip::IndexGlobal<(RAJA::named_dim)0, 256, 0>",
            "RAJA::hip::IndexGlobal<(RAJA::named_dim)1, 256, 0>",
        );
        other("jacobi_$ck_L45_1", "jacobi_$ck_L58_1");
        other("main._omp_fn.0", "main._omp_fn.1");
    }
}
