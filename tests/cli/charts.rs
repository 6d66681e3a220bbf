//! Answers as pictures.

use std::fs;
use std::path::Path;

use crate::common::{run, succeed};

const INPUT: &str = "fixtures/two_nodes";

/// Names of the queries that declare a picture.
fn drawn_queries() -> Vec<String> {
    let mut names = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("queries");
    // Files shared by queries lie next to the families.
    let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    for family in entries.filter(|path| path.is_dir()) {
        for file in fs::read_dir(family).unwrap() {
            let path = file.unwrap().path();
            if fs::read_to_string(&path).unwrap().contains("\n-- plot: ") {
                names.push(path.file_stem().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    names.sort();
    names
}

#[test]
fn every_declared_picture_can_be_drawn() {
    let names = drawn_queries();
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        let run = run(&["table", &name, INPUT, "--plot", "--rows", "1", "-q"]);
        assert!([0, 3].contains(&run.code), "{name}: {}", run.stderr);
        assert!(!run.stdout.contains('\u{1b}'), "{name}: {}", run.stdout);
    }
}

#[test]
fn pictures_are_written_as_files() {
    let folder = std::env::temp_dir().join(format!("wavesieve-charts-{}", std::process::id()));
    let path = folder.to_string_lossy().into_owned();
    let drawn = || {
        succeed(&["table", "time_breakdown", INPUT, "--by", "rank", "--charts", &path, "-q"]);
        ["time_breakdown.svg", "time_breakdown.png"].map(|name| fs::read(folder.join(name)).unwrap())
    };
    let [svg, png] = drawn();
    assert_eq!(drawn(), [svg.clone(), png.clone()]);
    let svg = String::from_utf8(svg).unwrap();
    for part in ["rank 0", "rank 3", ">compute<", ">exposed communication<", ">idle<", "role=\"img\""] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    assert!(png.starts_with(b"\x89PNG"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn pictures_do_not_lie_among_inputs() {
    let run = run(&["table", "time_breakdown", INPUT, "--charts", INPUT]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("is an input, which is never written"), "{}", run.stderr);
}

#[test]
fn tables_have_pictures_of_characters_under_them() {
    insta::assert_snapshot!(succeed(&["table", "time_breakdown", INPUT, "--by", "rank", "--plot", "-q"]));
}
