//! Resources: the documentation of tables and queries.

use serde_json::{Value, json};

use super::tools::INSTRUCTIONS;
use wavesieve_engine::Registry;
use wavesieve_export::documentation;
use wavesieve_model::schema::tables;

const SCHEME: &str = "wavesieve://";
const MARKDOWN: &str = "text/markdown";

/// All resources: an overview, SQL functions and metrics, then a page for each table and query.
pub(super) fn listed(registry: &Registry) -> Value {
    let resource = |path: String, title: String, description: &str| {
        json!({
            "uri": format!("{SCHEME}{path}"), "name": path, "title": title, "description": description, "mimeType": MARKDOWN,
        })
    };
    let pages = [
        ("guide", "How to use the tools", "What to call when, and what the fields of answers mean"),
        ("sql", "Functions of SQL", "The functions that statements can use, with examples"),
        ("metrics", "Metrics", "Formulas over hardware counters"),
    ];
    let pages = pages.into_iter().map(|(name, title, about)| resource(name.to_owned(), title.to_owned(), about));
    let tables = tables()
        .iter()
        .map(|table| resource(format!("tables/{}", table.name), format!("Table {}", table.name), table.about));
    let queries = registry.iter().map(|query| {
        let title = format!("Query {}", query.name);
        resource(format!("queries/{}", query.name), title, &query.declaration.about)
    });
    json!({ "resources": pages.chain(tables).chain(queries).collect::<Value>() })
}

/// The templates of page addresses.
pub(super) fn templates() -> Value {
    let template = |name: &str, title: &str| json!({ "uriTemplate": format!("{SCHEME}{name}/{{name}}"), "name": name, "title": title, "mimeType": MARKDOWN });
    json!({ "resourceTemplates": [template("tables", "A table with its columns"), template("queries", "A named query")] })
}

/// The page at an address; `None` if there is none.
pub(super) fn read(uri: &str, registry: &Registry) -> Option<Value> {
    let text = match uri.strip_prefix(SCHEME)? {
        "guide" => INSTRUCTIONS.to_owned(),
        "sql" => documentation::functions(),
        "metrics" => documentation::metrics(),
        path => match path.split_once('/')? {
            ("tables", name) => documentation::table(name)?,
            ("queries", name) => documentation::query(registry.get(name).ok()?),
            _ => return None,
        },
    };
    Some(json!({ "contents": [{ "uri": uri, "mimeType": MARKDOWN, "text": text }] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resource_that_is_listed_can_be_read() {
        let registry = Registry::builtin().unwrap();
        let listed = listed(&registry);
        let resources = listed["resources"].as_array().unwrap();
        assert!(resources.len() > 100);
        for resource in resources {
            let page = read(resource["uri"].as_str().unwrap(), &registry).unwrap();
            assert!(page["contents"][0]["text"].as_str().is_some_and(|text| text.len() > 50), "{resource}");
        }
        for unknown in ["wavesieve://tables/none", "wavesieve://queries/", "file:///etc/passwd", ""] {
            assert_eq!(read(unknown, &registry), None, "{unknown}");
        }
    }
}
