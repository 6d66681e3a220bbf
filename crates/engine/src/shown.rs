//! A statement in the form that other engines run over the folders of a dataset.

use super::numbers::NUMBERS;
use super::parsed::ParsedStatement;
use super::referenced_columns::referenced_columns;
use wavesieve_model::schema;
use wavesieve_model::schema::Origin;

/// Integers as common table expressions, because the engines have no common way to count.
const AS_EXPRESSIONS: &str = data!("share/sql/numbers.sql");

/// A rendered statement with the tables it reads on its first line. It needs only the tables of a dataset.
pub fn shown(sql: &str) -> String {
    let statement = ParsedStatement::from(sql);
    let request = referenced_columns(&statement);
    let tables: Vec<&str> = request.keys().copied().collect();
    let on_demand = |name: &&str| schema::table(name).is_some_and(|table| table.origin == Origin::OnDemand);
    let kept: Vec<&str> = tables.iter().copied().filter(on_demand).collect();
    let with = if kept.is_empty() { String::new() } else { format!(" --with {}", kept.join(",")) };
    let reads = tables.join(", ");
    let line = format!("-- reads {reads}: tables of a dataset made with `wavesieve convert INPUT -o DATASET{with}`\n");
    if !statement.mentions(NUMBERS) {
        return line + sql;
    }
    match sql.strip_prefix("WITH ") {
        Some(rest) => format!("{line}WITH {},\n{rest}", AS_EXPRESSIONS.trim_end()),
        None => format!("{line}WITH {}\n{sql}", AS_EXPRESSIONS.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_needs() {
        let sql = shown("SELECT 1 AS a FROM kernels JOIN idle_gaps ON 1 = 1");
        assert!(sql.starts_with("-- reads idle_gaps, kernels: "), "{sql}");
        assert!(sql.contains("`wavesieve convert INPUT -o DATASET --with idle_gaps`\nSELECT"), "{sql}");
        assert!(!shown("SELECT 1 AS a FROM kernels").contains("--with"));
    }

    #[test]
    fn numbers_come_with_it() {
        for sql in ["WITH a AS (SELECT n FROM numbers) SELECT n FROM a", "SELECT n FROM numbers"] {
            assert!(shown(sql).contains("\nWITH digits AS ("), "{sql}");
        }
    }
}
