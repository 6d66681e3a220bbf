//! What rocinsight calls things.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

const BUILTIN: &str = include_str!("../../../../share/compat/rocinsight.toml");

/// Names of rocinsight by ours.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    kernel_categories: BTreeMap<String, String>,
    directions: BTreeMap<String, String>,
    recommendations: BTreeMap<String, String>,
}

impl Names {
    /// Category of kernels.
    pub fn kernel_category(&self, ours: &str) -> &str {
        self.kernel_categories.get(ours).map_or("Other", String::as_str)
    }

    /// Direction of copies.
    pub fn direction(&self, ours: &str) -> &str {
        self.directions.get(ours).map_or("Unknown", String::as_str)
    }

    /// Id of a recommendation without its number: by the rule, else by the first twelve characters of its category.
    pub fn recommendation(&self, rule: &str, category: &str) -> String {
        self.recommendations.get(rule).cloned().unwrap_or_else(|| {
            let category: String = category.to_uppercase().replace(' ', "-").chars().take(12).collect();
            format!("ROCPD-{category}")
        })
    }
}

/// The names; none where the file were wrong, which the tests exclude.
pub fn names() -> &'static Names {
    static NAMES: LazyLock<Names> = LazyLock::new(|| toml::from_str(BUILTIN).unwrap_or_default());
    &NAMES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_right_and_ids_are_made() {
        let names: Names = toml::from_str(BUILTIN).unwrap();
        assert_eq!(names.kernel_category("gemm"), "GEMM");
        assert_eq!(names.kernel_category("fill"), "Other");
        assert_eq!(names.direction("H2H"), "Unknown");
        assert_eq!(names.recommendation("exposed_copy", "Memory Transfer"), "ROCPD-MEMCPY");
        assert_eq!(names.recommendation("other", "Custom Analysis"), "ROCPD-CUSTOM-ANALY");
    }
}
