//! Limit of the space in TMPDIR for copies of compressed inputs.

use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Result, ensure};

/// Bytes after which the free space is checked again: other copies and other programs use some meanwhile.
const STEP_BYTES: u64 = 64 << 20;

/// Room for copies of inputs in TMPDIR. A tenth of the space that was free at the start of the first copy stays free, so that no compressed
/// input fills the disk, however small it is.
#[derive(Debug, Default)]
pub(crate) struct CopyRoom {
    /// Bytes that may be written before the next check.
    granted_bytes: u64,
}

impl CopyRoom {
    /// Reserves bytes for writing.
    ///
    /// # Errors
    /// When fewer bytes are left. There is no limit if the system does not know its free space.
    pub fn take(&mut self, bytes: u64) -> Result<()> {
        if bytes > self.granted_bytes {
            let place = std::env::temp_dir();
            self.grant(bytes, free_bytes(&place), &place)?;
        }
        self.granted_bytes -= bytes;
        Ok(())
    }

    fn grant(&mut self, bytes: u64, free_bytes: Option<u64>, place: &Path) -> Result<()> {
        static KEPT_BYTES: OnceLock<u64> = OnceLock::new();
        let usable = free_bytes.map_or(u64::MAX, |free| free.saturating_sub(*KEPT_BYTES.get_or_init(|| free / 10)));
        ensure!(
            bytes <= usable,
            "cannot decompress: the next {bytes} bytes do not fit into {}, where {usable} may still be used; set TMPDIR to a place \
            with more room",
            place.display()
        );
        self.granted_bytes = usable.min(bytes.max(STEP_BYTES));
        Ok(())
    }
}

/// The free space at a place, if the file system knows its size.
fn free_bytes(place: &Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(place).ok().filter(|facts| facts.f_blocks > 0)?;
    Some(facts.f_bavail.saturating_mul(facts.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_leave_room_for_others() {
        let place = Path::new("/tmp");
        let mut room = CopyRoom::default();
        // Without a known size anything is granted, but never more than a step ahead.
        room.grant(7, None, place).unwrap();
        assert_eq!(room.granted_bytes, STEP_BYTES);
        room.grant(2 * STEP_BYTES, None, place).unwrap();
        assert_eq!(room.granted_bytes, 2 * STEP_BYTES);
        let refused = room.grant(4, Some(3), place).unwrap_err().to_string();
        assert!(refused.contains("the next 4 bytes") && refused.contains("set TMPDIR"), "{refused}");
        let mut room = CopyRoom::default();
        room.take(10).unwrap();
        assert!(room.granted_bytes > 0);
    }
}
