//! Generated documents are as the program would write them now.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{finish, listing, program, succeed};

fn assert_fresh(topic: &str, file: &str) {
    let committed = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_default();
    assert!(committed == succeed(&["schema", topic]), "{file} is stale; run `cargo run -- schema {topic} > {file}`");
}

#[test]
fn tables() {
    assert_fresh("tables", "docs/tables.md");
}

#[test]
fn sql() {
    assert_fresh("sql", "docs/sql.md");
}

#[test]
fn queries() {
    assert_fresh("queries", "docs/queries.md");
}

#[test]
fn metrics() {
    assert_fresh("metrics", "docs/metrics.md");
}

#[test]
fn rules() {
    assert_fresh("rules", "docs/rules.md");
}

#[test]
fn upstream() {
    assert_fresh("upstream", "docs/upstream.md");
}

#[test]
fn verbs() {
    let directory = tempfile::tempdir().unwrap();
    let mut generator = program(&["schema", "verbs", "--output", directory.path().to_str().unwrap()]);
    // Neither the width of a terminal nor what the user has set is seen in a document.
    generator.env("COLUMNS", "40").env("WAVESIEVE_ROWS", "7").env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
    assert_eq!(finish(generator).code, 0);
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/verbs");
    let pages = |directory: &Path| -> Vec<(String, String)> {
        let page =
            |path: &Path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap());
        listing(directory).iter().map(|(path, _)| page(path)).collect()
    };
    let hint = "docs/verbs is stale; run `cargo run -- schema verbs --output docs/verbs`";
    assert!(pages(&committed) == pages(directory.path()), "{hint}");
    let printed = succeed(&["schema", "verbs"]);
    assert!(pages(directory.path()).iter().all(|(_, page)| printed.contains(page.as_str())));
}

#[test]
fn skill() {
    let directory = tempfile::tempdir().unwrap();
    succeed(&["schema", "skill", "--output", directory.path().to_str().unwrap()]);
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills/wavesieve");
    let pages = |directory: &Path| -> Vec<(String, String)> {
        let page =
            |path: &Path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap());
        listing(directory).iter().map(|(path, _)| page(path)).collect()
    };
    let fresh = pages(directory.path());
    assert!(
        pages(&committed) == fresh,
        "skills/wavesieve is stale; run `cargo run -- schema skill --output skills/wavesieve`"
    );
    for (name, text) in fresh {
        match name.rsplit_once('.').unwrap().1 {
            "json" => drop(serde_json::from_str::<serde_json::Value>(&text).unwrap()),
            "toml" => drop(text.parse::<toml::Table>().unwrap()),
            _ => assert!(text.starts_with("---\nname: wavesieve\ndescription: "), "{name}"),
        }
    }
}

#[test]
fn licenses_name_every_crate_of_the_program() {
    let only = ["--edges", "normal,no-proc-macro", "--target", "x86_64-unknown-linux-gnu"];
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--locked", "--prefix", "none", "--format", "{p}"]).args(only);
    let tree = tree.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    let printed = succeed(&["licenses"]);
    let listed = |line: &str| {
        let (name, version) = line.split_once(" v").unwrap();
        format!("\n{name} {}: ", version.split(' ').next().unwrap())
    };
    let mut missing = tree.lines().filter(|line| !line.starts_with("wavesieve")).map(listed).collect::<Vec<_>>();
    assert!(missing.len() > 100, "{tree}");
    missing.retain(|line| !printed.contains(line));
    assert!(missing.is_empty(), "{missing:?}; run share/licenses/collect.py > share/licenses/crates.txt");
    assert!(printed.contains("MIT License") && printed.contains("Apache License") && printed.contains("DejaVu"));
}
