use crate::analysis::categories::rules::words;
use crate::analysis::categories::*;
use crate::analysis::kernel_names::base_name;

fn category_of(name: &str) -> String {
    Categories::builtin().category(&base_name(name), name).to_owned()
}

fn assert_all(expected: &str, names: &[&str]) {
    for name in names {
        assert_eq!(category_of(name), expected, "{name}");
    }
}

#[test]
fn the_embedded_rules_are_valid() {
    if let Err(error) = rules::parse(BUILTIN_RULES, "built-in", Origin::Builtin) {
        panic!("{error}");
    }
    let categories = Categories::builtin();
    assert_eq!(categories.ids().first(), Some(&COMMUNICATION));
    assert_eq!(categories.ids().last(), Some(&OTHER));
}

#[test]
fn communication_is_never_mistaken() {
    assert_all(
        COMMUNICATION,
        &[
            "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "ncclDevKernel_Broadcast_RING_SIMPLE_Sum_i8(ncclDevComm*, unsigned long, ncclWork*)",
            "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t",
            "rccl_main_kernel",
            "mscclKernel_Sum_half_LL_false(ncclDevComm*, mscclAlgo*)",
            "void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*, int)",
            "void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8>(int)",
            "void mscclpp::allreduce<float>(float*, int)",
            "mscclpp::allreduce",
            "void c10d::intra_node_comm::oneShotAllReduceKernel<8u, true>(c10::BFloat16*, unsigned long)",
            "custom_all_reduce_kernel",
            "_ZN12_GLOBAL__N_113oneRankReduceI13FuncPreMulSumIdEEEvPvS3_mmb.intern.b96e08b3df0d779d",
            "void deep_ep::intranode::dispatch<8, 512>(int)",
        ],
    );
}

#[test]
fn known_misfires_of_other_tools() {
    assert_all(
        "elementwise",
        &["convert_fp16_kernel", "convert_fp32_to_bf16_kernel", "broadcast_add_kernel", "broadcast_kernel"],
    );
    assert_all("scan", &["cumsum_kernel", "tensor_kernel_scan_innermost_dim"]);
    assert_all(
        "attention",
        &["paged_attention_ll4mi_QKV_kernel", "flash_attn_fwd", "attn_fwd", "fmha_fwd_hd128_bf16", "bwd_kernel_fuse"],
    );
    assert_all("attention", &["_Z35paged_attention_ll4mi_reduce_kernelIDF16_Li128ELi128ELi512EEvPT_PKfS3_PKS0_PKii"]);
    assert_all(
        "normalization",
        &["layernorm_reduce", "rms_norm_f32", "void ns::LayerNormForwardCUDAKernel<float>(int)"],
    );
    assert_all("softmax", &["softmax", "void ns::cunn_SoftMaxForward<4, float>(float*)", "softmax_warp_forward"]);
    assert_all(
        "gemm",
        &[
            "wvSplitKQ_hf_sml_",
            "void wvSpltK_hf_sml_<64, 2>(int)",
            "Cijk_Ailk_Bljk_BBS_BH_MT16x16x64",
            "void mul_mat_q<(ggml_type)12>(int)",
        ],
    );
    assert_all("fill", &["__amd_rocclr_fillBufferAligned", "__amd_rocclr_fillBufferAligned2D.kd"]);
    assert_all("copy", &["__amd_rocclr_copyBuffer", "__amd_rocclr_copyBufferRect.kd"]);
    assert_all("graph_task", &["Task"]);
    assert_all("sort", &["topk_kernel", "void at::native::sbtopk::gatherTopK<float, int, 1>(int)"]);
    assert_all("triton", &["triton_poi_fused_clone_5"]);
    assert_eq!(category_of("consume_tokens"), OTHER);
}

#[test]
fn template_arguments_do_not_decide() {
    assert_all(
        "elementwise",
        &[
            "void at::native::elementwise_kernel<128, 4, at::native::ReduceOp<float> >(int)",
            "void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul> >(int)",
            "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEEEEviT0_",
        ],
    );
    // Nothing known in the base name, so that the arguments are all there is.
    assert_all("gemm", &["void kentry<256, ck_tile::GemmKernel<int> >(int)"]);
    // Words of different arguments are not a phrase.
    assert_eq!(category_of("void kentry<all, reduced>(int, all, int)"), OTHER);
}

#[test]
fn words_of_names() {
    assert_eq!(words("LayerNormForwardCUDAKernel"), ["layer", "norm", "forward", "cuda", "kernel"]);
    assert_eq!(words("paged_attention_ll4mi"), ["paged", "attention", "ll", "4", "mi"]);
    assert_eq!(words("wvSplitK::x<2>"), ["wv", "split", "k", "x", "2"]);
    assert!(words("<>__").is_empty());
}

#[test]
fn odd_names_are_other() {
    for name in ["", "0", "::", "\u{0}", "éß漢"] {
        assert_eq!(Categories::builtin().category(name, name), OTHER);
    }
}

fn with_rules(text: &str) -> Categories {
    Categories::with_user_rules(text, "mine.toml").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn user_rules_come_first_but_for_communication() {
    let mine = with_rules("[[rule]]\ncategory = \"solver\"\ntokens = [\"softmax\", \"nccl\"]\n");
    assert_eq!(mine.category("softmax_kernel", "softmax_kernel"), "solver");
    assert_eq!(mine.category("ncclDevKernel_Generic_1", ""), COMMUNICATION);
    assert!(mine.ids().contains(&"solver"));

    let more = with_rules("[[rule]]\ncategory = \"communication\"\nprefixes = [\"Halo_\"]\n");
    assert_eq!(more.category("halo_exchange", "halo_exchange"), COMMUNICATION);
    assert_eq!(more.category("ncclDevKernel_Generic_1", ""), COMMUNICATION);

    let meant = with_rules("[[rule]]\ncategory = \"barrier\"\ntokens = [\"nccl\"]\nbefore = \"communication\"\n");
    assert_eq!(meant.category("ncclDevKernel_Generic_1", ""), "barrier");
}

#[test]
fn not_keeps_a_rule_from_matching() {
    let mine = with_rules("[[rule]]\ncategory = \"solver\"\nregex = ['^step\\d+']\nnot = [\"norm\"]\n");
    assert_eq!(mine.category("Step12_pressure", ""), "solver");
    assert_eq!(mine.category("step12_norm", ""), "normalization");
}

#[test]
fn the_hash_follows_the_rules() {
    let builtin = Categories::builtin().hash();
    assert_eq!(builtin.len(), 16);
    assert_eq!(builtin, Categories::builtin().hash());
    let mine = with_rules("[[rule]]\ncategory = \"solver\"\ntokens = [\"step\"]\n").hash();
    assert_ne!(builtin, mine);
    // The test vector of FNV-1a, without the closing byte.
    assert_eq!(hash_texts(&[]), 0xcbf2_9ce4_8422_2325);
}

fn error_of(text: &str) -> String {
    Categories::with_user_rules(text, "mine.toml").map_or_else(|error| error.to_string(), |_| String::from("no error"))
}

#[test]
fn errors_name_file_rule_reason_and_remedy() {
    let messages = [
        error_of("[[rule]]\ncategory = 1\n"),
        error_of("[[rule]]\ncategory = \"a\"\ntoken = [\"x\"]\n"),
        error_of("[[rule]]\ncategory = \"My Category\"\ntokens = [\"x\"]\n"),
        error_of("[[rule]]\ncategory = \"mine\"\n"),
        error_of("[[rule]]\ncategory = \"mine\"\ntokens = [\"__\"]\n"),
        error_of("[[rule]]\ncategory = \"mine\"\nregex = [\"a(\"]\n"),
        error_of("[[rule]]\ncategory = \"mine\"\ntokens = [\"x\"]\nbefore = \"gemm\"\n"),
    ];
    let expected = [
        "mine.toml, line 2: not a valid rule file: invalid type: integer `1`, expected a string; compare it with the built-in kernel_categories.toml",
        "mine.toml, line 3: not a valid rule file: unknown field `token`, expected one of `category`, `doc`, `tokens`, `prefixes`, `regex`, `not`, `before`; compare it with the built-in kernel_categories.toml",
        "mine.toml, rule 1: category 'My Category' is not snake_case; use lower-case letters, digits and underscores",
        "mine.toml, rule 1 (mine): it has no pattern and matches nothing; give it tokens, prefixes or regex",
        "mine.toml, rule 1 (mine): the pattern '__' has no letter or digit; remove it or use regex",
        "mine.toml, rule 1 (mine): the regex 'a(' is invalid: unclosed group; correct or quote it",
        "mine.toml, rule 1 (mine): before = 'gemm' is not known; write \"communication\" or remove it",
    ];
    assert_eq!(messages, expected);
}
