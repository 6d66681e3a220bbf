//! FNV-1a. Its values are stored in existing datasets and caches.

use std::hash::Hasher;

use fnv::FnvHasher;

/// FNV-1a of some bytes, 64 bits.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    hasher.finish()
}
