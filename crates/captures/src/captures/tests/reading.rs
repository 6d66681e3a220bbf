//! Captures of all kinds are read, and problems of a capture are named.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::super::properties::capture_files;
use super::super::*;

const DISPATCH_TEXT: &str = r#"{
  "mangled_name": "scale.kd", "demangled_name": "scale(float*, int) [clone .kd]", "agent_name": "gfx942",
  "isa_name": "amdgcn-amd-amdhsa--gfx942", "wavefront_size": 64, "kernel_object": 140737488355328,
  "grid": [256, 1, 1], "block": [64, 1, 1], "group_segment_size": 1024, "private_segment_size": 0,
  "kernarg_size": 16, "dispatch_index": 3
}"#;

/// A capture as rocm-perf-lab writes it.
fn of_perf_lab() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::create_dir(at.join("memory")).unwrap();
    fs::write(at.join("dispatch.json"), DISPATCH_TEXT).unwrap();
    fs::write(at.join("kernarg.bin"), [7; 16]).unwrap();
    fs::write(at.join("kernel.hsaco"), b"\x7fELF").unwrap();
    let regions = r#"{"regions": [
        {"base": 1048640, "size": 100, "is_pool": true, "is_vmem": false, "contains_kernarg": true, "handle": 0, "access": 0},
        {"base": 1048576, "size": 64, "is_pool": true, "is_vmem": false, "contains_kernarg": false, "handle": 0, "access": 0}
    ]}"#;
    fs::write(at.join("memory_regions.json"), regions).unwrap();
    fs::write(at.join("memory/region_100000.bin"), [1; 64]).unwrap();
    fs::write(at.join("memory/region_100040.bin"), [2; 100]).unwrap();
    directory
}

fn message(directory: &Path) -> String {
    let read = Capture::read(directory).and_then(|capture| {
        capture.regions.regions.iter().try_for_each(|region| capture.open_region(region).map(drop))
    });
    read.unwrap_err().to_string().replace(&directory.display().to_string(), "CAPTURE")
}

/// The bytes of all regions.
fn memory(capture: &Capture, check: Check) -> Result<Vec<Vec<u8>>, CaptureError> {
    let blobs: Vec<StoredBlob> =
        capture.regions.regions.iter().map(|region| capture.open_region(region).unwrap()).collect();
    let mut targets: Vec<Vec<u8>> = blobs.iter().map(|blob| vec![0xee; blob.size() as usize]).collect();
    let pairs = blobs.iter().zip(targets.iter_mut().map(Vec::as_mut_slice)).collect();
    restore(pairs, check, 3)?;
    let parts = std::sync::Mutex::new(targets.clone());
    parts.lock().unwrap().iter_mut().for_each(|part| part.fill(0xdd));
    let all: Vec<&StoredBlob> = blobs.iter().collect();
    restore_by(&all, check, 3, &|number, offset, bytes| {
        parts.lock().unwrap()[number][offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    })?;
    assert_eq!(parts.into_inner().unwrap(), targets);
    Ok(targets)
}

#[test]
fn captures_of_rocm_perf_lab_are_read_in_the_order_of_addresses() {
    let directory = of_perf_lab();
    let capture = Capture::read(directory.path()).unwrap();
    assert_eq!(capture.origin, Origin::RocmPerfLab);
    assert_eq!((capture.dispatch.kernel(), capture.dispatch.shown_name().as_str()), ("scale", "scale(float*, int)"));
    let bases: Vec<u64> = capture.regions.regions.iter().map(|region| region.base).collect();
    assert_eq!(bases, [0x10_0000, 0x10_0040]);
    assert_eq!(spans(&capture.regions.regions, 4096), [Span { base: 0x10_0000, size: 4096, regions: vec![0, 1] }]);
    assert_eq!(memory(&capture, Check::Hashes).unwrap(), [vec![1; 64], vec![2; 100]]);
}

#[test]
fn captures_of_kerncap_have_variables() {
    let directory = of_perf_lab();
    let at = directory.path();
    fs::write(at.join("metadata.json"), r#"{"gpu_arch": "gfx942", "kernarg_segment_size_meta": 16, "args": []}"#)
        .unwrap();
    let variables = r#"{"variables": [{"executable_sha256": "ab", "name": "table", "size": 3, "blob": "module_variables/ab_table.bin"}]}"#;
    fs::write(at.join("module_variables.json"), variables).unwrap();
    fs::create_dir(at.join("module_variables")).unwrap();
    fs::write(at.join("module_variables/ab_table.bin"), "abc").unwrap();
    let capture = Capture::read(at).unwrap();
    assert_eq!((capture.origin, capture.metadata.kernarg_segment_size_meta), (Origin::Kerncap, Some(16)));
    assert_eq!(capture.read_variable(&capture.variables[0]).unwrap(), b"abc");
    fs::write(at.join("module_variables/ab_table.bin"), "ab").unwrap();
    let error = capture.read_variable(&capture.variables[0]).unwrap_err().to_string();
    assert!(error.contains("has 2 bytes, not the 3 recorded"), "{error}");
}

#[test]
fn a_comma_that_nothing_follows_is_passed_over() {
    let directory = of_perf_lab();
    let text = r#"{"regions": [{"base": 4096, "size": 8, "handle": 0, "x": "a,] \",}"} , ]}"#;
    fs::write(directory.path().join("memory_regions.json"), text).unwrap();
    assert_eq!(Capture::read(directory.path()).unwrap().regions.regions.len(), 1);
}

#[test]
fn what_is_wrong_is_named() {
    let directory = of_perf_lab();
    let at = directory.path();
    let messages = [
        message(&at.join("nowhere")),
        {
            fs::write(at.join("memory/region_100040.bin"), [2; 99]).unwrap();
            message(at)
        },
        {
            fs::remove_file(at.join("memory/region_100040.bin")).unwrap();
            message(at)
        },
        {
            fs::write(at.join("memory_regions.json"), r#"{"traceEvents": []}"#).unwrap();
            message(at)
        },
        {
            let text = r#"{"regions": [{"base": 4096, "size": 8192}, {"base": 8192, "size": 10}]}"#;
            fs::write(at.join("memory_regions.json"), text).unwrap();
            message(at)
        },
        {
            fs::write(at.join("memory_regions.json"), r#"{"regions": [{"base": 4096, "size": 18446744073709551615}]}"#)
                .unwrap();
            message(at)
        },
        {
            fs::write(at.join("kernarg.bin"), [7; 15]).unwrap();
            message(at)
        },
        {
            fs::write(at.join("dispatch.json"), DISPATCH_TEXT.replace("[256, 1, 1]", "[256, 0, 1]")).unwrap();
            message(at)
        },
        {
            fs::write(at.join("dispatch.json"), "kernel,grid\nscale,256").unwrap();
            message(at)
        },
        {
            fs::remove_file(at.join("dispatch.json")).unwrap();
            message(at)
        },
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn zeros_take_no_room_and_damage_is_found() {
    let bytes: Vec<u8> = (0..5_000_000_u32).map(|at| if at / 1_048_576 == 2 { 0 } else { (at % 251) as u8 }).collect();
    for encoding in [Encoding::Plain, Encoding::Zstd] {
        let directory = of_perf_lab();
        let at = directory.path();
        let copy = |offset: u64, target: &mut [u8]| {
            target.copy_from_slice(&bytes[offset as usize..][..target.len()]);
            Ok(())
        };
        let blob = write_blob(at, 0x20_0000, 5_000_000, BlobOptions { encoding, threads: 2 }, &copy).unwrap();
        let stored: Vec<u64> = blob.chunks.iter().map(|chunk| chunk.0).collect();
        assert_eq!((stored.len(), stored[2]), (5, 0), "{stored:?}");
        let file = at.join(&blob.file);
        let region = Region { base: 0x20_0000, size: 5_000_000, blob: Some(blob), ..Region::default() };
        write_json(&at.join("memory_regions.json"), &Regions { regions: vec![region] }).unwrap();
        let capture = Capture::read(at).unwrap();
        assert!(memory(&capture, Check::Hashes).unwrap()[0] == bytes);
        assert!(memory(&capture, Check::Nothing).unwrap()[0] == bytes);
        let mut damaged = fs::read(&file).unwrap();
        if encoding == Encoding::Plain {
            assert_eq!(damaged, bytes);
        } else {
            assert!(damaged.len() < 500_000, "{}", damaged.len());
        }
        let at_eighth = damaged.len() / 8;
        damaged[at_eighth] ^= 0x40;
        fs::write(&file, &damaged).unwrap();
        let error = memory(&capture, Check::Hashes).map(drop).unwrap_err().to_string();
        assert!(error.contains("do not fit their hash") || error.contains("cannot be decompressed"), "{error}");
        damaged.pop();
        fs::write(&file, &damaged).unwrap();
        assert!(message(at).contains("it is truncated"), "{}", message(at));
    }
}

#[test]
fn zeros_have_a_hash_too() {
    for encoding in [Encoding::Plain, Encoding::Zstd] {
        let directory = of_perf_lab();
        let at = directory.path();
        let copy = |_: u64, target: &mut [u8]| {
            target.fill(0);
            Ok(())
        };
        let mut blob = write_blob(at, 0x20_0000, 9000, BlobOptions { encoding, threads: 1 }, &copy).unwrap();
        let capture_of = |blob: &Blob| {
            let region = Region { base: 0x20_0000, size: 9000, blob: Some(blob.clone()), ..Region::default() };
            write_json(&at.join("memory_regions.json"), &Regions { regions: vec![region] }).unwrap();
            Capture::read(at).unwrap()
        };
        assert_eq!(memory(&capture_of(&blob), Check::Hashes).unwrap(), [vec![0; 9000]]);
        blob.chunks[0].1.0 ^= 1;
        let error = memory(&capture_of(&blob), Check::Hashes).unwrap_err().to_string();
        assert!(error.contains("do not fit their hash"), "{error}");
    }
}

#[test]
fn a_size_of_nothing_does_not_hide_bytes() {
    let directory = of_perf_lab();
    let path = directory.path().join("memory_regions.json");
    let text = fs::read_to_string(&path).unwrap().replace(r#""size": 64"#, r#""size": 0"#);
    fs::write(&path, &text).unwrap();
    assert!(message(directory.path()).contains("region_100000.bin has 64 bytes, not the 0 recorded"));
    fs::remove_file(directory.path().join("memory/region_100000.bin")).unwrap();
    assert_eq!(Capture::read(directory.path()).unwrap().regions.regions.len(), 1);
    let text = text.replace(r#""size": 0,"#, r#""size": 0, "blob": {"file": "memory/x", "encoding": "zstd", "chunk_bytes": 4096, "chunks": [[9, "0123456789abcdef"]]},"#);
    fs::write(&path, &text).unwrap();
    assert!(message(directory.path()).contains("memory/x has 9 bytes, not the 0 recorded"));
}

#[test]
fn variables_of_a_capture_of_ours_are_not_missing() {
    let directory = of_perf_lab();
    let metadata = Metadata { format: FORMAT.to_owned(), format_version: FORMAT_VERSION, ..Metadata::default() };
    write_json(&directory.path().join("metadata.json"), &metadata).unwrap();
    assert!(message(directory.path()).starts_with("CAPTURE/module_variables.json is missing"));
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_read() {
    for name in ["dispatch.json", "kernarg.bin", "memory_regions.json", "memory/region_100000.bin"] {
        let directory = of_perf_lab();
        let path = directory.path().join(name);
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(message(directory.path()).contains("it is not a file"), "{name}");
    }
}

#[test]
fn memory_that_cannot_be_copied_leaves_no_file() {
    let directory = of_perf_lab();
    let options = BlobOptions { encoding: Encoding::Plain, threads: 2 };
    let copy = |offset: u64, _: &mut [u8]| if offset > 0 { Err("no access".to_owned()) } else { Ok(()) };
    let error = write_blob(directory.path(), 0x30_0000, 3 << 20, options, &copy).unwrap_err().to_string();
    assert!(error.ends_with("memory/region_300000.bin: no access"), "{error}");
    assert!(!directory.path().join("memory/region_300000.bin").exists());
}

#[test]
fn files_do_not_lead_outside() {
    let directory = of_perf_lab();
    for name in ["../x", "/etc/passwd", "", "memory/../../x"] {
        let blob = Blob {
            file: name.to_owned(),
            encoding: Encoding::Plain,
            chunk_bytes: 4096,
            chunks: vec![Chunk(8, Hash(0))],
        };
        let region = Region { base: 4096, size: 8, blob: Some(blob), ..Region::default() };
        let error = StoredBlob::open(directory.path(), &region).unwrap_err().to_string();
        assert!(error.contains("outside of the capture"), "{error}");
    }
    let long = variable_file("0123456789abcdef0123", 4, "ns::table/\u{e9} x");
    assert_eq!(long, "module_variables/0123456789abcdef_4_ns__table___x.bin");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        capture_files(&bytes);
    }

    #[test]
    fn any_regions_are_read_or_refused(regions in prop::collection::vec((0..40_u64, 0..9_u64), 0..12), unit in 1..5000_u64) {
        let regions = regions.into_iter().map(|(base, size)| Region { base: base * unit, size: size * unit, ..Region::default() });
        capture_files(&serde_json::to_vec(&Regions { regions: regions.collect() }).unwrap());
    }

    #[test]
    fn damaged_json_is_read_or_refused(at in 0..400_usize, byte in any::<u8>()) {
        let mut text = DISPATCH_TEXT.as_bytes().to_vec();
        if let Some(target) = text.get_mut(at) {
            *target = byte;
        }
        capture_files(&text);
    }
}
