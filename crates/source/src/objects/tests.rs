use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use crate::skipping::has_tools;

/// Kernels whose notes and code are compared with the output of LLVM's tools.
const SOURCE: &str = data!("fixtures/code_object/kernels.hip");
const CLANG: &str = "clang++-19";
const LINKER: &str = "ld.lld-19";
const BUNDLER: &str = "clang-offload-bundler-19";
const READELF: &str = "llvm-readelf-19";
const OBJCOPY: &str = "llvm-objcopy-19";

fn run(tool: &str, arguments: &[&str]) -> String {
    let output = Command::new(tool).args(arguments).output().unwrap();
    assert!(output.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Compiles a source to a code object with options of clang.
fn compiled(folder: &Path, source: &str, target: &str, options: &[&str]) -> PathBuf {
    let (input, output) = (folder.join("source.hip"), folder.join(format!("{}.hsaco", target.replace(':', "_"))));
    fs::write(&input, source).unwrap();
    let target = format!("--offload-arch={target}");
    let mut arguments = vec!["-x", "hip", "--cuda-device-only", "-O3", "-nogpulib", "-nogpuinc", &target];
    arguments.extend(if options.contains(&"--gpu-bundle-output") { &[][..] } else { &["--no-gpu-bundle-output"] });
    arguments.extend_from_slice(options);
    let (from, to) = (input.to_str().unwrap().to_owned(), output.to_str().unwrap().to_owned());
    arguments.extend(["-o", &to, &from]);
    run(CLANG, &arguments);
    output
}

fn fixture() -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/code_object/kernels.hsaco")).unwrap()
}

/// Makes a plain bundle of entries.
fn bundle(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut head = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    head.extend((entries.len() as u64).to_le_bytes());
    let ids: usize = entries.iter().map(|(id, _)| 24 + id.len()).sum();
    let mut offset = (head.len() + ids) as u64;
    for (id, code) in entries {
        head.extend(offset.to_le_bytes());
        head.extend((code.len() as u64).to_le_bytes());
        head.extend((id.len() as u64).to_le_bytes());
        head.extend(id.as_bytes());
        offset += code.len() as u64;
    }
    entries.iter().for_each(|(_, code)| head.extend(*code));
    head
}

fn compressed(version: u16, method: u16, content: &[u8], plain: u64) -> Vec<u8> {
    let mut head = b"CCOB".to_vec();
    head.extend(version.to_le_bytes());
    head.extend(method.to_le_bytes());
    match version {
        1 => head.extend((plain as u32).to_le_bytes()),
        2 => {
            head.extend((24 + content.len() as u32).to_le_bytes());
            head.extend((plain as u32).to_le_bytes());
        }
        _ => {
            head.extend((32 + content.len() as u64).to_le_bytes());
            head.extend(plain.to_le_bytes());
        }
    }
    head.extend(7_u64.to_le_bytes());
    head.extend(content);
    head
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Figures of a kernel by their keys; offset, size and kind of each argument.
type Printed = (BTreeMap<String, String>, Vec<[String; 3]>);

/// Parses the output of `llvm-readelf`: the scalar lines of each kernel's notes, and the offsets, sizes and kinds of
/// its arguments.
fn printed(notes: &str) -> BTreeMap<String, Printed> {
    let mut kernels = BTreeMap::new();
    let body = notes.split("amdhsa.target").next().unwrap().split("amdhsa.kernels:").nth(1).unwrap();
    for kernel in body.split("\n  - ").skip(1) {
        let (mut figures, mut arguments) = (BTreeMap::new(), Vec::new());
        let mut argument: BTreeMap<String, String> = BTreeMap::new();
        let mut close = |argument: &mut BTreeMap<String, String>| {
            if !argument.is_empty() {
                arguments.push([".offset", ".size", ".value_kind"].map(|key| argument[key].clone()));
                argument.clear();
            }
        };
        for line in kernel.lines() {
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim_start_matches([' ', '-']).to_owned(), value.trim().to_owned());
            if line.starts_with("      - ") {
                close(&mut argument);
            }
            if line.starts_with("      ") {
                argument.insert(key, value);
            } else {
                close(&mut argument);
                figures.insert(key, value);
            }
        }
        close(&mut argument);
        kernels.insert(figures[".name"].clone(), (figures, arguments));
    }
    kernels
}

/// Compares a file with the output of `llvm-readelf --notes`.
fn agrees_with_readelf(path: &Path) {
    let [object] = <[CodeObject; 1]>::try_from(read_file(path).unwrap()).unwrap();
    let notes = run(READELF, &["--notes", path.to_str().unwrap()]);
    let printed = printed(&notes);
    assert_eq!(object.kernels.len(), printed.len(), "{path:?}");
    let target = notes.lines().find_map(|line| line.strip_prefix("amdhsa.target:")).unwrap().trim().trim_matches('\'');
    assert_eq!(target.strip_prefix("amdgcn-amd-amdhsa--").unwrap(), object.target);
    for kernel in &object.kernels {
        let (figures, arguments) = &printed[&kernel.name];
        let figure = |key: &str| figures[key].parse::<u64>().unwrap();
        assert_eq!(figures[".symbol"], kernel.symbol);
        let shared = if object.target.starts_with("gfx9") { kernel.accum_vgpr } else { 0 };
        for (key, own) in [
            (".kernarg_segment_size", kernel.kernarg_bytes),
            (".kernarg_segment_align", kernel.kernarg_alignment),
            (".vgpr_count", u64::from(kernel.vgpr + shared)),
            (".sgpr_count", u64::from(kernel.sgpr)),
            (".vgpr_spill_count", u64::from(kernel.vgpr_spills)),
            (".sgpr_spill_count", u64::from(kernel.sgpr_spills)),
            (".group_segment_fixed_size", kernel.lds_bytes),
            (".private_segment_fixed_size", kernel.scratch_bytes),
            (".wavefront_size", u64::from(kernel.wave_size)),
            (".max_flat_workgroup_size", u64::from(kernel.max_work_items)),
        ] {
            assert_eq!(figure(key), own, "{path:?}: {key} of {}", kernel.name);
        }
        let accum = figures.get(".agpr_count").map_or(0, |count| count.parse().unwrap());
        assert_eq!(accum, kernel.accum_vgpr);
        assert_eq!(figures[".uses_dynamic_stack"], kernel.uses_dynamic_stack.to_string());
        let own: Vec<[String; 3]> = kernel
            .arguments
            .iter()
            .map(|argument| [argument.offset.to_string(), argument.bytes.to_string(), argument.kind.clone()])
            .collect();
        assert_eq!(&own, arguments, "{path:?}: {}", kernel.name);
    }
}

#[test]
fn notes_agree_with_readelf() {
    if !has_tools(&[CLANG, LINKER, READELF]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for target in ["gfx90a", "gfx942", "gfx942:sramecc+:xnack-", "gfx1100"] {
        agrees_with_readelf(&compiled(folder.path(), SOURCE, target, &[]));
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real code objects are absent; set WAVESIEVE_DATA")]
fn notes_of_real_code_objects_agree_with_readelf() {
    if !has_tools(&[READELF]) {
        return;
    }
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("WAVESIEVE_DATA").map_or(default, PathBuf::from);
    let files: Vec<_> = fs::read_dir(data.join("code-object")).unwrap().collect();
    assert!(!files.is_empty());
    for file in files {
        agrees_with_readelf(&file.unwrap().path());
    }
}

#[test]
fn the_fixture() {
    let bytes = fixture();
    let [object] = <[CodeObject; 1]>::try_from(code_objects(&bytes).unwrap()).unwrap();
    assert_eq!((object.target.as_str(), object.metadata_version.as_str()), ("gfx942", "1.2"));
    let names: Vec<_> = object.kernels.iter().map(KernelCode::demangled).collect();
    assert_eq!(
        names,
        [
            "void math::scale<float, 4>(float*, float const*, math::Range, float)",
            "void math::scale<double, -2>(double*, double const*, math::Range, double)",
            "shuffle",
            "heavy",
            "empty"
        ]
    );
    let [scale, doubles, shuffle, heavy, empty] = <[KernelCode; 5]>::try_from(object.kernels).unwrap();
    let own = |kernel: &KernelCode| -> Vec<(u64, u64, bool)> {
        kernel
            .own_arguments()
            .map(|argument| (argument.offset, argument.bytes, argument.address_space.is_some()))
            .collect()
    };
    assert_eq!(own(&scale), [(0, 8, true), (8, 8, true), (16, 8, false), (24, 4, false)]);
    assert_eq!(own(&shuffle), [(0, 8, true), (8, 2, false), (10, 1, false), (16, 8, false)]);
    assert_eq!((own(&empty).len(), empty.kernarg_bytes, empty.vgpr), (0, 0, 0));
    assert_eq!((scale.kernarg_bytes, scale.max_work_items, scale.wave_size), (288, 1024, 64));
    assert_eq!((shuffle.lds_bytes, shuffle.max_work_items), (1024, 256));
    // 80 registers, and 16 of the other kind; the metadata counts 96.
    assert_eq!((heavy.vgpr, heavy.accum_vgpr, heavy.scratch_bytes), (80, 16, 144));
    assert!(heavy.code_bytes.unwrap() > 100);

    let fits = occupancy("gfx942", &heavy, 256, 0).unwrap();
    assert_eq!((fits.waves_per_simd, fits.allocated_vgpr), (5.0, 96));
    assert_eq!(occupancy("gfx942", &shuffle, 64, 65536 - 1024).unwrap().waves_per_simd, 0.25);
    assert!(occupancy("gfx942", &shuffle, 64, 65536).is_err() && occupancy("gfx1", &shuffle, 64, 0).is_err());
    assert_eq!(occupancy("gfx942:xnack-", &empty, 64, 0).unwrap().waves_per_simd, 8.0);

    assert_eq!(launch_refusal(&shuffle, [256, 1, 1]), None);
    assert_eq!(
        launch_refusal(&shuffle, [256, 2, 1]).unwrap(),
        "it is built for workgroups of up to 256 work-items, not 512"
    );
    let fixed = KernelCode { required_work_items: Some([64, 1, 1]), ..shuffle.clone() };
    assert_eq!(launch_refusal(&fixed, [32, 2, 1]).unwrap(), "it only runs in workgroups of 64x1x1, not 32x2x1");

    let facts = static_facts("gfx942", &shuffle, &heavy, 256, 0);
    let worse: Vec<&str> = facts.iter().filter(|fact| fact.is_worse()).map(|fact| fact.name).collect();
    assert_eq!(worse, ["vgpr", "accum_vgpr", "scratch_bytes", "code_bytes", "waves_per_simd"]);
    assert_eq!(
        interface_difference(&scale, &doubles).unwrap(),
        format!("its symbol is {} instead of {}", doubles.symbol, scale.symbol)
    );
}

#[test]
fn interfaces() {
    let kernel = |arguments: &[(u64, u64, &str)], kernarg_bytes| KernelCode {
        symbol: "k.kd".to_owned(),
        kernarg_bytes,
        kernarg_alignment: 8,
        arguments: arguments
            .iter()
            .map(|(offset, bytes, kind)| KernelArgument {
                offset: *offset,
                bytes: *bytes,
                kind: (*kind).to_owned(),
                address_space: (*kind == "global_buffer").then(|| "global".to_owned()),
                ..KernelArgument::default()
            })
            .collect(),
        ..KernelCode::default()
    };
    let old = kernel(&[(0, 8, "global_buffer"), (8, 4, "by_value")], 12);
    let difference = |arguments, bytes| interface_difference(&old, &kernel(arguments, bytes)).unwrap();
    assert_eq!(difference(&[(0, 8, "global_buffer")], 8), "it has 1 argument instead of 2 arguments");
    assert_eq!(difference(&[(0, 8, "global_buffer"), (8, 8, "by_value")], 16), "argument 2 has 8 bytes instead of 4");
    assert_eq!(
        difference(&[(0, 4, "by_value"), (8, 8, "global_buffer")], 16),
        "argument 1 is by_value instead of global_buffer"
    );
    assert_eq!(
        difference(&[(0, 8, "global_buffer"), (12, 4, "by_value")], 16),
        "argument 2 is at byte 12 instead of 8"
    );
    assert_eq!(
        difference(&[(0, 8, "global_buffer"), (8, 4, "by_value")], 16),
        "its arguments take 16 bytes instead of 12"
    );
    let mut other = old.clone();
    other.arguments[0].address_space = Some("local".to_owned());
    assert_eq!(interface_difference(&old, &other).unwrap(), "argument 1 points to local instead of global memory");
    other = KernelCode { kernarg_alignment: 16, ..old.clone() };
    assert_eq!(interface_difference(&old, &other).unwrap(), "its arguments are aligned to 16 bytes instead of 8");

    // The runtime fills hidden arguments, but it does not add them to recorded bytes.
    let own = [(0, 8, "global_buffer"), (8, 4, "by_value")];
    let hidden = kernel(&[own[0], own[1], (16, 4, "hidden_block_count_x"), (28, 2, "hidden_group_size_x")], 272);
    assert_eq!(interface_difference(&old, &hidden), None);
    assert_eq!(interface_difference(&hidden, &old), None);
    assert_eq!(
        kernarg_difference(&old, &hidden).unwrap(),
        "it reads hidden_block_count_x at byte 16, which was not recorded"
    );
    assert_eq!(kernarg_difference(&hidden, &old), None);
    let unused = kernel(&[own[0], own[1], (16, 8, "hidden_none")], 272);
    assert_eq!(kernarg_difference(&old, &unused), None);
}

#[test]
fn containers() {
    let code = fixture();
    let alone = code_objects(&code).unwrap();
    let ids = ["hipv4-amdgcn-amd-amdhsa--gfx942", "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-"];
    let plain = bundle(&[("host-x86_64-unknown-linux--", b""), (ids[0], &code), (ids[1], &code)]);
    assert_eq!(code_objects(&plain).unwrap(), [alone.clone(), alone.clone()].concat());
    let length = plain.len() as u64;
    let zlib = zlib(&plain);
    for version in 1..=3 {
        let both = [
            compressed(version, 0, &zlib, length),
            compressed(version, 1, &zstd::encode_all(&*plain, 3).unwrap(), length),
        ];
        for one in &both {
            assert_eq!(code_objects(one).unwrap().len(), 2, "version {version}");
        }
        // The layout of a program's section: one after the other, with padding.
        let section = [&[0; 7], both[0].as_slice(), &[0; 4093], &plain, &[0; 1], &both[1], &[0; 9]].concat();
        let mut found = Vec::new();
        super::reader::bundles(&section, &mut found).unwrap();
        assert_eq!(found.len(), 6, "version {version}");
        // Sizes that differ from those of the content.
        assert!(code_objects(&compressed(version, 0, &zlib, length - 1)).is_err());
        assert!(code_objects(&compressed(version, 0, &zlib, length + 1)).is_err());
        assert!(code_objects(&compressed(version, 7, &zlib, length)).is_err());
    }
    assert!(code_objects(&compressed(9, 0, &zlib, length)).is_err());
    let odd = [&[1], code.as_slice()].concat();
    let unaligned = bundle(&[(ids[0], &odd[1..])]);
    assert_eq!(code_objects(&unaligned).unwrap(), alone);
}

#[test]
fn real_bundles_and_programs() {
    if !has_tools(&[CLANG, LINKER, BUNDLER, OBJCOPY]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = ["--gpu-bundle-output", "--offload-arch=gfx1100"];
    let plain = compiled(folder.path(), SOURCE, "gfx90a", &options);
    let plain = fs::rename(&plain, folder.path().join("plain")).map(|()| folder.path().join("plain")).unwrap();
    let small = compiled(folder.path(), SOURCE, "gfx90a", &[options[0], options[1], "--offload-compress"]);
    assert!(fs::read(&small).unwrap().starts_with(b"CCOB"));
    let objects = read_file(&plain).unwrap();
    let targets: Vec<&str> = objects.iter().map(|object| object.target.as_str()).collect();
    assert_eq!(targets, ["gfx1100", "gfx90a"]);
    assert_eq!(read_file(&small).unwrap(), objects);
    let [source, host] = ["host.c", "host.o"].map(|name| folder.path().join(name));
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    run(CLANG, &["-x", "c", "-c", "-o", host.to_str().unwrap(), source.to_str().unwrap()]);
    assert!(matches!(read_file(&host), Err(ObjectError::NoDeviceCode)));
    let section = format!("--add-section=.hip_fatbin={}", small.display());
    run(OBJCOPY, &[&section, host.to_str().unwrap()]);
    assert_eq!(read_file(&host).unwrap(), objects);
    // A single code object without a bundle.
    let plain = compiled(folder.path(), SOURCE, "gfx90a", &[]);
    run(CLANG, &["-x", "c", "-c", "-o", host.to_str().unwrap(), source.to_str().unwrap()]);
    run(OBJCOPY, &[&format!("--add-section=.hip_fatbin={}", plain.display()), host.to_str().unwrap()]);
    assert_eq!(read_file(&host).unwrap(), read_file(&plain).unwrap());
}

#[test]
fn what_ends_early_is_damaged_wherever_it_is_cut() {
    let code = fixture();
    // The section table is at the end.
    for cut in (64..code.len()).step_by(97).chain([code.len() - 1]) {
        let error = code_objects(&code[..cut]).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("damaged ELF file"), "{cut}: {error}");
        // Without the table only segments show the size: bytes after them are not needed.
        let mut stripped = code[..cut].to_vec();
        stripped[40..48].fill(0);
        stripped[58..64].fill(0);
        let segments = code_objects(&stripped);
        let end = segments_end(&code);
        assert_eq!(segments.is_ok(), cut as u64 >= end, "{cut} of {end}: {segments:?}");
    }
    // A section without bytes may have any offset.
    let table = word(&code, 40) as usize;
    let headers = usize::from(code[60]) | usize::from(code[61]) << 8;
    let is_text = |at: &usize| code[table + at * 64 + 4] == 1;
    let at = table + (0..headers).find(is_text).expect("there is a section of code or data") * 64;
    let mut empty = code.clone();
    empty[at + 4] = 8;
    empty[at + 24..at + 32].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    assert!(code_objects(&empty).is_ok());
    empty[at + 4] = 1;
    assert!(code_objects(&empty).unwrap_err().to_string().contains("a section ends at byte"));
}

fn word(code: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(code[at..at + 8].try_into().unwrap())
}

/// The end of the last segment of a file.
fn segments_end(code: &[u8]) -> u64 {
    let (table, count) = (word(code, 32) as usize, usize::from(code[56]));
    (0..count).map(|at| table + at * 56).map(|at| word(code, at + 8) + word(code, at + 32)).max().unwrap()
}

#[test]
fn other_kinds_of_files_are_not_damage() {
    let mut code = fixture();
    code[4] = 1;
    assert!(matches!(code_objects(&code), Err(ObjectError::OtherElf("32-bit"))));
    code[4] = 2;
    code[5] = 2;
    assert!(matches!(code_objects(&code), Err(ObjectError::OtherElf("big-endian"))));
    code[4] = 9;
    assert!(matches!(code_objects(&code), Err(ObjectError::Elf(_))));
    let folder = tempfile::tempdir().unwrap();
    for place in [folder.path(), Path::new("/dev/zero")] {
        assert!(matches!(read_file(place), Err(ObjectError::NotAFile)), "{place:?}");
    }
}

#[test]
fn launches_that_another_kernel_does_not_allow() {
    let kernel = |max_work_items, required_work_items, wave_size| KernelCode {
        max_work_items,
        required_work_items,
        wave_size,
        ..KernelCode::default()
    };
    let old = kernel(1024, None, 64);
    let fixed = kernel(256, Some([16, 16, 1]), 64);
    for (before, after, expected) in [
        (&old, kernel(1024, None, 64), None),
        (&kernel(64, None, 64), kernel(1024, None, 64), None),
        (&old, kernel(64, None, 64), Some("workgroups of up to 64 work-items instead of 1024")),
        (&old, kernel(1024, Some([64, 1, 1]), 64), Some("only runs in workgroups of 64x1x1 instead of any size")),
        (&fixed, kernel(256, Some([256, 1, 1]), 64), Some("256x1x1 instead of 16x16x1")),
        (&fixed, kernel(256, None, 64), None),
        (&fixed, kernel(128, None, 64), Some("up to 128 work-items")),
        (&fixed, fixed.clone(), None),
        (&old, kernel(1024, None, 32), Some("wavefronts have 32 work-items instead of 64")),
    ] {
        let found = launch_difference(before, &after);
        let is_same = match expected {
            Some(part) => found.as_ref().is_some_and(|found| found.contains(part)),
            None => found.is_none(),
        };
        assert!(is_same, "{found:?} {expected:?}");
    }
    assert_eq!(lds_refusal("gfx942", 65536), None);
    assert!(lds_refusal("gfx942", u64::from(u32::MAX)).is_some() && lds_refusal("gfx1", u64::MAX).is_none());
}

#[test]
fn damage() {
    let code = fixture();
    assert!(matches!(code_objects(b""), Err(ObjectError::Unrecognized)));
    assert!(matches!(code_objects(b"!<arch>\n"), Err(ObjectError::Unrecognized)));
    for cut in [5, 63, 64, 600, 2000] {
        let error = code_objects(&code[..cut]).unwrap_err().to_string();
        assert!(error.starts_with("damaged"), "{cut}: {error}");
    }
    let bundle = bundle(&[("hipv4-amdgcn-amd-amdhsa--gfx942", &code)]);
    for cut in [24, 30, 40, 60, 200, bundle.len() - 1] {
        let error = code_objects(&bundle[..cut]).unwrap_err().to_string();
        assert!(error.starts_with("damaged offload bundle"), "{cut}: {error}");
    }
    assert!(code_objects(&super::tests::bundle(&[])).is_err());
    // Notes of version 2 and invalid metadata.
    let at = memchr::memmem::find(&code, b"AMDGPU\0").unwrap();
    let mut other = code.clone();
    other[at..at + 7].copy_from_slice(b"AMDXXX\0");
    assert!(matches!(code_objects(&other), Err(ObjectError::NoMetadata(_))));
    let mut other = code.clone();
    let at = memchr::memmem::find(&code, b".vgpr_count").unwrap();
    other[at + 1] = b'V';
    assert!(code_objects(&other).unwrap_err().to_string().contains("missing field `.vgpr_count`"));
}
