//! Properties that the scan guarantees for any bytes.

use super::c_scan::{KernelMacros, kernel_macros};
use super::commands::Target;
use super::files::Language;
use super::patterns::Patterns;
use super::summary::{FileFound, summarize};
use super::tree::scan_bytes;

/// In every language a scan ends, is repeatable, and reports only existing lines. It finds nothing in comments and
/// literals: bytes after an open comment change nothing.
pub fn source_scan(bytes: &[u8]) {
    let lines = 1 + bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    let wide = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let patterns = Patterns::builtin();
    let macros = kernel_macros(bytes);
    for language in [Language::C, Language::Gpu, Language::OpenCl, Language::Python] {
        let found = scan_bytes(bytes, language, &macros, patterns);
        assert_eq!(found, scan_bytes(bytes, language, &macros, patterns));
        // UTF-16 encodes line ends differently.
        if !wide {
            for line in found.hits.iter().map(|hit| hit.line).chain(found.kernels.iter().map(|site| site.line)) {
                assert!((1..=lines).contains(&(line as usize)), "line {line} of {lines}");
            }
        }
        let commented = [b"/*\n".as_slice(), bytes].concat();
        if language != Language::Python && memchr::memmem::find(bytes, b"*/").is_none() && !bytes.ends_with(b"*") {
            let silent = scan_bytes(&commented, language, &KernelMacros::new(), patterns);
            let closes = memchr::memmem::find(&without_joins(&commented), b"*/").is_some();
            assert!(closes || silent.hits.is_empty(), "a comment has {:?}", silent.hits);
        }
        if language != Language::Gpu {
            continue;
        }
        let file = FileFound { name: "a".to_owned(), language, found };
        let scan = summarize(
            "d".to_owned(),
            &[file],
            0,
            patterns,
            &Target { architecture: "gfx942".to_owned(), ..Target::default() },
        );
        assert_eq!(scan.kernel_count, scan.detected_kernels.len());
        for pattern in &scan.detected_patterns {
            assert!(pattern.in_loops <= pattern.count && !pattern.locations.is_empty(), "{pattern:?}");
        }
        assert!(!scan.recommendations.is_empty() && !scan.risk_areas.is_empty());
    }
}

/// Bytes with lines joined, because a comment may end across a join.
fn without_joins(bytes: &[u8]) -> Vec<u8> {
    super::text::Text::new(bytes).joined().bytes.into_owned()
}
