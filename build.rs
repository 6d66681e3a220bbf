//! Embeds every file of `queries/` in the binary, so that a query is added by adding a file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=queries");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("queries");
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut source = String::from("&[\n");
    for file in files {
        let family = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        // Relative to the checkout that is compiled: one build directory may serve several checkouts.
        let below = file.strip_prefix(&root).map_err(io::Error::other)?.display();
        let path = format!("/queries/{below}");
        let included = format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))");
        writeln!(source, "    ({family:?}, {name:?}, {included}),").map_err(io::Error::other)?;
    }
    source.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("queries.rs"), source)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "sql") {
            files.push(path);
        }
    }
    Ok(())
}
