//! Embeds every file of `queries/`, so that adding a file adds a query. Skips files and folders whose names begin with `_`. Also lets tests
//! start fast.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../queries");
    println!("cargo::rerun-if-changed={}", root.display());
    link_at_fixed_addresses();
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut source = String::from("&[\n");
    for file in files {
        let family = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        // Relative to the checkout that is compiled: one build directory may serve several checkouts.
        let below = file.strip_prefix(&root).map_err(io::Error::other)?.display();
        writeln!(source, "    ({family:?}, {name:?}, data!(\"queries/{below}\")),").map_err(io::Error::other)?;
    }
    source.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("queries.rs"), source)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_')) {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "sql") {
            files.push(path);
        }
    }
    Ok(())
}

/// Links programs at fixed addresses. Otherwise the loader adjusts a million addresses of a debug program at every start, and over a
/// hundred thousand of other programs. That takes longer than most commands.
fn link_at_fixed_addresses() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|given| given == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg=-no-pie");
    }
}
