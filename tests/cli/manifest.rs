//! Packages hold what they promise, recipes run what exists, and goldens are short enough to be read.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::common::listing;

/// Most lines of a golden. A longer one is accepted unread: take a smaller input, or fewer rows and a check of the others.
const MOST_GOLDEN_LINES: usize = 180;
/// Directory of the packaged profile, and what `make_tree` of build.sh puts below it.
const BUILT: &str = "target/release/";
const TREE: &str = "target/release/package/";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn manifest() -> Table {
    read("Cargo.toml").parse().unwrap()
}

/// Sources and targets of the assets of the package for Debian, or of that for Red Hat.
fn assets(metadata: &Value, tool: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let assets = metadata[tool]["assets"].as_array().unwrap();
    let pair = |asset: &Value| match asset {
        Value::Array(words) => (text(&words[0]), text(&words[1])),
        asset => (text(&asset["source"]), text(&asset["dest"])),
    };
    assets.iter().map(pair).collect()
}

/// Whether build.sh makes a file of the directory of the profile.
fn is_built(source: &str, script: &str) -> bool {
    if let Some(path) = source.strip_prefix(TREE) {
        let made = path.split('*').next().unwrap_or_default().trim_end_matches('/');
        let made = made.strip_prefix("share/").map_or(format!("$package/{made}"), |below| format!("$share/{below}"));
        return script.contains(&made);
    }
    let capture: Table = read("crates/capture/Cargo.toml").parse().unwrap();
    let library = capture["package"]["name"].as_str().unwrap().replace('-', "_");
    let programs = [env!("CARGO_PKG_NAME").to_owned(), format!("lib{library}.so")];
    programs.iter().any(|program| source.strip_prefix(BUILT) == Some(program.as_str()))
}

#[test]
fn every_asset_of_the_packages_exists_or_is_built() {
    let manifest = manifest();
    let metadata = &manifest["package"]["metadata"];
    let script = read("tests/release/build.sh");
    let [deb, rpm] = ["deb", "generate-rpm"].map(|tool| assets(metadata, tool));
    let sources = |assets: &[(String, String)]| assets.iter().map(|(source, _)| source.clone()).collect::<Vec<_>>();
    assert_eq!(sources(&deb), sources(&rpm), "both packages hold the same files");
    assert!(deb.len() > 10, "{deb:?}");
    for (source, _) in &deb {
        let is_there =
            || glob::glob(&root().join(source).to_string_lossy()).unwrap().any(|path| path.unwrap().is_file());
        assert!(if source.starts_with(BUILT) { is_built(source, &script) } else { is_there() }, "{source}");
    }
    // Where programs look for what is installed.
    for (assets, prefix) in [(&deb, "usr/"), (&rpm, "/usr/")] {
        for program in ["bin/", "lib/wavesieve/", "share/man/man1/", "share/doc/wavesieve/"] {
            let place = format!("{prefix}{program}");
            assert!(assets.iter().any(|(_, target)| target.starts_with(&place)), "{place}: {assets:?}");
        }
    }
}

#[test]
fn the_wheel_has_its_python_source() {
    let project: Table = read("python/pyproject.toml").parse().unwrap();
    let settings = &project["tool"]["maturin"];
    let (source, module) = (settings["python-source"].as_str().unwrap(), settings["module-name"].as_str().unwrap());
    let package = root().join("python").join(source).join(module);
    for file in ["__init__.py", "py.typed"] {
        assert!(package.join(file).is_file(), "{}", package.join(file).display());
    }
    assert!(root().join("python").join(settings["manifest-path"].as_str().unwrap()).is_file());
    let profile = settings["profile"].as_str().unwrap();
    assert!(manifest()["profile"].get(profile).is_some(), "there is no profile {profile}");
}

/// Scripts of the repository that a text runs.
fn scripts(text: &str) -> Vec<&str> {
    let words = text.split(|character: char| character.is_whitespace() || "`'\"()".contains(character));
    let is_ours = |word: &&str| {
        ["benches/", "tests/", "fixtures/", "docs/"].iter().any(|start| word.starts_with(start))
            && (word.ends_with(".py") || word.ends_with(".sh"))
            && !word.contains("{{")
    };
    words.filter(is_ours).collect()
}

#[test]
fn recipes_and_the_readme_of_the_benchmarks_run_what_exists() {
    let targets = manifest().contains_key("bench");
    let pages =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "benches/README.md", "docs/ci.md", "docs/release.md"];
    for name in pages.into_iter().chain(["justfile"]) {
        let text = read(name);
        for script in scripts(&text) {
            assert!(root().join(script).is_file(), "{name} runs {script}, which does not exist");
        }
        assert!(targets || !text.contains("cargo bench "), "{name}: there is no target for `cargo bench`");
    }
    assert!(scripts(&read("justfile")).len() > 3 && scripts(&read("benches/README.md")).len() > 10);
}

#[test]
fn goldens_can_be_read() {
    let files = ["tests", "src", "crates"].iter().flat_map(|directory| listing(&root().join(directory)));
    let goldens = files.map(|(path, _)| path).filter(|path| path.extension().is_some_and(|ending| ending == "snap"));
    let lines = |path: PathBuf| (fs::read_to_string(&path).unwrap().lines().count(), path);
    let goldens: Vec<(usize, PathBuf)> = goldens.map(lines).collect();
    let long: Vec<_> = goldens.iter().filter(|(lines, _)| *lines > MOST_GOLDEN_LINES).collect();
    assert!(goldens.len() > 100 && long.is_empty(), "{long:?}");
}
