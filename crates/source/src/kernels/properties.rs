//! Properties that the search for kernels guarantees for any bytes.

use super::difference::signature_difference;
use super::locate::{kernels, kernels_with};
use super::names::named;

/// The search ends and is repeatable. Ranges are within the text, at character boundaries, in the order signature,
/// body; bodies have braces; a kernel does not differ from itself, and is found by its name.
pub fn source_kernels(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let found = kernels(&text);
    assert_eq!(found, kernels(&text));
    let _ = kernels_with(&text, &[&text]);
    let lines = 1 + bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    for kernel in &found {
        assert!(!kernel.name.is_empty() && (1..=lines).contains(&(kernel.line as usize)), "{kernel:?}");
        let [whole, signature, body] =
            [&kernel.whole, &kernel.signature, &kernel.body].map(|range| text.get(range.clone()).unwrap_or_default());
        assert!(!signature.is_empty() && whole.starts_with(signature) && whole.ends_with(body), "{kernel:?}");
        assert!(body.starts_with('{') && body.ends_with('}'), "{kernel:?}");
        assert!(kernel.signature.end <= kernel.body.start, "{kernel:?}");
        assert_eq!(signature_difference(kernel, kernel), None);
        assert!(named(&found, &kernel.name).iter().all(|other| other.name == kernel.name));
    }
}
