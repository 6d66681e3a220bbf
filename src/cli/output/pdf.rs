//! PDF files, printed from HTML pages by a headless browser.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use wavesieve_agent::child;
use wavesieve_report::document::Document;
use wavesieve_report::html;

/// Names of headless browsers; the first one that exists is used.
const BROWSERS: [&str; 7] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "headless_shell",
];
/// The variable that names another browser.
const VARIABLE: &str = "WAVESIEVE_BROWSER";
/// Variables that name the directories for a browser's own files.
const HOMES: [&str; 4] = ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"];
/// Time limit for a browser.
const LIMIT: Duration = Duration::from_secs(120);
/// Keys of a PDF file that change each time.
const DATES: [&[u8]; 2] = [b"/CreationDate (", b"/ModDate ("];
const DATE: &[u8] = b"D:20000101000000+00'00'";

/// Writes a document as its page would print.
pub(crate) fn write(document: &Document, out: &mut dyn Write) -> Result<()> {
    let mut page = Vec::new();
    html::write(document, &mut page)?;
    Ok(out.write_all(&from_page(&page)?)?)
}

pub(crate) fn from_page(page: &[u8]) -> Result<Vec<u8>> {
    let browser = browser()?;
    let directory = tempfile::tempdir().context("cannot create a temporary directory")?;
    let (source, target) = (directory.path().join("page.html"), directory.path().join("page.pdf"));
    fs::write(&source, page).with_context(|| format!("cannot write {}", source.display()))?;
    let mut command = Command::new(&browser);
    // Tags get different numbers in each run.
    command.args(["--headless", "--disable-gpu", "--no-pdf-header-footer", "--no-first-run", "--disable-pdf-tagging"]);
    command.arg(option("--print-to-pdf=", &target));
    command.arg(option("--user-data-dir=", &directory.path().join("profile")));
    // The sandbox of Chromium does not run as root, for example in containers; the page is our own.
    #[cfg(unix)]
    if is_root() {
        command.arg("--no-sandbox");
    }
    command.arg(address(&source));
    // Files of the browser, such as crash reports, stay in the temporary directory.
    HOMES.iter().for_each(|name| {
        command.env(name, directory.path());
    });
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let shown = browser.display();
    let mut child = command.spawn().with_context(|| format!("cannot run {shown}"))?;
    let Some(status) = child::wait(&mut child, LIMIT)? else {
        bail!("{shown} did not print the page in {} seconds; write an .html file and print that", LIMIT.as_secs());
    };
    ensure!(status.success(), "{shown} failed to print the page ({status}); write an .html file and print that");
    let mut file = fs::read(&target).with_context(|| format!("{shown} printed no file"))?;
    ensure!(file.starts_with(b"%PDF"), "{shown} printed something else than a PDF file");
    DATES.iter().for_each(|key| fix_date(&mut file, key));
    Ok(file)
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(path);
    option
}

/// The `file://` address of an absolute path.
fn address(path: &Path) -> String {
    let mut address = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

#[cfg(unix)]
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|facts| std::os::unix::fs::MetadataExt::uid(&facts) == 0)
}

fn browser() -> Result<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return Ok(PathBuf::from(named));
    }
    let folders: Vec<PathBuf> = env::var_os("PATH").iter().flat_map(env::split_paths).collect();
    let places = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file()).with_context(|| {
        format!("no browser is there to print a PDF; install Chromium, name one in {VARIABLE}, or write an .html file and print that")
    })
}

/// Replaces a creation date by a fixed one, so that the same page gives the same file.
fn fix_date(file: &mut [u8], key: &[u8]) {
    let starts: Vec<usize> =
        file.windows(key.len()).enumerate().filter(|(_, bytes)| *bytes == key).map(|(at, _)| at + key.len()).collect();
    for start in starts {
        let Some(date) = file.get_mut(start..start + DATE.len()) else { continue };
        if date.starts_with(b"D:") && date.ends_with(b"'") {
            date.copy_from_slice(DATE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_any_letters_have_an_address() {
        assert_eq!(address(Path::new("/tmp/.tmpA1/page.html")), "file:///tmp/.tmpA1/page.html");
        assert_eq!(address(Path::new("/a #1/50%?/ü")), "file:///a%20%231/50%25%3F/%C3%BC");
    }

    #[test]
    fn dates_are_always_the_same() {
        let mut file = b"<</CreationDate (D:20261125101112+00'00')/ModDate (D:2026)>>".to_vec();
        DATES.iter().for_each(|key| fix_date(&mut file, key));
        assert_eq!(file, b"<</CreationDate (D:20000101000000+00'00')/ModDate (D:2026)>>");
    }
}
