//! `dispatch.json`.

use serde::{Deserialize, Serialize};

use wavesieve_source::objects::demangled;

/// Maximum size of a group in one dimension: the packet has 16 bits for each size.
const MAX_BLOCK: u32 = 65_535;
/// Maximum plausible bytes of arguments; the hardware limit is 4096 by convention.
const MAX_KERNARG: u64 = 1 << 20;

/// A dispatch and its kernel. The keys are from rocm-perf-lab. Keys with a default were added later, or by wavesieve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The kernel's symbol, with `.kd` or without.
    pub mangled_name: String,
    #[serde(default)]
    pub demangled_name: String,
    /// The agent's name, such as `gfx942`.
    #[serde(default)]
    pub agent_name: String,
    /// Its instruction set, such as `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`.
    #[serde(default)]
    pub isa_name: String,
    #[serde(default)]
    pub wavefront_size: u32,
    /// The kernel's handle when it was captured.
    #[serde(default)]
    pub kernel_object: u64,
    /// Work-items.
    pub grid: [u32; 3],
    /// Work-items of a group.
    pub block: [u32; 3],
    /// LDS of a group, with what the launch added.
    #[serde(default)]
    pub group_segment_size: u32,
    /// Scratch of a work-item.
    #[serde(default)]
    pub private_segment_size: u32,
    /// Bytes of the arguments.
    #[serde(default)]
    pub kernarg_size: u64,
    /// Number of earlier dispatches of the kernel.
    #[serde(default)]
    pub dispatch_index: u64,
    /// LDS of a group by the kernel itself; the rest is dynamic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_group_segment_size: Option<u32>,
    /// Address of the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernarg_address: Option<u64>,
}

impl Dispatch {
    /// The kernel's symbol without `.kd`.
    pub fn kernel(&self) -> &str {
        self.mangled_name.strip_suffix(".kd").unwrap_or(&self.mangled_name)
    }

    /// The name to show: the name of the symbol, because the symbol is what runs. If the symbol is not mangled, the recorded name may add
    /// its parameters.
    pub fn shown_name(&self) -> String {
        let symbol = self.kernel();
        let recorded = self.recorded_name();
        demangled(symbol).unwrap_or_else(|| {
            let may_add =
                if symbol.starts_with("_Z") { self.contradiction().is_none() } else { identifier(recorded) == symbol };
            if may_add && !recorded.is_empty() { recorded.to_owned() } else { symbol.to_owned() }
        })
    }

    /// The recorded name without the suffix that compilers add in brackets.
    fn recorded_name(&self) -> &str {
        let name = self.demangled_name.split(" [").next().unwrap_or_default();
        name.strip_suffix(".kd").unwrap_or(name)
    }

    /// A message if the recorded name belongs to another kernel than the symbol. Demanglers spell lambdas and operators differently, so
    /// only plain names are compared.
    pub fn contradiction(&self) -> Option<String> {
        let (symbol, name) = (self.kernel(), identifier(self.recorded_name()));
        let is_plain = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$'));
        let is_same = match demangled(symbol).as_deref().map(identifier) {
            Some(own) => own == name || !is_plain(&own) || !is_plain(&name),
            None if symbol.starts_with("_Z") => symbol.contains(&name) || !is_plain(&name),
            None => name == symbol,
        };
        (!name.is_empty() && !is_same).then(|| {
            format!(
                "the recorded name `{}` is not that of the symbol {symbol}, which is what runs",
                self.demangled_name
            )
        })
    }

    /// A message about an impossible value, if there is one.
    pub(crate) fn impossibility(&self) -> Option<String> {
        if self.kernel().is_empty() {
            return Some("`mangled_name` is empty".to_owned());
        }
        if self.grid.contains(&0) || self.block.contains(&0) {
            return Some(format!("`grid` {:?} or `block` {:?} has a 0", self.grid, self.block));
        }
        if self.block.iter().any(|size| *size > MAX_BLOCK) {
            return Some(format!("`block` {:?} is more than a packet holds", self.block));
        }
        if self.kernarg_size > MAX_KERNARG {
            return Some(format!("`kernarg_size` {} is more than 1 MiB", self.kernarg_size));
        }
        None
    }
}

/// The last name of a function as C++ spells it, without its types: `scale` for `void ns::scale<float>(float*)`.
fn identifier(name: &str) -> String {
    last_word(name, &['(']).rsplit("::").next().unwrap_or_default().to_owned()
}

/// The last word before one of the `ends`, without template arguments: `ns::scale` for `void ns::scale<float>(float*)`.
pub fn last_word(name: &str, ends: &[char]) -> String {
    let mut depth = 0_u32;
    let mut plain = String::new();
    for letter in name.replace("(anonymous namespace)", "anonymous").chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if ends.contains(&letter) && !plain.is_empty() => break,
            _ => plain.push(letter),
        }
    }
    plain.split_whitespace().next_back().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(mangled_name: &str, demangled_name: &str) -> (String, bool) {
        let dispatch: Dispatch = serde_json::from_value(serde_json::json!({
            "mangled_name": mangled_name, "demangled_name": demangled_name, "grid": [1, 1, 1], "block": [1, 1, 1]
        }))
        .unwrap();
        (dispatch.shown_name(), dispatch.contradiction().is_some())
    }

    #[test]
    fn the_name_that_is_shown_is_of_what_runs() {
        for (symbol, recorded, shown, is_contradiction) in [
            ("scale.kd", "add", "scale", true),
            ("scale.kd", "ns::add(float*)", "scale", true),
            ("scale.kd", "", "scale", false),
            ("scale", "scale.kd", "scale", false),
            ("scale.kd", "scale(float*, int) [clone .kd]", "scale(float*, int)", false),
            ("scale.kd", "scale\u{1b}[2J", "scale", true),
            ("_Z5scalePfi.kd", "scale(float*, int)", "scale(float*, int)", false),
            ("_Z5scalePfi.kd", "add(float*, int)", "scale(float*, int)", true),
            ("_Z5scaleIfEvPT_.kd", "void scale<float>(float*) [clone .kd]", "void scale<float>(float*)", false),
            ("_ZN12_GLOBAL__N_12goEi.kd", "(anonymous namespace)::go(int)", "(anonymous namespace)::go(int)", false),
            ("_Z99odd.kd", "odd", "odd", false),
            ("_Z99odd.kd", "even", "_Z99odd", true),
        ] {
            assert_eq!(named(symbol, recorded), (shown.to_owned(), is_contradiction), "{symbol} {recorded}");
        }
    }
}
