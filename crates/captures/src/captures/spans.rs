//! Whole pages that hold regions: regions may share a page, which can be reserved only once.

use super::regions::Region;

/// Minimum page size of GPU memory.
pub const MIN_PAGE: u64 = 4096;

/// Pages that follow each other, with all regions that have bytes in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub base: u64,
    pub size: u64,
    /// Numbers of the regions.
    pub regions: Vec<usize>,
}

/// The spans of regions in the order of addresses. Regions that only touch are in different spans.
pub fn spans(regions: &[Region], page: u64) -> Vec<Span> {
    let page = page.max(MIN_PAGE).next_power_of_two();
    let mut spans: Vec<Span> = Vec::new();
    for (number, region) in regions.iter().enumerate() {
        let base = region.base & !(page - 1);
        let end = region.end().saturating_add(page - 1) & !(page - 1);
        match spans.last_mut() {
            Some(last) if last.base.saturating_add(last.size) > base => {
                last.size = last.size.max(end - last.base);
                last.regions.push(number);
            }
            _ => spans.push(Span { base, size: end - base, regions: vec![number] }),
        }
    }
    spans
}
