use proptest::prelude::*;

use crate::analysis::kernel_names::*;

/// Display name, short form, base form.
const NAMES: &str = data!("fixtures/kernel_names/forms.txt");

#[test]
fn known_names() {
    for line in NAMES.lines().filter(|line| !line.starts_with('#')) {
        let [display, short, base] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert_eq!((short_name(display).as_str(), base_name(display).as_str()), (short, base), "forms of {display}");
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

/// Typical parts of names, combined at random.
fn nonsense() -> impl Strategy<Value = String> {
    let bits = "foo|ns|::|<|>|(|)|{|}|[|]| |,|*|&|'lambda'|operator|operator<|operator()|operator->|\
                (anonymous namespace)|{lambda(int)#1}|.kd| [clone .kd]|const|void|é|_Z|4|-|->|:|\
                decltype(|[abi:x]|~|#1|...|operator bool|\n|\"\"";
    prop::collection::vec(prop::sample::select(bits.split('|').collect::<Vec<_>>()), 0..14)
        .prop_map(|bits| bits.concat())
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
