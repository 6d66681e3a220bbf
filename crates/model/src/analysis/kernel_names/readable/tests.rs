use std::collections::BTreeSet;

use proptest::prelude::*;

use super::facts::{File, facts};
use super::*;

/// Full name and readable form.
const NAMES: &str = data!("fixtures/kernel_names/readable.txt");

fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_once('\t').unwrap())
}

#[test]
fn names_by_library() {
    for (name, form) in rows() {
        assert_eq!(readable(name), form, "{name}");
    }
}

#[test]
fn every_fact_is_read() {
    let file: File = toml::from_str(data!("share/readable_names.toml")).unwrap();
    assert_eq!(facts().rules.len(), file.rule.len());
    assert_eq!(facts().tiles.len(), file.tiles.patterns.len());
}

fn shown(names: &[&str]) -> Vec<String> {
    let readable = ReadableNames::new(names.iter().copied());
    names.iter().map(|name| readable.shown(name).into_owned()).collect()
}

#[test]
fn the_first_difference_is_added() {
    let add = |size: u8| {
        format!("void at::native::vectorized_elementwise_kernel<{size}, at::native::CUDAFunctor_add<float>>(int)")
    };
    assert_eq!(shown(&[&add(4), &add(8)]), ["vectorized_add<float> 4", "vectorized_add<float> 8"]);
    let gemm = |layout: &str, rest: &str| format!("Cijk_{layout}_BBS_BH_MT256x224x64_MI16x16x1_{rest}");
    let same = [gemm("Ailk_Bljk", "SN_K1"), gemm("Alik_Bljk", "SN_K1"), gemm("Alik_Bljk", "SN_GSU2")];
    let same: Vec<&str> = same.iter().map(String::as_str).collect();
    let forms = ["Cijk BBS MT256x224x64 NN", "Cijk BBS MT256x224x64 TN K1", "Cijk BBS MT256x224x64 TN GSU2"];
    assert_eq!(shown(&same), forms);
    assert_eq!(shown(&["f(int)", "f(float)"]), ["f int", "f float"]);
    assert_eq!(shown(&["one::f(int)", "two::f(int)"]), ["f one", "f two"]);
    assert_eq!(shown(&["f", "f.kd"]), ["f", "f .kd"]);
    // Nothing but a sign differs.
    let signs = shown(&["f(int*)", "f(int&)"]);
    assert!(signs.iter().all(|form| form.len() == "f #0123".len() && form.starts_with("f #")), "{signs:?}");
}

#[test]
fn names_that_are_not_functions_stay() {
    for name in ["'quote\"dq(int)", "=HYPERLINK(\"http://x\")", "-2", "\u{1b}[31mred(int)", "a(int) > b(int)"] {
        assert_eq!(readable(name), name);
    }
}

#[test]
fn kernels_in_a_row() {
    let [one, other] = ["void ns::mul<a<int> >(int)", "void ns::add<a<b<int> > const>(int)"];
    let names = ReadableNames::new([one, other]);
    assert_eq!(names.shown(&format!("{one} > {other}")), "mul<a> > add<a>");
    assert_eq!(names.shown("x > y"), "x > y");
}

#[test]
fn a_form_finds_its_kernel() {
    let names: Vec<&str> = rows().map(|(name, _)| name).collect();
    let readable = ReadableNames::new(names.iter().copied());
    for name in names {
        assert!(is_readable_form(&readable.shown(name), name), "{name}");
        assert!(!is_readable_form("vectorized_add<bf16> 8 array x", name));
    }
}

#[test]
fn hostile_names_are_neither_deep_nor_slow() {
    let nested = "a<(".repeat(40_000);
    let wrapped = "ns::gpu_kernel_impl<".repeat(5_000);
    let lambdas = "'lambda'(".repeat(10_000);
    let words = "x_".repeat(50_000);
    let names = [
        format!("void elementwise_kernel<{nested}"),
        format!("void at::native::elementwise_kernel<{wrapped}>(int)"),
        format!("f({lambdas}"),
        format!("Cijk_{words}MT1x1"),
        format!("triton_poi_fused_{words}1"),
    ];
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(shown(&names).len(), names.len());
}

/// Parts of names, combined at random, and with the names of libraries.
fn name() -> impl Strategy<Value = String> {
    let bits = "foo|ns|::|<|>|(|)|{|}|[|]| |, |*|&|'lambda'|{lambda(int)#1}|operator()|(anonymous namespace)|.kd|const|\
                void |é|_Z|4|(ns::k)3|elementwise_kernel|kentry|gpu_kernel_impl|Cijk_Ailk_Bljk_|MT1x2x3|_|\
                triton_poi_fused_|trampoline_kernel|float|unsigned int|\n|#| > ";
    prop::collection::vec(prop::sample::select(bits.split('|').collect::<Vec<_>>()), 0..12)
        .prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn different_names_stay_different(names in prop::collection::btree_set(prop_oneof![name(), any::<String>()], 0..40)) {
        let readable = ReadableNames::new(names.iter().map(String::as_str));
        let forms: BTreeSet<String> = readable.0.values().cloned().collect();
        prop_assert_eq!(forms.len(), names.len());
        for name in names.iter().filter(|name| !name.trim().is_empty()) {
            prop_assert!(!readable.shown(name).trim().is_empty(), "{name}");
        }
        let again = ReadableNames::new(names.iter().rev().map(String::as_str));
        prop_assert_eq!(readable.0, again.0);
    }
}
