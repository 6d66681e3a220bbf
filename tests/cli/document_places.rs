//! Where documents go: -o, -d and what cannot be one.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use crate::common::{finish, listing, program, run};

#[test]
fn a_place_that_cannot_be_written_is_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(at("there")).unwrap();
    fs::write(at("taken"), "kept").unwrap();
    symlink(at("no such folder"), at("nothing")).unwrap();
    let cases: [(&[&str], &str); 8] = [
        (&["-o", "-", "-d", &at("there")], "takes no standard output; leave out -d, or name a file with -o"),
        (&["-d", &at("taken")], "is not a directory; name one with -d, or the file with -o"),
        (&["-o", &at("a.txt"), "-d", &at("there")], "is absolute, which leaves -d nothing to say; leave -d out"),
        (&["-o", &at("there")], "is a directory; name it with -d, or a file in it with -o"),
        (&["-o", &at("new/")], "is a directory; name it with -d, or a file in it with -o"),
        (&["-o", &at("missing/a.txt")], "is in a directory that does not exist; create it, or name it with -d"),
        (
            &["-o", &at("a.docx")],
            "a.docx ends in no format of documents (.txt, .json, .md, .html, .pdf, .xlsx); name one of them",
        ),
        (&["-o", &at("taken"), "-f", "csv"], "taken is not a folder, and the document is one; name another with -o"),
    ];
    for (options, reason) in cases {
        let run = run(&[&["analyze", "no such input"], options].concat());
        assert_eq!(run.code, 2, "{options:?}: {}", run.stderr);
        assert!(run.stderr.contains(reason), "{options:?}: {}", run.stderr);
    }
    assert_eq!(fs::read_to_string(at("taken")).unwrap(), "kept");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing was made");
}

#[test]
fn a_directory_is_made_and_the_format_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (options, written) in [
        (vec!["-d", "new/deep", "-f", "markdown"], "new/deep/analysis.md"),
        (vec!["-d", "new", "-o", "named", "-f", "json"], "new/named.json"),
        (vec!["-o", "plain.md"], "plain.md"),
        (vec!["-o", "two.json", "-f", "text"], "two.json.txt"),
        (vec!["-o", "v1.2", "-f", "text"], "v1.2.txt"),
        (vec!["-o", "bare"], "bare.txt"),
    ] {
        let mut words = vec!["analyze".to_owned(), "fixtures/two_nodes".to_owned(), "--top".to_owned(), "1".to_owned()];
        for word in &options {
            let placed = matches!(*word, "new/deep" | "new" | "plain.md" | "two.json" | "v1.2" | "bare");
            words.push(if placed { at(word).display().to_string() } else { (*word).to_owned() });
        }
        let run = run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(run.code, 0, "{options:?}: {}", run.stderr);
        assert!(at(written).is_file(), "{options:?}: {}", run.stderr);
        assert!(run.stderr.contains("wrote "), "{}", run.stderr);
    }
}

#[test]
fn a_folder_of_the_same_name_is_no_obstacle_and_a_device_needs_no_extension() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("analysis")).unwrap();
    let directory = folder.path().display().to_string();
    let beside = run(&["analyze", "fixtures/merged", "-f", "json", "-d", &directory]);
    assert_eq!(beside.code, 0, "{}", beside.stderr);
    assert!(folder.path().join("analysis.json").is_file());
    for format in ["text", "json", "html", "xlsx"] {
        let device = run(&["analyze", "fixtures/merged", "--sections", "time", "-f", format, "-o", "/dev/null"]);
        assert_eq!((device.code, device.stderr.as_str()), (0, "wrote /dev/null\n"), "{format}");
    }
    let folder = run(&["analyze", "no such input", "-f", "csv", "-o", "/dev/null"]);
    assert_eq!(folder.code, 2, "{}", folder.stderr);
    assert!(folder.stderr.contains("/dev/null is not a folder, and the document is one"), "{}", folder.stderr);
}

/// A folder that is there is filled from within: it keeps its rights, nothing next to it is written, links are followed.
#[test]
fn a_folder_that_is_there_is_filled_and_stays_the_same() {
    let place = tempfile::tempdir().unwrap();
    let (folder, link) = (place.path().join("out"), place.path().join("link"));
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o2770)).unwrap();
    symlink(&folder, &link).unwrap();
    let mut before = folder.metadata().unwrap();
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/merged");
    let asked = ["analyze", input.to_str().unwrap(), "--sections", "time", "-q"];
    let files = || -> Vec<String> {
        let below = listing(&folder).into_iter();
        below.map(|(path, _)| path.strip_prefix(&folder).unwrap().display().to_string()).collect()
    };
    for (output, format) in [(link.to_str().unwrap(), "csv"), (link.to_str().unwrap(), "csv"), (".", "parquet")] {
        if output == "." {
            // Others are replaced by a folder like them, but a user stays in the current one.
            let now = folder.metadata().unwrap();
            assert_eq!((before.mode(), before.uid(), before.gid()), (now.mode(), now.uid(), now.gid()));
            before = now;
        }
        let mut command = program(&[&asked[..], &["-f", format, "-o", output]].concat());
        command.current_dir(&folder);
        let run = finish(command);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{output}");
        assert!(files().contains(&format!("time/time_breakdown.{format}")), "{:?}", files());
    }
    assert!(files().iter().all(|file| !file.ends_with(".csv")), "what was there is replaced: {:?}", files());
    let after = folder.metadata().unwrap();
    assert_eq!((before.ino(), before.mode()), (after.ino(), after.mode()));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "nothing is left beside it");
    fs::write(folder.join("mine"), "").unwrap();
    let refused = run(&[&asked[..], &["-f", "csv", "-o", link.to_str().unwrap()]].concat());
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("holds mine, which is not from an earlier analysis"), "{}", refused.stderr);
}

/// A file named with -o is written over; a file that only has the name of a chart or of the report by chance is not.
#[test]
fn files_of_others_are_written_over_only_when_they_are_named() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/merged");
    let go = |arguments: &[&str]| {
        let named = [&arguments[..1], &[input.to_str().unwrap(), "--sections", "time"], &arguments[1..]].concat();
        let mut command = program(&named);
        command.current_dir(place.path());
        finish(command)
    };
    fs::write(at("named.html"), "mine").unwrap();
    assert_eq!(go(&["analyze", "-o", "named.html"]).code, 0);
    assert!(fs::read_to_string(at("named.html")).unwrap().starts_with("<!DOCTYPE html>"));

    fs::write(at("report.html"), "mine").unwrap();
    let refused = go(&["report"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("report.html is there and no earlier report; move it away"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(at("report.html")).unwrap(), "mine");
    fs::remove_file(at("report.html")).unwrap();
    assert_eq!((go(&["report"]).code, go(&["report"]).code), (0, 0), "its own is written over");

    for name in ["time-time_breakdown.svg", "time-gpu_utilization_map.png"] {
        fs::create_dir(at("charts")).unwrap();
        fs::write(at("charts").join(name), "mine").unwrap();
        let refused = go(&["analyze", "--charts", "charts"]);
        assert_eq!(refused.code, 2, "{name}");
        let reason = format!("charts/{name} is there and no earlier chart; move it away");
        assert!(refused.stderr.contains(&reason) && refused.stdout.is_empty(), "{}", refused.stderr);
        assert_eq!(fs::read_to_string(at("charts").join(name)).unwrap(), "mine");
        fs::remove_dir_all(at("charts")).unwrap();
    }
    fs::create_dir(at("charts")).unwrap();
    fs::write(at("charts/other.svg"), "mine").unwrap();
    for _ in 0..2 {
        assert_eq!(go(&["analyze", "--charts", "charts", "-q"]).code, 0, "its own are written over");
    }
    assert_eq!(fs::read_to_string(at("charts/other.svg")).unwrap(), "mine");
    fs::write(at("charts/time_breakdown.png"), "mine").unwrap();
    let table = run(&["table", "time_breakdown", "fixtures/merged", "--charts", at("charts").to_str().unwrap()]);
    assert_eq!((table.code, table.stdout.as_str()), (2, ""), "{}", table.stderr);
    assert_eq!(fs::read_to_string(at("charts/time_breakdown.png")).unwrap(), "mine");
}

#[test]
fn charts_lie_in_no_folder_that_is_written_as_a_whole() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).display().to_string();
    fs::create_dir(at("out")).unwrap();
    symlink(at("out"), at("link")).unwrap();
    for charts in ["out", "out/deep/charts", "link/charts"] {
        let refused = run(&["analyze", "fixtures/merged", "-f", "csv", "-o", &at("out"), "--charts", &at(charts)]);
        assert_eq!(refused.code, 2, "{charts}: {}", refused.stderr);
        assert!(refused.stderr.contains("which is written as a whole; name another directory"), "{}", refused.stderr);
    }
    let batch = ["report", "fixtures/merged", "--group-by", "input", "-q", "--sections", "time"];
    let same = run(&[&batch[..], &["-f", "csv", "-d", &at("reports"), "--charts", &at("reports")]].concat());
    assert_eq!(same.code, 2, "{}", same.stderr);
    let beside = run(&[&batch[..], &["-d", &at("reports"), "--charts", &at("reports")]].concat());
    assert_eq!((beside.code, beside.stderr.as_str()), (0, ""));
    assert!(place.path().join("reports/merged/time-time_breakdown.svg").is_file());
    assert_eq!(fs::read_dir(at("out")).unwrap().count(), 0);
    // A folder that only the charts of a run would be written to.
    let traces = place.path().join("apart/two_nodes");
    fs::create_dir_all(&traces).unwrap();
    fs::copy("fixtures/two_nodes/node0/4100_results.db", traces.join("4100_results.db")).unwrap();
    let batch = ["report", traces.to_str().unwrap(), "--group-by", "input", "-q", "-d", &at("reports")];
    let inside = run(&[&batch[..], &["--charts", &at("apart")]].concat());
    assert_eq!(inside.code, 2, "{}", inside.stderr);
    assert!(inside.stderr.contains("apart/two_nodes is an input, which is never written"), "{}", inside.stderr);
}
