//! Properties that the parsers guarantee for any bytes: a function for each, which panics if it is violated. The fuzzer in
//! `tests/fuzz` calls them with bytes of its own, the tests of this crate with the seeds that are kept there.

pub use crate::cli::settings::properties::settings;
pub use wavesieve_captures::captures::properties::capture_files;
pub use wavesieve_engine::properties::front_matter;
pub use wavesieve_input::properties::{
    att_listing, compute_native, compute_rows, compute_system, csv_rows, csv_values, head, json_mending, json_parts,
    json_record, json_scan, json_template, json_text, kineto_document, perfetto_document, rpd_arguments, sqlite_pages,
};
pub use wavesieve_source::kernels::properties::source_kernels;
pub use wavesieve_source::objects::properties::{code_object, mangled_names};
pub use wavesieve_source::scan::properties::source_scan;
pub use wavesieve_tables::trace::properties::{categories, kernel_names, metrics, numbers, window};

/// A property of any bytes.
pub type Property = fn(&[u8]);

/// Every property by its name, which is that of the fuzz target and of the folder of its seeds.
pub const ALL: &[(&str, Property)] = &[
    ("att_listing", att_listing),
    ("capture_files", capture_files),
    ("categories", categories),
    ("code_object", code_object),
    ("compute_native", compute_native),
    ("compute_rows", compute_rows),
    ("csv_rows", csv_rows),
    ("fields", fields),
    ("front_matter", front_matter),
    ("head", head),
    ("json_parts", json_parts),
    ("json_record", json_record),
    ("json_scan", json_scan),
    ("json_template", json_template),
    ("kernel_names", kernel_names),
    ("kineto_document", kineto_document),
    ("mangled_names", mangled_names),
    ("metrics", metrics),
    ("perfetto_document", perfetto_document),
    ("settings", settings),
    ("source_kernels", source_kernels),
    ("source_scan", source_scan),
    ("sqlite_pages", sqlite_pages),
    ("window", window),
];

/// Small texts, which do not need a target each.
pub fn fields(bytes: &[u8]) {
    compute_system(bytes);
    csv_values(bytes);
    numbers(bytes);
    rpd_arguments(bytes);
    json_text(bytes);
    json_mending(bytes);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Damages that are tried on every seed.
    const DAMAGES: usize = 300;

    fn seeds(name: &str) -> Vec<Vec<u8>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds").join(name);
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
    }

    #[test]
    fn seeds_and_what_damage_makes_of_them() {
        for (name, property) in ALL {
            let seeds = seeds(name);
            assert!(!seeds.is_empty(), "{name}");
            let mut state = 1_u64;
            let mut random = |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % below.max(1)
            };
            for seed in &seeds {
                property(seed);
                for _ in 0..DAMAGES {
                    let mut bytes = seed.clone();
                    for _ in 0..=random(3) {
                        let at = random(bytes.len());
                        match random(4) {
                            0 => bytes.truncate(at),
                            1 => bytes.insert(at, b"\"\\{}[],:\n 0"[random(11)]),
                            2 if at < bytes.len() => bytes[at] ^= 1 << random(8),
                            _ => drop(bytes.drain(at..(at + random(9)).min(bytes.len()))),
                        }
                    }
                    property(&bytes);
                }
            }
        }
    }
}
