//! The rules of `share/instructions.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use regex::RegexSet;
use serde::Deserialize;

use crate::analysis::instructions::mnemonic;

const RULES: &str = data!("share/instructions.toml");
/// Class of instructions that no rule knows.
const OTHER: &str = "other";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    class: Vec<ClassRule>,
    branches: BranchRules,
    operation: Vec<OperationRule>,
    generation: Vec<GenerationRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassRule {
    class: String,
    #[serde(rename = "doc")]
    _doc: String,
    mnemonics: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BranchRules {
    direct: Vec<String>,
    r#final: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperationRule {
    kind: String,
    instructions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GenerationRule {
    name: String,
    signs: Vec<String>,
    ordered: Vec<Vec<String>>,
    counters: BTreeMap<String, Vec<String>>,
}

/// Which of several words belongs to a text, by patterns in order.
#[derive(Debug, Default)]
struct Chooser {
    patterns: RegexSet,
    words: Vec<String>,
}

impl Chooser {
    fn new<'a>(rules: impl Iterator<Item = (&'a str, &'a [String])>) -> Result<Self> {
        let (mut patterns, mut words) = (Vec::new(), Vec::new());
        for (word, of_word) in rules {
            patterns.extend(of_word.iter().map(|pattern| format!("^(?:{pattern})$")));
            words.extend(of_word.iter().map(|_| word.to_owned()));
        }
        Ok(Self { patterns: RegexSet::new(patterns)?, words })
    }

    fn choose(&self, text: &str) -> Option<&str> {
        self.words.get(self.patterns.matches(text).iter().next()?).map(String::as_str)
    }

    fn knows(&self, text: &str) -> bool {
        self.patterns.is_match(text)
    }
}

/// Events that the counters of a generation of GPUs count.
#[derive(Debug)]
pub struct Generation {
    /// Name.
    pub name: String,
    signs: Chooser,
    ordered: Vec<Vec<String>>,
    counters: BTreeMap<String, Vec<String>>,
}

impl Generation {
    pub fn counters(&self) -> impl Iterator<Item = &str> {
        self.counters.keys().map(String::as_str)
    }

    /// Whether a counter counts operations of a kind.
    pub fn counts(&self, counter: &str, kind: &str) -> bool {
        self.counters.get(counter).is_some_and(|kinds| kinds.iter().any(|other| other == kind))
    }

    /// Whether operations of these kinds finish in the order in which they were issued.
    pub(crate) fn finish_in_order<'a>(&self, mut kinds: impl Iterator<Item = &'a str>) -> bool {
        let Some(first) = kinds.next() else { return true };
        let group = self.ordered.iter().find(|group| group.iter().any(|kind| kind == first));
        group.is_some_and(|group| kinds.all(|kind| group.iter().any(|other| other == kind)))
    }
}

#[derive(Debug, Default)]
pub struct InstructionRules {
    classes: Chooser,
    direct: Chooser,
    r#final: Chooser,
    operations: Chooser,
    generations: Vec<Generation>,
}

impl InstructionRules {
    /// Those of `share/instructions.toml`; a test reads them, so that they are never without rules.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<InstructionRules> = OnceLock::new();
        BUILTIN.get_or_init(|| Self::parse(RULES).unwrap_or_default())
    }

    fn parse(text: &str) -> Result<Self> {
        let file: RuleFile = toml::from_str(text).context("the rules of instructions are no TOML")?;
        let flat = |patterns: &[String]| Chooser::new(std::iter::once(("", patterns)));
        let generation = |rule: GenerationRule| {
            let GenerationRule { name, signs, ordered, counters } = rule;
            Ok(Generation { signs: flat(&signs)?, name, ordered, counters })
        };
        Ok(Self {
            classes: Chooser::new(file.class.iter().map(|rule| (rule.class.as_str(), rule.mnemonics.as_slice())))?,
            direct: flat(&file.branches.direct)?,
            r#final: flat(&file.branches.r#final)?,
            operations: Chooser::new(
                file.operation.iter().map(|rule| (rule.kind.as_str(), rule.instructions.as_slice())),
            )?,
            generations: file.generation.into_iter().map(generation).collect::<Result<_>>()?,
        })
    }

    /// The class of an instruction with its operands.
    pub fn class(&self, instruction: &str) -> &str {
        self.classes.choose(&mnemonic(instruction).to_ascii_lowercase()).unwrap_or(OTHER)
    }

    /// Whether the last operand of a branch is its target.
    pub fn is_direct(&self, mnemonic: &str) -> bool {
        self.direct.knows(mnemonic)
    }

    /// Whether the next instruction never runs right after this one.
    pub(crate) fn is_final(&self, mnemonic: &str) -> bool {
        self.r#final.knows(mnemonic)
    }

    /// The kind of operation that an instruction with its operands, in lower case, starts and that counters count.
    pub fn operation(&self, instruction: &str) -> Option<&str> {
        self.operations.choose(instruction).filter(|kind| *kind != "none")
    }

    /// The generation that a listing with such mnemonics is of.
    pub fn generation<'a>(&self, mnemonics: impl Iterator<Item = &'a str> + Clone) -> Option<&Generation> {
        self.generations.iter().find(|generation| mnemonics.clone().any(|name| generation.signs.knows(name)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_rules_are_whole() {
        let file: RuleFile = toml::from_str(RULES).unwrap();
        InstructionRules::parse(RULES).unwrap();
        let kinds: BTreeSet<&str> = file.operation.iter().map(|rule| rule.kind.as_str()).collect();
        for generation in &file.generation {
            let counted: BTreeSet<&str> = generation.counters.values().flatten().map(String::as_str).collect();
            let ordered: BTreeSet<&str> = generation.ordered.iter().flatten().map(String::as_str).collect();
            assert!(ordered.is_subset(&counted) && counted.is_subset(&kinds), "{}", generation.name);
            // Copies that pass no registers came with gfx1250.
            let not_counted = if generation.name == "gfx12" { &["none"][..] } else { &["async", "none", "tensor"] };
            assert_eq!(kinds.difference(&counted).copied().collect::<Vec<_>>(), not_counted, "{}", generation.name);
        }
    }

    #[test]
    fn classes() {
        let rules = InstructionRules::builtin();
        for (instruction, class) in [
            ("s_waitcnt vmcnt(0)", "wait"),
            ("s_waitcnt_vscnt null, 0x0", "wait"),
            ("s_waitcnt_depctr 0xfff", "wait"),
            ("s_wait_loadcnt_dscnt 0x0", "wait"),
            ("s_wait_alu 0xfffe", "wait"),
            ("s_wait_asynccnt 0x0", "wait"),
            ("s_wait_tensorcnt 0x0", "wait"),
            ("tensor_load_to_lds s[0:3], s[4:11]", "VMEM"),
            ("global_load_async_to_lds_b128 v0, v[2:3], off", "VMEM"),
            ("s_barrier", "barrier"),
            ("s_barrier_signal -1", "barrier"),
            ("s_cbranch_execz 8", "branch"),
            ("s_branch 65497", "branch"),
            ("s_swappc_b64 s[30:31], s[4:5]", "branch"),
            ("s_setpc_b64 s[30:31]", "branch"),
            ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "MFMA"),
            ("v_smfmac_f32_16x16x32_f16 a[0:3], v[0:1], v[2:5], v6", "MFMA"),
            ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "MFMA"),
            ("v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[12:19], v20", "MFMA"),
            ("buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen", "VMEM"),
            ("tbuffer_store_format_x v0, v1, s[0:3], 0", "VMEM"),
            ("global_load_b128 v[0:3], v4, s[0:1]", "VMEM"),
            ("flat_atomic_add_u32 v[0:1], v2", "VMEM"),
            ("scratch_store_dword off, v0, s32", "VMEM"),
            ("image_sample v[0:3], v[4:5], s[0:7], s[8:11]", "VMEM"),
            ("DS_READ_B128 v[0:3], v4", "LDS"),
            ("ds_load_b128 v[0:3], v4", "LDS"),
            ("lds_param_load v0, attr0.x", "LDS"),
            ("s_load_dwordx2 s[0:1], s[2:3], 0x0", "SMEM"),
            ("s_buffer_load_b32 s0, s[0:3], 0x0", "SMEM"),
            ("s_store_dword s0, s[2:3], 0x0", "SMEM"),
            ("s_atomic_add s0, s[2:3], 0x0", "SMEM"),
            ("s_memrealtime s[0:1]", "SMEM"),
            ("s_dcache_wb", "SMEM"),
            ("v_add_u32_e32 v0, v1, v2", "VALU"),
            ("v_accvgpr_read_b32 v0, a0", "VALU"),
            ("v_cmp_gt_i32_e32 vcc, s2, v1", "VALU"),
            ("s_add_u32 s0, s1, s2", "SALU"),
            ("s_getpc_b64 s[0:1]", "SALU"),
            ("s_nop 0", "other"),
            ("s_sleep 1", "other"),
            ("s_setprio 3", "other"),
            ("s_endpgm", "other"),
            ("s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)", "other"),
            ("exp mrt0 v0, v1, v2, v3 done", "other"),
            ("0x0000", "other"),
            ("", "other"),
        ] {
            assert_eq!(rules.class(instruction), class, "{instruction}");
        }
    }

    #[test]
    fn operations() {
        let rules = InstructionRules::builtin();
        for (instruction, kind) in [
            ("global_load_dwordx4 v[0:3], v4, s[0:1]", Some("load")),
            ("buffer_load_dword v0, s[0:3], 0 offen lds", Some("load")),
            ("global_store_dwordx4 v4, v[0:3], s[0:1]", Some("store")),
            ("global_load_async_to_lds_b128 v0, v[2:3], off", Some("async")),
            ("cluster_load_async_to_lds_b32 v0, v1, s[2:3]", Some("async")),
            ("global_store_async_from_lds_b64 v[0:1], v2, off", Some("async")),
            ("ds_atomic_async_barrier_arrive_b64 v0", Some("async")),
            ("tensor_load_to_lds s[0:3], s[4:11]", Some("tensor")),
            ("tensor_store_from_lds s[0:3], s[4:11]", Some("tensor")),
            ("global_atomic_add v0, v1, v2, s[0:1] glc", Some("load")),
            ("global_atomic_add_u32 v0, v1, s[0:1]", Some("store")),
            ("flat_load_dword v0, v[2:3]", Some("flat_load")),
            ("flat_store_dword v[2:3], v0", Some("flat_store")),
            ("buffer_wbl2 sc1", Some("store")),
            ("buffer_inv sc1", None),
            ("image_sample_lz v0, v1, s[0:7], s[8:11]", Some("sample")),
            ("image_load v0, v1, s[0:7]", Some("load")),
            ("ds_bpermute_b32 v0, v1, v2", Some("lds")),
            ("ds_param_load v0, attr0.x", Some("export")),
            ("s_load_dword s0, s[0:1], 0x0", Some("scalar")),
            ("s_sendmsg 3", Some("message")),
            ("v_add_u32 v0, v1, v2", None),
        ] {
            assert_eq!(rules.operation(instruction), kind, "{instruction}");
        }
        let name = |mnemonics: &[&str]| rules.generation(mnemonics.iter().copied()).map(|found| found.name.as_str());
        assert_eq!(name(&["v_add_u32", "s_wait_loadcnt"]), Some("gfx12"));
        assert_eq!(name(&["s_waitcnt", "s_waitcnt_vscnt"]), Some("gfx10"));
        assert_eq!((name(&["s_waitcnt"]), name(&[])), (Some("gfx9"), None));
    }
}
