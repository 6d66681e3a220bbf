//! Drops the least important data, for models with small inputs.

use serde_json::Value;

/// Rows of tables and of evidence that are kept, step by step.
const ROWS: [(usize, usize); 3] = [(10, 4), (5, 2), (3, 1)];
/// Minimum number of tables and findings that are kept.
const FEWEST: usize = 2;

/// Drops rows, tables, findings and source code until the data fits into this many bytes; figures and views stay.
/// Tables are sorted by importance.
pub fn within(data: &mut Value, most: usize, order: &[String]) {
    if is_within(data, most) {
        return;
    }
    let place = |table: &Value| {
        let id = table.get("id").and_then(Value::as_str).unwrap_or_default();
        order.iter().position(|known| known == id).unwrap_or(order.len())
    };
    if let Some(tables) = list(data, "tables") {
        tables.sort_by_key(place);
    }
    // Half of the tables with more rows are more useful than all of them with few rows.
    for (rows, of_evidence) in ROWS {
        for_each(data, "tables", |table| cut(table, rows));
        for_each(data, "findings", |finding| {
            for_each(finding, "evidence", |evidence| cut(evidence, of_evidence));
        });
        if is_within(data, most) {
            return;
        }
        let half = order.len() / 2;
        while list(data, "tables").is_some_and(|tables| tables.len() > half) {
            pop(data, "tables");
            if is_within(data, most) {
                return;
            }
        }
    }
    for name in ["tables", "findings"] {
        while !is_within(data, most) && list(data, name).is_some_and(|all| all.len() > FEWEST) {
            pop(data, name);
        }
    }
    while !is_within(data, most) {
        let kernels = data.get_mut("source").and_then(|source| list(source, "kernels"));
        let Some(kernels) = kernels.filter(|kernels| kernels.len() > 1) else { return };
        kernels.pop();
    }
}

fn is_within(data: &Value, most: usize) -> bool {
    data.to_string().len() <= most
}

fn list<'a>(data: &'a mut Value, name: &str) -> Option<&'a mut Vec<Value>> {
    data.get_mut(name).and_then(Value::as_array_mut)
}

fn for_each(data: &mut Value, name: &str, change: impl FnMut(&mut Value)) {
    list(data, name).into_iter().flatten().for_each(change);
}

fn pop(data: &mut Value, name: &str) {
    if let Some(all) = list(data, name) {
        all.pop();
    }
}

fn cut(table: &mut Value, rows: usize) {
    if let Some(all) = list(table, "rows") {
        all.truncate(rows);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_matters_most_is_kept() {
        let table = |id: &str| json!({"id": id, "rows": vec![[1, 2, 3]; 10], "all_rows": 10});
        let findings = [1, 2, 3].map(|id| json!({"id": id, "evidence": [table("e")]}));
        let tables = ["a", "b", "c", "d", "e"].map(table);
        let mut data = json!({ "figures": ["x"], "findings": findings, "tables": tables });
        let whole = data.clone();
        let order = ["d", "c", "b", "x"].map(ToOwned::to_owned);
        within(&mut data, 10_000, &order);
        assert_eq!(data, whole);
        within(&mut data, 400, &order);
        assert!(data.to_string().len() <= 400, "{data}");
        assert_eq!((&data["tables"][0]["id"], &data["tables"][0]["all_rows"]), (&json!("d"), &json!(10)));
        assert_eq!((&data["figures"], &data["findings"][0]["id"]), (&json!(["x"]), &json!(1)));
        within(&mut data, 1, &order);
        assert!(data["tables"].as_array().unwrap().len() == FEWEST && !data["findings"].as_array().unwrap().is_empty());
    }
}
