//! Bundles of code for several targets in the format of clang, plain or compressed.

use std::borrow::Cow;
use std::io::Read;

use super::error::ObjectError;

/// First bytes of a bundle.
const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// First bytes of a compressed bundle.
const COMPRESSED: &[u8] = b"CCOB";
/// Maximum decompressed bytes of a bundle.
const MAX_BYTES: u64 = 2 << 30;
/// Maximum number of targets in a bundle; clang knows about 60.
const MAX_ENTRIES: u64 = 4096;

/// Code in a bundle.
pub(super) struct BundleEntry<'a> {
    /// The target id, such as `hipv4-amdgcn-amd-amdhsa--gfx942` or `host-x86_64-unknown-linux-gnu`.
    pub id: &'a str,
    pub bytes: &'a [u8],
}

/// Returns whether bytes start like a bundle.
pub(super) fn is_bundle(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(COMPRESSED)
}

/// The offset of the next bundle.
pub(super) fn next(bytes: &[u8]) -> Option<usize> {
    // One search for the first letters of both: one for each would read on to the end if there are only others.
    memchr::memchr2_iter(b'_', b'C', bytes).find(|at| {
        let rest = bytes.get(*at..).unwrap_or_default();
        // A compressed bundle must have a valid header, because its short magic may occur in code.
        rest.starts_with(MAGIC) || (rest.starts_with(COMPRESSED) && Compressed::read(rest).is_ok())
    })
}

/// This many bytes at an offset.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u32::from_le_bytes).map(u64::from)
}

fn quarter(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

/// The entries of a plain bundle, and its length in bytes.
pub(super) fn entries(bytes: &[u8]) -> Result<(Vec<BundleEntry<'_>>, usize), ObjectError> {
    let damaged = |what: &str| ObjectError::Bundle(what.to_owned());
    let count = word(bytes, MAGIC.len()).ok_or_else(|| damaged("it ends before its entries"))?;
    if count > MAX_ENTRIES {
        return Err(ObjectError::Bundle(format!("it has {count} entries")));
    }
    let mut at = MAGIC.len() + 8;
    let mut found = Vec::new();
    let mut end = at;
    for _ in 0..count {
        let read = |at: usize| -> Option<(usize, usize, usize)> {
            let number = |place: usize| usize::try_from(word(bytes, at.checked_add(place)?)?).ok();
            Some((number(0)?, number(8)?, number(16)?))
        };
        let (offset, size, id_length) = read(at).ok_or_else(|| damaged("it ends within its entries"))?;
        at += 24;
        let id = at.checked_add(id_length).and_then(|id_end| bytes.get(at..id_end));
        let id = id.and_then(|id| std::str::from_utf8(id).ok()).ok_or_else(|| damaged("an entry has no name"))?;
        at += id_length;
        let code = offset.checked_add(size).and_then(|code_end| bytes.get(offset..code_end));
        let code = code.ok_or_else(|| {
            ObjectError::Bundle(format!(
                "the code of {id} ends at byte {}, the bundle at {}",
                offset.saturating_add(size),
                bytes.len()
            ))
        })?;
        end = end.max(at).max(offset + size);
        found.push(BundleEntry { id, bytes: code });
    }
    Ok((found, end))
}

/// The header of a compressed bundle.
struct Compressed {
    method: u16,
    /// Bytes of the header.
    header: usize,
    /// Bytes of header and content; unknown in the first version.
    total: Option<u64>,
    plain: u64,
}

impl Compressed {
    fn read(bytes: &[u8]) -> Result<Self, ObjectError> {
        let short = || ObjectError::Bundle("it ends within its header".to_owned());
        let version = quarter(bytes, 4).ok_or_else(short)?;
        let method = quarter(bytes, 6).ok_or_else(short)?;
        // The 8 bytes after the sizes are a truncated MD5 hash, which clang does not check either.
        let (header, total, plain) = match version {
            1 => (20, None, half(bytes, 8)),
            2 => (24, half(bytes, 8), half(bytes, 12)),
            3 => (32, word(bytes, 8), word(bytes, 16)),
            _ => return Err(ObjectError::Compression(format!("its version is {version}, and 1 to 3 are known"))),
        };
        Ok(Self { method, header, total, plain: plain.ok_or_else(short)? })
    }
}

/// A bundle without compression, and its length in bytes in the input.
pub(super) fn plain(bytes: &[u8]) -> Result<(Cow<'_, [u8]>, usize), ObjectError> {
    if !bytes.starts_with(COMPRESSED) {
        return Ok((Cow::Borrowed(bytes), bytes.len()));
    }
    let header = Compressed::read(bytes)?;
    let end = match header.total {
        Some(total) => usize::try_from(total).ok().filter(|total| *total <= bytes.len()).ok_or_else(|| {
            ObjectError::Bundle(format!("it ends at byte {total} by its header, and after {} bytes", bytes.len()))
        })?,
        // The next bundle of a section marks the end of this one.
        None => {
            let inner = bytes.get(header.header..).unwrap_or_default();
            next(inner).map_or(bytes.len(), |at| at + header.header)
        }
    };
    if header.plain > MAX_BYTES {
        return Err(ObjectError::Compression(format!("it states {} bytes of content", header.plain)));
    }
    let content = bytes.get(header.header..end).unwrap_or_default();
    let content = decompressed(content, header.method, header.plain)?;
    if content.len() as u64 != header.plain {
        return Err(ObjectError::Bundle(format!("{} bytes came out of it instead of {}", content.len(), header.plain)));
    }
    Ok((Cow::Owned(content), end))
}

fn decompressed(content: &[u8], method: u16, plain: u64) -> Result<Vec<u8>, ObjectError> {
    let mut all = Vec::new();
    // One byte more than expected, so that excess is noticed but not read.
    let limit = plain.saturating_add(1);
    let read = match method {
        0 => flate2::read::ZlibDecoder::new(content).take(limit).read_to_end(&mut all),
        // Bytes after the frame are padding.
        1 => zstd::stream::read::Decoder::with_buffer(content)
            .and_then(|decoder| decoder.single_frame().take(limit).read_to_end(&mut all)),
        _ => {
            let known = "0 (zlib) and 1 (zstd) are known";
            return Err(ObjectError::Compression(format!("its method is {method}, and {known}")));
        }
    };
    read.map_err(|error| ObjectError::Compression(error.to_string()))?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bundle_of_either_kind_is_found() {
        let compressed = [COMPRESSED, &[1, 0, 0, 0], &[0; 16]].concat();
        let code = [b"__CLANG CCOB".as_slice(), &[9; 40]].concat();
        assert_eq!(next(&code), None);
        assert_eq!(next(&[&code[..], &compressed[..], MAGIC].concat()), Some(code.len()));
        assert_eq!(next(&[&code[..], MAGIC, &compressed[..]].concat()), Some(code.len()));
    }
}
