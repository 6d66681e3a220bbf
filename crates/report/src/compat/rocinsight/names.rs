//! Names that rocinsight uses.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

const BUILTIN: &str = data!("share/compat/rocinsight.toml");

/// rocinsight's names by our names.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    kernel_categories: BTreeMap<String, String>,
    directions: BTreeMap<String, String>,
    stalls: BTreeMap<String, String>,
    recommendations: Vec<Named>,
}

/// Names of the recommendations of some rules.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    category: String,
    id: String,
    rules: Vec<String>,
}

impl Names {
    pub(crate) fn kernel_category(&self, ours: &str) -> &str {
        self.kernel_categories.get(ours).map_or("Other", String::as_str)
    }

    /// Direction of copies.
    pub fn direction(&self, ours: &str) -> &str {
        self.directions.get(ours).map_or("Unknown", String::as_str)
    }

    /// Category of a recommendation and its id without the number, by rule; an unknown rule keeps its own category.
    pub fn recommendation(&self, rule: &str, category: &str) -> (String, String) {
        let named = self.recommendations.iter().find(|named| named.rules.iter().any(|known| known == rule));
        named.map_or_else(
            || (category.to_owned(), made_id(category)),
            |named| (named.category.clone(), named.id.clone()),
        )
    }

    /// Category of a recommendation about stalls, and its id.
    pub fn stall(&self, category: &str) -> Option<(String, String)> {
        let named = format!("ATT {}", self.stalls.get(category)?);
        Some((named.clone(), made_id(&named)))
    }
}

/// The id for a category that has none.
fn made_id(category: &str) -> String {
    let category: String = category.to_uppercase().replace(' ', "-").chars().take(12).collect();
    format!("ROCPD-{category}")
}

/// The names; empty if the file is wrong, which the tests exclude.
pub fn names() -> &'static Names {
    static NAMES: LazyLock<Names> = LazyLock::new(|| toml::from_str(BUILTIN).unwrap_or_default());
    &NAMES
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavesieve_engine::findings::{NOTHING, RULES};

    #[test]
    fn the_file_is_right_and_ids_are_made() {
        let names: Names = toml::from_str(BUILTIN).unwrap();
        assert_eq!(names.kernel_category("gemm"), "GEMM");
        assert_eq!(names.kernel_category("fill"), "Other");
        assert_eq!(names.direction("H2H"), "Unknown");
        let id = |rule: &str, category: &str| names.recommendation(rule, category).1;
        assert_eq!(id("exposed_copy", ""), "ROCPD-MEMCPY");
        assert_eq!(id("other", "Custom Analysis"), "ROCPD-CUSTOM-ANALY");
        let stall = ("ATT VMEM Latency".to_owned(), "ROCPD-ATT-VMEM-LAT".to_owned());
        assert_eq!(names.stall("att_vmem_latency"), Some(stall));
    }

    /// Every rule has a name there, and none has two.
    #[test]
    fn all_rules_are_named() {
        let names: Names = toml::from_str(BUILTIN).unwrap();
        let mut named: Vec<&String> = names.recommendations.iter().flat_map(|named| &named.rules).collect();
        named.sort_unstable();
        let mut rules: Vec<&str> = RULES.iter().map(|rule| rule.id).chain([NOTHING]).collect();
        rules.sort_unstable();
        assert_eq!(named, rules);
    }
}
