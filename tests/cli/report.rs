//! `report`: one document of all inputs, or one of each run with an index.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Run, finish, listing, number, program, run, succeed};

/// A name that would be markup, or end an attribute.
const HOSTILE: &str = "<b>\"x\"&'y";

/// Runs the binary in a directory.
fn run_in(directory: &Path, arguments: &[&str]) -> Run {
    let mut command = program(arguments);
    command.current_dir(directory);
    finish(command)
}

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path)
}

fn copy(from: &str, to: PathBuf) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(fixture(from), to).unwrap();
}

/// Runs below `runs`: two that can be read, of which one has a hostile name, one that is damaged, one that wrote nothing.
fn runs() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let runs = place.path().join("runs");
    copy("two_nodes/node0/4100_results.db", runs.join("good/4100_results.db"));
    copy("merged/merged.db", runs.join(HOSTILE).join("merged.db"));
    let whole = fs::read(fixture("two_nodes/node0/4140_results.db")).unwrap();
    fs::create_dir_all(runs.join("damaged")).unwrap();
    fs::write(runs.join("damaged/4140_results.db"), &whole[..3000]).unwrap();
    fs::create_dir_all(runs.join("empty")).unwrap();
    fs::create_dir_all(runs.join("logs")).unwrap();
    fs::write(runs.join("logs/stdout.txt"), "no trace").unwrap();
    place
}

fn index(directory: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(directory.join("index.json")).unwrap()).unwrap()
}

fn names(index: &Value) -> Vec<&str> {
    index["runs"].as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap()).collect()
}

fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = listing(directory).into_iter();
    files.map(|(path, _)| (path.strip_prefix(directory).unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

#[test]
fn a_report_is_one_page_of_all_inputs() {
    let place = tempfile::tempdir().unwrap();
    symlink(fixture("merged"), place.path().join("traces")).unwrap();
    let run = run_in(place.path(), &["report", "traces", "--title", "Nightly <run>", "--sections", "time,hotspots"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, "wrote report.html\n"));
    let page = fs::read_to_string(place.path().join("report.html")).unwrap();
    assert!(page.contains("<title>Nightly &lt;run&gt;</title>"));
    assert!(page.contains("<section id=\"hotspots\"") && !page.contains("<section id=\"categories\""));

    let run = run_in(place.path(), &["report", "traces", "-d", "out", "-f", "json", "--without", "time,gaps", "-q"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let document: Value =
        serde_json::from_str(&fs::read_to_string(place.path().join("out/report.json")).unwrap()).unwrap();
    let sections: Vec<&str> =
        document["sections"].as_array().unwrap().iter().map(|section| section["id"].as_str().unwrap()).collect();
    assert!(sections.contains(&"hotspots") && !sections.contains(&"time") && !sections.contains(&"gaps"));

    let wrong = run_in(place.path(), &["report", "traces", "--sections", "hotspot"]);
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.stderr.contains("--sections hotspot is not a section; choose among time, hotspots, categories"),
        "{}",
        wrong.stderr
    );
    let none = run_in(place.path(), &["report", "traces", "--sections", "time,gaps", "--without", "gaps,time,api"]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("--without gaps,time,api leaves nothing of --sections time,gaps;"), "{}", none.stderr);
    let plain = run_in(place.path(), &["report", "traces", "--title", " ", "-o", "-", "-f", "md", "-q"]);
    assert!(plain.stdout.starts_with("# GPU trace analysis\n"), "an empty title is none: {}", plain.stdout);
}

#[test]
fn charts_are_files_whatever_the_format() {
    let place = tempfile::tempdir().unwrap();
    let charts = place.path().join("charts");
    let asked = ["analyze", "fixtures/merged", "--sections", "time,hotspots"];
    let with = run(&[&asked[..], &["--charts", charts.to_str().unwrap()]].concat());
    assert_eq!(with.code, 0, "{}", with.stderr);
    assert_eq!(with.stdout, succeed(&asked), "a text has no charts");
    let files: Vec<String> = contents(&charts).keys().map(|path| path.display().to_string()).collect();
    insta::assert_snapshot!(files.join("\n"));
    for (path, bytes) in contents(&charts) {
        let begin: &[u8] = if path.extension().unwrap() == "png" { b"\x89PNG\r\n" } else { b"<svg" };
        assert!(bytes.starts_with(begin), "{}", path.display());
    }
    let inside = place.path().join("inside");
    copy("merged/merged.db", inside.join("merged.db"));
    let inside = inside.to_str().unwrap();
    assert_eq!(run(&["analyze", inside, "--charts", inside]).code, 2, "inputs are never written");
}

#[test]
fn runs_that_fail_do_not_stop_the_others() {
    let place = runs();
    let batch = ["report", "runs", "--group-by", "folder"];
    let run = run_in(place.path(), &[&batch[..], &["--jobs", "1"]].concat());
    assert_eq!(run.code, 6, "{}", run.stderr);
    assert!(
        run.stderr.contains("error: damaged: runs/damaged/4140_results.db: a damaged SQLite database"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("error: empty: runs/empty: a directory without traces"), "{}", run.stderr);
    assert!(run.stderr.ends_with("wrote reports/index.html: 2 of 4 runs\n"), "{}", run.stderr);
    let reports = place.path().join("reports");
    let first = contents(&reports);
    let files: Vec<String> = first.keys().map(|path| path.display().to_string()).collect();
    assert_eq!(files, ["b-x-y.html", "good.compared.html", "good.html", "index.html", "index.json"]);
    let text = String::from_utf8(first[Path::new("index.json")].clone()).unwrap();
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));

    let page = String::from_utf8(first[Path::new("index.html")].clone()).unwrap();
    assert!(page.contains("&lt;b&gt;&quot;x&quot;&amp;&#x27;y") && !page.contains("<b>\"x"));
    assert!(page.contains("a damaged SQLite database") && page.contains("href=\"good.html\""));
    for loaded in [" src=", "url(http", "@import", "href=\"http"] {
        assert!(!page.contains(loaded), "the index has {loaded}");
    }

    // Again, with other jobs: the same bytes, and its own outputs are written over.
    let again = run_in(place.path(), &[&batch[..], &["--jobs", "4"]].concat());
    assert_eq!(again.code, 6, "{}", again.stderr);
    assert!(contents(&reports) == first, "the output depends on --jobs");
}

#[test]
fn the_index_has_the_numbers_of_the_traces() {
    let place = runs();
    for failed in ["damaged", "empty"] {
        fs::remove_dir_all(place.path().join("runs").join(failed)).unwrap();
    }
    let asked = ["report", "runs", "--group-by", "runs/([^/]+)/", "--baseline", "good", "-d", "out", "-f", "md"];
    let run =
        run_in(place.path(), &[&asked[..], &["--title", "Both", "--charts", "charts", "--sections", "time"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let index = index(&place.path().join("out"));
    assert_eq!((names(&index), index["title"].as_str()), (vec![HOSTILE, "good"], Some("Both")));
    for run in index["runs"].as_array().unwrap() {
        let input = place.path().join("runs").join(run["name"].as_str().unwrap());
        let input = input.to_str().unwrap();
        let figures = &run["figures"];
        assert_eq!(figures["kernel_time_ns"], number("SELECT SUM(duration_ns) FROM kernels", input));
        assert_eq!(figures["ranks"], number("SELECT COUNT(DISTINCT rank) FROM processes", input));
        let ends = "SELECT MAX(CAST(s AS BIGINT)) FROM (SELECT MAX(end_ns) - MIN(start_ns) AS s FROM gpu_segments GROUP BY process) AS t";
        assert_eq!(figures["span_ns"], number(ends, input));
        let document = fs::read_to_string(place.path().join("out").join(run["file"].as_str().unwrap())).unwrap();
        assert!(document.starts_with("# Both: "), "{document}");
        assert!(place.path().join("charts").join(run["file"].as_str().unwrap().replace(".md", "")).is_dir());
    }
    let [other, baseline] = [&index["runs"][0], &index["runs"][1]];
    assert_eq!((index["baseline"].as_str(), &baseline["changes"]), (Some("good"), &Value::Null));
    let of = |run: &Value, figure: &str| run["figures"][figure].as_f64().unwrap();
    let expected = (of(other, "span_ns") / of(baseline, "span_ns") - 1.0) * 100.0;
    assert!((other["changes"]["span"]["amount"].as_f64().unwrap() - expected).abs() < 1e-6);
    let expected = of(other, "busy_pct") - of(baseline, "busy_pct");
    assert!((other["changes"]["busy"]["amount"].as_f64().unwrap() - expected).abs() < 1e-6);
}

#[test]
fn what_a_run_is_can_be_wrong() {
    let place = runs();
    let refused = |arguments: &[&str], code: i32, message: &str| {
        let run = run_in(place.path(), &[&["report", "runs", "--group-by"], arguments].concat());
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{arguments:?}: {}", run.stderr);
    };
    refused(&["step(\\d+)"], 2, "step(\\d+) matches none of 3 paths of traces, such as runs/");
    refused(&["step("], 2, "neither folder nor input, and no regular expression");
    refused(
        &[""],
        2,
        "it is empty, and would match every path with nothing; write folder, input or a regular expression",
    );
    refused(&["folder", "-o", "x.html"], 2, "-o names one file");
    refused(&["folder", "--baseline", "bad"], 2, "--baseline bad is not a run; choose among");
    fs::create_dir(place.path().join("own")).unwrap();
    fs::write(place.path().join("own/good.html"), "mine").unwrap();
    refused(&["folder", "-d", "own"], 2, "good.html is there and no earlier report");
    assert_eq!(fs::read_to_string(place.path().join("own/good.html")).unwrap(), "mine");

    let partial = run_in(place.path(), &["report", "runs", "--group-by", "runs/(damaged)", "-d", "one"]);
    assert_eq!(partial.code, 5, "where all fail it is the code of the first: {}", partial.stderr);
    assert!(partial.stderr.contains("good/4100_results.db: belongs to no run"), "{}", partial.stderr);
    assert_eq!(index(&place.path().join("one"))["baseline"], Value::Null);
}

#[test]
fn findings_and_datasets_of_runs() {
    let place = tempfile::tempdir().unwrap();
    let dataset = place.path().join("data/converted");
    succeed(&["convert", "fixtures/merged", "-o", dataset.to_str().unwrap(), "-q"]);
    copy("merged/merged.db", place.path().join("data/raw/merged.db"));
    let asked = ["report", "data", "--group-by", "folder", "-f", "json", "-q", "--fail-on"];
    let run = run_in(place.path(), &[&asked[..], &["info"]].concat());
    assert_eq!(run.code, 4);
    assert!(run.stderr.lines().all(|line| line.starts_with("failed: ")), "{}", run.stderr);
    let index = index(&place.path().join("reports"));
    assert_eq!(names(&index), ["converted", "raw"]);
    assert_eq!(index["runs"][0]["figures"], index["runs"][1]["figures"], "a dataset tells what its sources do");
    let verdicts = index["runs"][1]["changes"].as_object().unwrap().values();
    assert!(verdicts.into_iter().all(|change| change["verdict"] == "same"));

    // Inputs in the order in which they are named; the output is not an input of the next run.
    let asked = ["report", "data/raw", "data/converted", "--group-by", "input", "-d", "data/reports", "-q"];
    for _ in 0..2 {
        assert_eq!(run_in(place.path(), &asked).code, 0);
    }
    assert_eq!(names(&self::index(&place.path().join("data/reports"))), ["raw", "converted"]);
}

#[test]
fn the_index_names_the_filters() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let inputs = ["fixtures/two_nodes", "fixtures/merged", "--group-by", "input", "-q", "-d", out.to_str().unwrap()];
    let narrowed = run(&[&["report"][..], &inputs, &["--window", "10%:20%"]].concat());
    assert_eq!(narrowed.code, 0, "{}", narrowed.stderr);
    let filters = &index(&out)["filters"];
    assert_eq!(filters[0]["option"], "--window");
    assert_eq!(filters[0]["value"], "10%:20%");
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("<code>--window 10%:20%</code>"), "the page names them too");
    let unmatched = run(&[&["report"][..], &inputs, &["--kernel", "nosuch"]].concat());
    assert_eq!(unmatched.code, 3, "{}", unmatched.stderr);
}

/// However an input is spelled, it is one run.
#[test]
fn an_input_named_twice_is_one_run() {
    let place = runs();
    symlink(place.path().join("runs/good"), place.path().join("linked")).unwrap();
    let inputs = ["runs/good", "./runs/good", "linked", "runs/../runs/good/"];
    let asked = [&["report"], &inputs[..], &["--group-by", "input", "--sections", "time", "-f", "md"]].concat();
    let run = run_in(place.path(), &asked);
    assert_eq!((run.code, run.stderr.lines().count()), (0, 2), "{}", run.stderr);
    assert_eq!(names(&index(&place.path().join("reports"))), ["good"]);
}

/// Documents that the index listed and that are not written again are removed; nothing else is.
#[test]
fn documents_of_runs_that_are_gone_are_removed() {
    let place = runs();
    fs::remove_dir_all(place.path().join("runs/empty")).unwrap();
    let reports = place.path().join("reports");
    let go = |format: &str| {
        run_in(place.path(), &["report", "runs", "--group-by", "folder", "--sections", "time", "-f", format])
    };
    let files = || -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(&reports).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(go("md").code, 6);
    assert_eq!(files(), ["b-x-y.md", "good.compared.html", "good.md", "index.html", "index.json"]);
    fs::write(reports.join("mine.md"), "mine").unwrap();
    fs::remove_dir_all(place.path().join("runs").join(HOSTILE)).unwrap();
    let removed =
        |name: &str| format!("note: removed reports/{name}, which an earlier report wrote and this one did not\n");
    let run = go("md");
    assert!(run.stderr.contains(&removed("b-x-y.md")) && run.stderr.matches("note: ").count() == 2, "{}", run.stderr);
    assert_eq!(files(), ["good.md", "index.html", "index.json", "mine.md"]);

    // Folders too, as long as they hold nothing else, and documents of runs that fail this time.
    assert!(go("csv").stderr.contains(&removed("good.md")));
    fs::write(reports.join("good/mine.csv"), "mine").unwrap();
    let run = go("md");
    assert!(run.stderr.contains("reports/good is of an earlier report and stays: it holds mine.csv"), "{}", run.stderr);
    fs::write(place.path().join("runs/good/4100_results.db"), "broken").unwrap();
    copy("merged/merged.db", place.path().join("runs/other/merged.db"));
    let run = go("md");
    assert!(run.code == 6 && run.stderr.contains(&removed("good.md")), "{}", run.stderr);

    // A list that leads elsewhere, or to an input, leads nowhere.
    let list = fs::read_to_string(reports.join("index.json")).unwrap();
    for elsewhere in ["../runs/other/merged.db", "/etc/hostname", "..", "index.json"] {
        fs::write(reports.join("index.json"), list.replace("other.md", elsewhere)).unwrap();
        let run = go("json");
        assert!(!run.stderr.contains("note: "), "{elsewhere}: {}", run.stderr);
        fs::remove_file(reports.join("other.json")).unwrap();
    }
    assert!(place.path().join("runs/other/merged.db").is_file() && reports.join("mine.md").is_file());
}

#[test]
fn of_many_traces_without_a_run_some_are_named() {
    let place = tempfile::tempdir().unwrap();
    for number in 0..30 {
        copy("merged/merged.db", place.path().join(format!("runs/{number}/merged.db")));
    }
    let asked = ["report", "runs", "--group-by", "runs/(7)/", "--sections", "time", "-f", "md"];
    let run = run_in(place.path(), &asked);
    assert_eq!(run.stderr.matches("belongs to no run").count(), 20, "{}", run.stderr);
    assert!(run.stderr.contains("warning: … 9 more of this kind; -v shows all"), "{}", run.stderr);
}

/// Statements that waited for polars began others on the same stack, and ended the program when these were many.
#[test]
fn statements_side_by_side_do_not_share_a_stack() {
    let place = TempDir::new().unwrap();
    let traces = fixture("two_nodes");
    for repetition in 0..4 {
        let output = format!("reports{repetition}");
        let words = ["report", traces.to_str().unwrap(), "--group-by", "folder", "-d", &output, "-q"];
        let mut command = program(&words);
        command.current_dir(place.path()).env("RUST_MIN_STACK", "1000000");
        let ended = finish(command);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
}

/// Documents of two runs side by side would be compared with one another.
#[cfg(unix)]
#[test]
fn a_killed_batch_leaves_documents_of_one_run() {
    let place = TempDir::new().unwrap();
    let traces = fixture("two_nodes");
    let out = place.path().join("reports");
    let batch = |title: &str, others: bool| {
        if others {
            fs::write(out.join("mine.txt"), "mine").unwrap();
        }
        let words =
            ["report", traces.to_str().unwrap(), "--group-by", "folder", "--sections", "time", "-q", "--title", title];
        program(&[&words[..], &["-d", out.to_str().unwrap()]].concat())
    };
    let start = Instant::now();
    assert_eq!(finish(batch("first", false)).code, 0);
    let whole = start.elapsed();
    for part in 1..=8 {
        let mut child = batch("second", false).spawn().unwrap();
        thread::sleep(whole * part / 8);
        let _ = child.kill();
        child.wait().unwrap();
        let pages: Vec<PathBuf> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
        let titled = |title: &str| {
            let title = format!("<title>{title}");
            pages.iter().filter(|page| fs::read_to_string(page).is_ok_and(|page| page.contains(&title))).count()
        };
        let found = (titled("first"), titled("second"));
        assert!(matches!(found, (3, 0) | (0, 3)), "{found:?}: {pages:?}");
        assert_eq!(finish(batch("first", false)).code, 0);
    }
    assert_eq!(finish(batch("second", true)).code, 0);
    assert_eq!(fs::read_to_string(out.join("mine.txt")).unwrap(), "mine");
}
