use crate::analysis::categories::rules::words;
use crate::analysis::categories::*;
use crate::analysis::kernel_names::base_name;

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
fn names_have_their_categories() {
    for line in data!("fixtures/kernel_names/categories.txt").lines().filter(|line| !line.starts_with('#')) {
        let (category, name) = line.split_once('\t').unwrap();
        assert_eq!(Categories::builtin().category(&base_name(name), name), category, "{name}");
    }
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

#[test]
fn errors_name_file_rule_reason_and_remedy() {
    for (text, expected) in [
        (
            "[[rule]]\ncategory = 1\n",
            "mine.toml, line 2: not a valid rule file: invalid type: integer `1`, expected a string; compare it with the built-in kernel_categories.toml",
        ),
        (
            "[[rule]]\ncategory = \"a\"\ntoken = [\"x\"]\n",
            "mine.toml, line 3: not a valid rule file: unknown field `token`, expected one of `category`, `doc`, `tokens`, `prefixes`, `regex`, `not`, `before`; compare it with the built-in kernel_categories.toml",
        ),
        (
            "[[rule]]\ncategory = \"My Category\"\ntokens = [\"x\"]\n",
            "mine.toml, rule 1: category 'My Category' is not snake_case; use lower-case letters, digits and underscores",
        ),
        (
            "[[rule]]\ncategory = \"mine\"\n",
            "mine.toml, rule 1 (mine): it has no pattern and matches nothing; give it tokens, prefixes or regex",
        ),
        (
            "[[rule]]\ncategory = \"mine\"\ntokens = [\"__\"]\n",
            "mine.toml, rule 1 (mine): the pattern '__' has no letter or digit; remove it or use regex",
        ),
        (
            "[[rule]]\ncategory = \"mine\"\nregex = [\"a(\"]\n",
            "mine.toml, rule 1 (mine): the regex 'a(' is invalid: unclosed group; correct or quote it",
        ),
        (
            "[[rule]]\ncategory = \"mine\"\ntokens = [\"x\"]\nbefore = \"gemm\"\n",
            "mine.toml, rule 1 (mine): before = 'gemm' is not known; write \"communication\" or remove it",
        ),
    ] {
        assert_eq!(Categories::with_user_rules(text, "mine.toml").unwrap_err().to_string(), expected);
    }
}
