//! Properties that the readers of captures guarantee for any bytes.

use super::dispatch::Dispatch;
use super::files::parse_json;
use super::metadata::Metadata;
use super::regions::Regions;
use super::spans::{MIN_PAGE, spans};
use super::variables::Variables;

/// Reading the files of a capture fails, or gives values that can be written and read again. Valid regions are in order, do not overlap,
/// and lie in spans of whole pages that do not overlap either.
pub fn capture_files(bytes: &[u8]) {
    if let Ok(dispatch) = parse_json::<Dispatch>(bytes) {
        let _ = dispatch.impossibility();
        assert!(dispatch.mangled_name.starts_with(dispatch.kernel()));
        assert_eq!(again(&dispatch), dispatch);
    }
    if let Ok(metadata) = parse_json::<Metadata>(bytes) {
        assert_eq!(again(&metadata), metadata);
    }
    if let Ok(variables) = parse_json::<Variables>(bytes) {
        assert_eq!(again(&variables), variables);
    }
    let Ok(mut regions) = parse_json::<Regions>(bytes) else { return };
    regions.sort();
    assert_eq!(again(&regions), regions);
    if regions.impossibility().is_some() {
        return;
    }
    let mut end = 0;
    let mut number = 0;
    for span in spans(&regions.regions, MIN_PAGE) {
        assert!(span.base >= end && span.base % MIN_PAGE == 0 && span.size % MIN_PAGE == 0 && span.size > 0);
        end = span.base + span.size;
        for region in span.regions {
            assert_eq!(region, number);
            number += 1;
            let inside =
                regions.regions.get(region).is_some_and(|region| region.base >= span.base && region.end() <= end);
            assert!(inside);
        }
    }
    assert_eq!(number, regions.regions.len());
    for region in &regions.regions {
        if let Some(blob) = &region.blob
            && blob.impossibility(region.size).is_none()
        {
            let _ = blob.file_bytes(region.size);
        }
    }
}

fn again<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_vec(value).unwrap_or_default();
    parse_json(&text).unwrap_or_else(|error| unreachable!("what was written cannot be read: {error}"))
}
