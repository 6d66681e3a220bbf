//! Sheets, their columns and TraceLens's categories, as data in `share/`.

use anyhow::{Context as _, Result};
use serde::Deserialize;

const BUILTIN: &str = data!("share/tracelens.toml");

/// All sheets, and the categories of kernels.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SheetLayouts {
    /// The sheets in order.
    #[serde(rename = "sheet")]
    pub sheets: Vec<SheetLayout>,
    /// The categories; the first that fits is used.
    #[serde(rename = "category")]
    pub categories: Vec<Category>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SheetLayout {
    pub name: String,
    /// The query that provides its rows.
    pub query: String,
    /// Its content.
    pub about: String,
    /// Its columns in order.
    pub column: Vec<ColumnLayout>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnLayout {
    pub heading: String,
    /// The column of the answer.
    pub of: String,
    /// Unit of its values.
    pub unit: String,
    /// Divisor for the values of the answer.
    pub by: Option<f64>,
    /// The same if the numbers must equal those of TraceLens.
    pub by_then: Option<f64>,
    /// Whether only traces of several processes have it. TraceLens does not read these.
    #[serde(default)]
    pub of_several: bool,
}

/// A category of TraceLens.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Category {
    pub name: String,
    /// Parts of names in lower case, of which one suffices.
    pub parts: Vec<String>,
}

impl SheetLayouts {
    /// The built-in layouts.
    pub fn builtin() -> Result<Self> {
        toml::from_str(BUILTIN).context("internal: the sheets of TraceLens are wrong")
    }

    /// The category that TraceLens gives a kernel.
    pub fn category(&self, kernel: &str) -> &str {
        let kernel = kernel.to_lowercase();
        let fits = |category: &&Category| category.parts.iter().any(|part| kernel.contains(part.as_str()));
        self.categories.iter().find(fits).map_or("", |category| &category.name)
    }
}

#[cfg(test)]
mod tests {
    use super::SheetLayouts;
    use wavesieve_engine::{ColumnUnit, Registry};

    #[test]
    fn columns_are_those_of_queries() {
        let registry = Registry::builtin().unwrap();
        for sheet in SheetLayouts::builtin().unwrap().sheets {
            let declared = &registry.get(&sheet.query).unwrap().declaration.columns;
            for column in &sheet.column {
                assert!(declared.iter().any(|known| known.name == column.of), "{} of {}", column.of, sheet.query);
                assert!(ColumnUnit::parse(&column.unit).is_some(), "{}", column.unit);
                assert_eq!(column.by.is_some(), column.by_then.is_some(), "{}", column.heading);
            }
        }
    }

    #[test]
    fn the_first_category_counts_even_where_it_misleads() {
        let layouts = SheetLayouts::builtin().unwrap();
        for (kernel, category) in [
            ("Cijk_Ailk_Bljk_HHS", "GEMM"),
            ("ncclDevKernel_AllReduce_Sum_f32", "Reduction"),
            ("cross_device_reduce_1stage", "Reduction"),
            ("convert_fp16_kernel", "Convolution"),
            ("consume_tokens", "Reduction"),
            ("paged_attention_ll4mi", "Other"),
            ("layernorm_reduce", "Reduction"),
            ("ncclDevKernel_Generic_1", "COMM"),
            ("__amd_rocclr_copyBuffer", "Memory"),
            ("softmax", "Other"),
            ("", "Other"),
        ] {
            assert_eq!(layouts.category(kernel), category, "{kernel}");
        }
    }
}
