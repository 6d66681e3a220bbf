use proptest::prelude::*;

use crate::analysis::kernel_names::*;

/// Display name, short form, base form.
const NAMES: [(&str, &str, &str); 46] = [
    (
        "void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul> >(int, at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul>)",
        "at::native::vectorized_elementwise_kernel<...>",
        "vectorized_elementwise_kernel",
    ),
    (
        "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#4}::operator()() const::{lambda(long)#1}>(at::TensorIteratorBase&, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#4}::operator()() const::{lambda(long)#1} const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl<int>)",
        "at::native::elementwise_kernel<...>",
        "elementwise_kernel",
    ),
    (
        "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)",
        "at::native::(anonymous namespace)::cunn_SoftMaxForward<...>",
        "cunn_SoftMaxForward",
    ),
    (
        "std::enable_if<(((8)>(0)))&&_typeConvert<c10::Half>::exists, void>::type vllm::fused_add_rms_norm_kernel<c10::Half, 8>(c10::Half*, c10::Half*, int)",
        "vllm::fused_add_rms_norm_kernel<...>",
        "fused_add_rms_norm_kernel",
    ),
    (
        "void vllm::reshape_and_cache_kernel<unsigned short, unsigned char, (vllm::Fp8KVCacheDataType)1>(unsigned short const*, int)",
        "vllm::reshape_and_cache_kernel<...>",
        "reshape_and_cache_kernel",
    ),
    (
        "void cpy_scalar<&(void cpy_1_scalar<float, float>(char const*, char*))>(char const*, char*, long)",
        "cpy_scalar<...>",
        "cpy_scalar",
    ),
    ("void unary_op_kernel<&(op_sigmoid(float)), float>(float const*)", "unary_op_kernel<...>", "unary_op_kernel"),
    ("void mul_mat_q<(ggml_type)12, 128, false>(char const*, int const*)", "mul_mat_q<...>", "mul_mat_q"),
    ("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic_1", "ncclDevKernel_Generic_1"),
    ("vecCopy(double*, double*, double*, int, int)", "vecCopy", "vecCopy"),
    ("vecCopy(double*, double*, double*, int, int) [clone .kd]", "vecCopy", "vecCopy"),
    (
        "at::native::_assert_async_cuda_kernel(bool const*) [clone .kd]",
        "at::native::_assert_async_cuda_kernel",
        "_assert_async_cuda_kernel",
    ),
    ("__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer", "__amd_rocclr_copyBuffer"),
    ("attn_fwd.kd", "attn_fwd", "attn_fwd"),
    ("Task", "Task", "Task"),
    (
        "Cijk_Ailk_Bljk_BBS_BH_MT16x16x64_MI16x16x16x1_SN.kd",
        "Cijk_Ailk_Bljk_BBS_BH_MT16x16x64_MI16x16x16x1_SN",
        "Cijk_Ailk_Bljk_BBS_BH_MT16x16x64_MI16x16x16x1_SN",
    ),
    (
        "triton_red_fused__softmax_lt_scalar_tensor_where_16",
        "triton_red_fused__softmax_lt_scalar_tensor_where_16",
        "triton_red_fused__softmax_lt_scalar_tensor_where_16",
    ),
    ("_ZN2at6native4fillIfEEvi.kd", "_ZN2at6native4fillIfEEvi", "_ZN2at6native4fillIfEEvi"),
    (
        "_ZN12_GLOBAL__N_113oneRankReduceI13FuncPreMulSumIdEEEvPvS3_mmb.intern.b96e08b3df0d779d.kd",
        "_ZN12_GLOBAL__N_113oneRankReduceI13FuncPreMulSumIdEEEvPvS3_mmb.intern.b96e08b3df0d779d",
        "_ZN12_GLOBAL__N_113oneRankReduceI13FuncPreMulSumIdEEEvPvS3_mmb.intern.b96e08b3df0d779d",
    ),
    // Cut off by a profiler.
    ("memcpy_coalesced(float*, float const*, i", "memcpy_coalesced", "memcpy_coalesced"),
    ("void rocprim::detail::block_reduce_kerne", "rocprim::detail::block_reduce_kerne", "block_reduce_kerne"),
    ("void at::native::fill<4, std::array<char*, 1u", "at::native::fill<...>", "fill"),
    ("void foo", "foo", "foo"),
    ("foo(int) [clone .k", "foo", "foo"),
    ("void at::native::(anonymous namesp", "at::native::(anonymous namesp", "(anonymous namesp"),
    // Operators and lambdas.
    ("void ns::functor<int>::operator()<4>(float) const", "ns::functor<...>::operator()<...>", "operator()"),
    ("ns::functor::operator()(int) const", "ns::functor::operator()", "operator()"),
    ("bool ns::operator< <int>(ns::a<int> const&, int)", "ns::operator< <...>", "operator<"),
    ("ns::operator<<(ns::a, int)", "ns::operator<<", "operator<<"),
    ("void ns::operator<< <int>(ns::a, int)", "ns::operator<< <...>", "operator<<"),
    ("ns::handle<int>::operator->()", "ns::handle<...>::operator->", "operator->"),
    ("ns::handle::operator bool() const", "ns::handle::operator bool", "operator bool"),
    ("void apply<&ns::operator< >(int)", "apply<...>", "apply"),
    ("void run(int)::{lambda(int)#1}::operator()(int) const", "run::{lambda(int)#1}::operator()", "operator()"),
    ("run(int)::operator()() const::{lambda(long)#2}::call(int)", "run::operator()::{lambda(long)#2}::call", "call"),
    ("run(int)::'lambda'(int)::operator()(int) const", "run::'lambda'::operator()", "operator()"),
    ("run()::$_0::operator()(int) const", "run::$_0::operator()", "operator()"),
    ("decltype(auto) ns::pick<int>(int)", "ns::pick<...>", "pick"),
    ("float *ns::pick(int)", "ns::pick", "pick"),
    ("tagged[abi:cxx11](int)", "tagged", "tagged"),
    // Not C++.
    ("my kernel with spaces", "my kernel with spaces", "my kernel with spaces"),
    ("copy kernel (fast)", "copy kernel (fast)", "copy kernel (fast)"),
    ("[CUDA memcpy HtoD]", "[CUDA memcpy HtoD]", "[CUDA memcpy HtoD]"),
    ("<unknown>", "<unknown>", "<unknown>"),
    (", unsigned int, float, ...", ", unsigned int, float, ...", ", unsigned int, float, ..."),
    (".kd", ".kd", ".kd"),
];

#[test]
fn known_names() {
    for (display, short, base) in NAMES {
        assert_eq!(short_name(display), short, "short form of {display}");
        assert_eq!(base_name(display), base, "base form of {display}");
    }
}

#[test]
fn descriptor_marks() {
    assert_eq!(strip_kd("a.kd"), "a");
    assert_eq!(strip_kd("a(int) [clone .kd]"), "a(int)");
    assert_eq!(strip_kd("a.kd [clone .kd]"), "a");
    assert_eq!(strip_kd("a.kde"), "a.kde");
    assert_eq!(strip_kd("[clone .kd]"), "[clone .kd]");
    assert_eq!(strip_kd(""), "");
}

#[test]
fn identifiers_of_mangled_names() {
    assert_eq!(mangled_base("_ZN2at6native4fillIfEEvi"), Some("fill"));
    assert_eq!(
        mangled_base("_Z35paged_attention_ll4mi_reduce_kernelIDF16_Li128EEvPT_"),
        Some("paged_attention_ll4mi_reduce_kernel")
    );
    assert_eq!(mangled_base("_ZN12_GLOBAL__N_113oneRankReduceI13FuncPreMulSumIdEEEvPv"), Some("oneRankReduce"));
    assert_eq!(mangled_base("_ZNK2ns1a4callEv"), Some("call"));
    for name in ["fill", "_ZZN1a1bEv", "_Z", "_Z99short", "_Z99999999999999999999999x", "_RNvC1a"] {
        assert_eq!(mangled_base(name), None, "{name}");
    }
}

/// Bits of which every name consists, put together without sense.
fn nonsense() -> impl Strategy<Value = String> {
    let bits = [
        "foo",
        "ns",
        "::",
        "<",
        ">",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        " ",
        ",",
        "*",
        "&",
        "'lambda'",
        "operator",
        "operator<",
        "operator()",
        "operator->",
        "(anonymous namespace)",
        "{lambda(int)#1}",
        ".kd",
        " [clone .kd]",
        "const",
        "void",
        "é",
        "_Z",
        "4",
        "-",
        "->",
        ":",
        "decltype(",
        "[abi:x]",
        "~",
        "#1",
        "...",
        "operator bool",
        "\n",
        "\"\"",
    ];
    prop::collection::vec(prop::sample::select(bits.to_vec()), 0..14).prop_map(|bits| bits.concat())
}

fn check_laws(name: &str) -> Result<(), TestCaseError> {
    let (short, base) = (short_name(name), base_name(name));
    prop_assert_eq!(short.is_empty(), name.is_empty());
    prop_assert_eq!(base.is_empty(), name.is_empty());
    prop_assert_eq!(short_name(&short), short.clone());
    prop_assert_eq!(base_name(&base), base);
    let stripped = strip_kd(name);
    prop_assert_eq!(strip_kd(stripped), stripped);
    let _ = mangled_base(name);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn nonsense_keeps_the_laws(name in nonsense()) {
        check_laws(&name)?;
    }

    #[test]
    fn any_string_keeps_the_laws(name in any::<String>()) {
        check_laws(&name)?;
    }
}

#[test]
fn hostile_nesting_is_neither_deep_nor_slow() {
    let opening = "a<(".repeat(100_000);
    let comparing = "a<".repeat(100_000);
    let closing = ")".repeat(100_000);
    for inside in [opening, format!("{comparing}{closing}"), format!("{{{comparing}{closing}")] {
        let name = format!("void foo<{inside}");
        assert_eq!(short_name(&name), "foo<...>");
        assert_eq!(base_name(&name), "foo");
    }
}
