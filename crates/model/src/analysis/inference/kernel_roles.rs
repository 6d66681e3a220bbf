//! Roles of kernels in their steps, inferred from their names.

use crate::analysis::categories::{Categories, CategoryError};
use crate::analysis::kernel_names::base_name;

const RULES: &str = data!("share/inference_kernels.toml");

spelled! {
    /// Role of a kernel in a step, if it helps to separate steps or their kinds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Role by word {
        Training = "training",
        Image = "image",
        DecodeAttention = "decode_attention",
        PrefillAttention = "prefill_attention",
        SharedAttention = "shared_attention",
        CacheWrite = "cache_write",
        TokenChoice = "token_choice",
        Embedding = "embedding",
    }
}

impl Role {
    /// Whether only models of language have it: what follows a chosen token and has it belongs to another step.
    pub(crate) fn is_of_model(self) -> bool {
        !matches!(self, Self::Training | Self::Image | Self::TokenChoice)
    }
}

/// The rules of `share/inference_kernels.toml`.
pub struct KernelRoles(Categories);

impl KernelRoles {
    /// Those of the binary.
    ///
    /// # Errors
    /// When the file is wrong, which the tests exclude.
    pub fn builtin() -> Result<Self, CategoryError> {
        Ok(Self(Categories::of_rules(RULES, "built-in roles of kernels")?))
    }

    /// The role of a kernel by its display name.
    pub fn role(&self, display_name: &str) -> Option<Role> {
        let word = self.0.category(&base_name(display_name), display_name);
        Role::ALL.into_iter().find(|role| role.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_gives_a_role() {
        let roles = KernelRoles::builtin().unwrap();
        let ids = roles.0.ids();
        assert_eq!(ids.len(), Role::ALL.len() + 1, "{ids:?}");
        assert!(Role::ALL.iter().all(|role| ids.contains(&role.word())), "{ids:?}");
    }

    #[test]
    fn names_of_kernels_have_their_roles() {
        let roles = KernelRoles::builtin().unwrap();
        for (role, names) in [
            (
                Some(Role::DecodeAttention),
                &[
                    "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType)0, 1, 128, 256, false, 4, 1, ck_tile::ComposedAttention<0u, false> >(__hip_bfloat16 const*)",
                    "void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128, 128, 256, 3, false>(__hip_bfloat16*)",
                    "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64VarSeqQ8Kv128PersistentSwapsAbForGen",
                    "kernel_unified_attention_3d",
                    "kernel_paged_attention_2d",
                    "_fwd_grouped_kernel_stage1",
                    "_fwd_kernel_stage2",
                    "_ZN5aiter39mla_dec_stage1_bf16_a16w16_subQ16_mqa16E",
                ][..],
            ),
            (
                Some(Role::PrefillAttention),
                &[
                    "_fwd_kernel",
                    "attn_fwd",
                    "void ck_tile::kentry<256, 1, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync<int> > >(int)",
                    "_ZN5aiter26fmha_fwd_hd128_bf16_causalE",
                    "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64> >(Flash_fwd_params)",
                ],
            ),
            (
                Some(Role::SharedAttention),
                &[
                    "kernel_unified_attention_2d",
                    "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128> >(Flash_fwd_params)",
                    "some_attention_kernel",
                ],
            ),
            (
                Some(Role::CacheWrite),
                &[
                    "void (anonymous namespace)::store_kvcache<2048l, 4, false, long>((anonymous namespace)::StoreKVCacheParams)",
                    "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType)0>(int)",
                ],
            ),
            (
                Some(Role::TokenChoice),
                &[
                    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, long, 4, 4> >(int)",
                    "triton_red_fused__softmax__to_copy_argmax_div_exponential_lt_scalar_tensor_where_20",
                    "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u>(float*)",
                ],
            ),
            (
                Some(Role::Embedding),
                &["triton_red_fused__to_copy_embedding_mean_mul_0", "triton_poi_fused_embedding_0"],
            ),
            (
                Some(Role::Training),
                &["attn_bwd", "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<int>(int)", "bwd_kernel_dk_dv"],
            ),
            (
                Some(Role::Image),
                &[
                    "void (anonymous namespace)::groupnorm_kernel_dispatch_up<__hip_bfloat16, 1024u>(unsigned int, unsigned int)",
                    "void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<c10::BFloat16>(c10::BFloat16 const*)",
                    "triton_red_fused_native_group_norm_silu_3",
                ],
            ),
            (
                None,
                &[
                    "void rotary_embedding_kernel<c10::BFloat16, true>(long const*)",
                    "Cijk_Alik_Bljk_BBS_BH_MT64x32x256_MI16x16x1",
                    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::Copy<long, long> >(int)",
                    "void at::native::sbtopk::gatherTopK<c10::BFloat16, unsigned int, 2, false>(int)",
                    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib",
                ],
            ),
        ] {
            for name in names {
                assert_eq!(roles.role(name), role, "{name}");
            }
        }
    }
}
