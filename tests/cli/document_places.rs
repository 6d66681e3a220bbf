//! Where documents go: -o, -d and what cannot be one.

use std::fs;

use crate::common::run;

#[test]
fn a_place_that_cannot_be_written_is_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(at("there")).unwrap();
    fs::write(at("taken"), "kept").unwrap();
    let cases: [(&[&str], &str); 6] = [
        (&["-o", "-", "-d", &at("there")], "takes no standard output; leave out -d, or name a file with -o"),
        (&["-d", &at("taken")], "is no directory; name one with -d, or the file with -o"),
        (&["-o", &at("a.txt"), "-d", &at("there")], "is absolute, which leaves -d nothing to say; leave -d out"),
        (&["-o", &at("there")], "is a directory; name it with -d, or a file in it with -o"),
        (&["-o", &at("new/")], "is a directory; name it with -d, or a file in it with -o"),
        (&["-o", &at("missing/a.txt")], "is in a directory that does not exist; create it, or name it with -d"),
    ];
    for (options, reason) in cases {
        let run = run(&[&["analyze", "no such input"], options].concat());
        assert_eq!(run.code, 2, "{options:?}: {}", run.stderr);
        assert!(run.stderr.contains(reason), "{options:?}: {}", run.stderr);
    }
    assert_eq!(fs::read_to_string(at("taken")).unwrap(), "kept");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing was made");
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
    ] {
        let mut words = vec!["analyze".to_owned(), "fixtures/two_nodes".to_owned(), "--top".to_owned(), "1".to_owned()];
        for word in &options {
            let placed = matches!(*word, "new/deep" | "new" | "plain.md" | "two.json");
            words.push(if placed { at(word).display().to_string() } else { (*word).to_owned() });
        }
        let run = run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(run.code, 0, "{options:?}: {}", run.stderr);
        assert!(at(written).is_file(), "{options:?}: {}", run.stderr);
        assert!(run.stderr.contains("wrote "), "{}", run.stderr);
    }
}

#[test]
fn a_folder_of_the_same_name_is_no_obstacle_and_a_device_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("analysis")).unwrap();
    let directory = folder.path().display().to_string();
    let beside = run(&["analyze", "fixtures/merged", "-f", "json", "-d", &directory]);
    assert_eq!(beside.code, 0, "{}", beside.stderr);
    assert!(folder.path().join("analysis.json").is_file());
    let device = run(&["analyze", "no such input", "-o", "/dev/null"]);
    assert_eq!(device.code, 2, "{}", device.stderr);
    assert!(device.stderr.contains("/dev/null is no regular file; name one, or - for standard output"));
}
