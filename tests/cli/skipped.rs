//! A test that cannot run is counted, and fails where every tool should be there.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::permissions::where_permissions_count;
use crate::skipping::{absent, note};

#[test]
fn a_test_without_its_tool_is_counted_once_or_fails() {
    let place = tempfile::tempdir().unwrap();
    let list = place.path().join("skipped");
    assert_eq!(absent(&["sh", "no-such-tool", "git"]), ["no-such-tool"]);
    for line in ["one: without a tool", "two: without a tool", "one: without a tool"] {
        note(line, Some(list.as_os_str()), Some(OsStr::new("0"))).unwrap();
    }
    assert_eq!(fs::read_to_string(&list).unwrap(), "one: without a tool\ntwo: without a tool\n");
    note("three", None, None).unwrap();
    let refused = note("three", Some(list.as_os_str()), Some(OsStr::new("1"))).unwrap_err();
    assert!(refused.contains("WAVESIEVE_REQUIRE_TOOLS=1"), "{refused}");
    assert!(!fs::read_to_string(&list).unwrap().contains("three"));
    assert!(note("four", Some(place.path().as_os_str()), None).is_err(), "a line that is lost would be a pass");
}

#[test]
fn permissions_count_in_a_thread_of_root_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("closed");
    fs::write(&path, "text").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
    let before = fs::read(&path).is_ok();
    if let Some(inside) = where_permissions_count(|| fs::read(&path).is_ok()) {
        assert!(!inside);
    }
    assert_eq!(fs::read(&path).is_ok(), before, "other threads keep their rights");
}
