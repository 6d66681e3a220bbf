//! First bytes of files. They identify captures without an id.

use std::io::Read as _;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use wavesieve_files::regular;

/// Bytes that are hashed.
const HEAD_BYTES: u64 = 1 << 16;

/// Appends the length and the first bytes of a file. The later reader reports a file that cannot be read.
pub(crate) fn add_head(bytes: &mut Vec<u8>, path: &Path) {
    if let Ok(file) = regular::open(path) {
        bytes.extend(file.metadata().map_or(0, |metadata| metadata.len()).to_le_bytes());
        let _ = file.take(HEAD_BYTES).read_to_end(bytes);
    }
}

/// A hash of the first bytes of some files, and of their lengths.
pub(crate) fn hash_of_heads(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> String {
    let mut bytes = Vec::new();
    paths.into_iter().for_each(|path| add_head(&mut bytes, path.as_ref()));
    format!("{:032x}", xxh3_128(&bytes))
}
