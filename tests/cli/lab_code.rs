//! `lab code`: kernels of code objects, as they are listed.

use std::fs;

use serde_json::Value;

use crate::common::{run, succeed};

const OBJECT: &str = "fixtures/code_object/kernels.hsaco";
const SOURCE: &str = "fixtures/code_object/kernels.hip";

#[test]
fn a_listing() {
    insta::assert_snapshot!("lab_code", succeed(&["lab", "code", OBJECT, "--source", SOURCE]));
    let text = succeed(&["lab", "code", OBJECT, "-f", "json", "--kernel", "heavy", "--dynamic-lds", "16K"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    let object = &json["files"][0]["code_objects"][0];
    assert_eq!((object["target"].as_str(), object["kernel_count"].as_u64()), (Some("gfx942"), Some(5)));
    let kernel = &object["kernels"][0];
    assert_eq!(kernel["symbol"].as_str(), Some("heavy.kd"));
    assert_eq!((kernel["vgpr"].as_u64(), kernel["accum_vgpr"].as_u64()), (Some(80), Some(16)));
    assert_eq!(kernel["occupancy"]["work_items"].as_u64(), Some(1024));
    assert!(kernel.get("source").is_none());
}

#[test]
fn listings_of_every_kernel_name_its_place() {
    let text = succeed(&["lab", "code", OBJECT, "-f", "json", "--source", SOURCE]);
    let json: Value = serde_json::from_str(&text).unwrap();
    let lines: Vec<&str> = fs::read_to_string(SOURCE).unwrap().leak().lines().collect();
    for kernel in json["files"][0]["code_objects"][0]["kernels"].as_array().unwrap() {
        let [place] = kernel["source"].as_array().unwrap().as_slice() else { panic!("{kernel}") };
        let line = lines[place["line"].as_u64().unwrap() as usize - 1];
        let (name, shown) = (kernel["name"].as_str().unwrap(), kernel["demangled"].as_str().unwrap());
        let own = if name.starts_with("_Z") { "scale" } else { name };
        assert!(line.contains(&format!("void {own}(")) && shown.contains(own), "{line}");
    }
}

#[test]
fn comparisons() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.hsaco");
    let mut code = fs::read(OBJECT).unwrap();
    // The second kind of argument of `heavy`, the last pointer of the file.
    let at = memchr_last(&code, b"global_buffer").unwrap();
    code[at..at + 13].copy_from_slice(b"by_valueXXXXX");
    fs::write(&other, &code).unwrap();
    let other = other.to_str().unwrap();
    let same = succeed(&["lab", "code", OBJECT, "--against", OBJECT]);
    assert_eq!(same.matches("  same interface\n  same resources\n").count(), 5);
    let (code, out, _) = parts(&["lab", "code", other, "--against", OBJECT]);
    assert_eq!(code, 4);
    assert!(
        out.contains("heavy (gfx942)\n  interface differs: argument 2 is by_valueXXXXX instead of global_buffer\n"),
        "{out}"
    );
    assert_eq!(out.matches("  same interface\n").count(), 4);
}

fn memchr_last(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).rposition(|window| window == text)
}

fn parts(arguments: &[&str]) -> (i32, String, String) {
    let output = run(arguments);
    (output.code, output.stdout, output.stderr)
}

#[test]
fn what_cannot_be_listed() {
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.hsaco");
    fs::write(&cut, &fs::read(OBJECT).unwrap()[..3000]).unwrap();
    let cut = cut.to_str().unwrap();
    // The notes are there, and the code is not.
    let (late, narrow) = (folder.path().join("late.hsaco"), folder.path().join("narrow.o"));
    let mut code = fs::read(OBJECT).unwrap();
    fs::write(&late, &code[..8000]).unwrap();
    code[4] = 1;
    fs::write(&narrow, &code).unwrap();
    let (late, narrow) = (late.to_str().unwrap(), narrow.to_str().unwrap());
    for (arguments, code, expected) in [
        (&["no/such.hsaco"][..], 2, "no/such.hsaco does not exist"),
        (&["README.md"], 3, "neither an AMDGPU code object"),
        (&["/proc/self/exe"], 3, "has no .hip_fatbin section"),
        (&[cut], 5, "damaged ELF file"),
        (&[cut, OBJECT], 5, "damaged ELF file"),
        (&[OBJECT, "--kernel", "zzz"], 3, "no kernel has such a name"),
        (&[OBJECT, "--source", "no/such.hip"], 2, "no/such.hip"),
        (&[OBJECT, "--against", "README.md"], 3, "neither an AMDGPU code object"),
        (&[OBJECT, "--work-items", "0"], 2, "--work-items"),
        (&[OBJECT, "-o", "list.csv"], 2, "list.csv"),
        (&["/dev/zero"], 2, "it is not a regular file"),
        (&["tests"], 2, "it is not a regular file"),
        (&[OBJECT, "--source", "/dev/zero"], 2, "is not a regular file"),
        (&[OBJECT, "--against", cut], 5, "damaged ELF file"),
        (&[late], 5, "damaged ELF file"),
        (&[OBJECT, "--against", late], 5, "damaged ELF file"),
        (&[narrow], 3, "unsupported ELF file (32-bit)"),
        (&[OBJECT, "--dynamic-lds", "99999999999999999999"], 2, "--dynamic-lds"),
    ] {
        let (found, _, error) = parts(&[&["lab", "code"], arguments].concat());
        assert_eq!(found, code, "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn inputs_are_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (object, source) = (at("k.hsaco"), at("k.hip"));
    fs::copy(OBJECT, &object).unwrap();
    fs::copy(SOURCE, &source).unwrap();
    fs::create_dir(at("folder")).unwrap();
    std::os::unix::fs::symlink(&object, at("link.json")).unwrap();
    let before = (fs::read(&object).unwrap(), fs::read(&source).unwrap());
    for (options, output) in [
        (&[object.as_str()][..], object.clone()),
        (&[&object], at("folder/../k.hsaco")),
        (&[&object], at("link.json")),
        (&[&object, "--source", &source], source.clone()),
        (&[OBJECT, "--against", &object], object.clone()),
    ] {
        let (code, _, error) = parts(&[&["lab", "code", "-f", "json", "-o", &output], options].concat());
        assert!(code == 2 && error.contains("is an input"), "{options:?} {output}: {code} {error}");
    }
    assert!(before == (fs::read(&object).unwrap(), fs::read(&source).unwrap()));
}

#[test]
fn occupancy_is_that_of_launches_that_can_happen() {
    // `shuffle` may have 256 work-items.
    let text = succeed(&["lab", "code", OBJECT, "--kernel", "shuffle", "--work-items", "257"]);
    assert!(text.contains("occupancy unknown: it is built for workgroups of up to 256 work-items, not 257"), "{text}");
    let text = succeed(&["lab", "code", OBJECT, "--kernel", "shuffle", "--work-items", "256"]);
    assert!(!text.contains("occupancy unknown"), "{text}");
}

#[test]
fn a_lower_limit_and_another_gpu_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.hsaco");
    let mut code = fs::read(OBJECT).unwrap();
    // 1024 as MessagePack has it, in all kernels that allow so many.
    let key = b".max_flat_workgroup_size\xcd\x04\x00";
    let places: Vec<usize> =
        code.windows(key.len()).enumerate().filter(|(_, text)| text == key).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in &places {
        code[at + key.len() - 2..at + key.len()].copy_from_slice(&[0, 64]);
    }
    fs::write(&other, &code).unwrap();
    let other = other.to_str().unwrap();
    let (code, out, _) = parts(&["lab", "code", other, "--against", OBJECT]);
    let named = "launches differ: it is built for workgroups of up to 64 work-items instead of 1024";
    assert!(code == 4 && out.matches(named).count() == places.len(), "{out}");
    let (code, out, _) = parts(&["lab", "code", OBJECT, "--against", other]);
    assert!(code == 0 && !out.contains("launches differ"), "{out}");
    let mut foreign = fs::read(OBJECT).unwrap();
    let target = memchr_last(&foreign, b"--gfx942").unwrap();
    foreign[target..target + 8].copy_from_slice(b"--gfx90a");
    fs::write(other, &foreign).unwrap();
    let (code, out, _) = parts(&["lab", "code", OBJECT, "--against", other]);
    assert!(code == 4 && out.matches("  missing: there is no code for gfx90a\n").count() == 5, "{out}");
}
