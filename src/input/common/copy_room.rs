//! How much of TMPDIR copies of compressed inputs may take.

use std::path::Path;

use anyhow::{Result, ensure};

/// Room for copies of inputs in TMPDIR: a tenth of the free space stays free, so that no input, however small its compressed
/// file is, fills the disk of others.
#[derive(Debug)]
pub(crate) struct CopyRoom {
    left_bytes: u64,
}

impl CopyRoom {
    /// The room that there is now; unlimited where the system does not tell.
    pub(crate) fn now() -> Self {
        Self { left_bytes: free_bytes(&std::env::temp_dir()).map_or(u64::MAX, |free| free - free / 10) }
    }

    /// Takes so many bytes of it.
    ///
    /// # Errors
    /// When there are fewer.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<()> {
        let left = self.left_bytes;
        let place = std::env::temp_dir();
        ensure!(
            bytes <= left,
            "cannot decompress: the next {bytes} bytes do not fit into {}, where {left} may still be used; set TMPDIR to a place \
            with more room",
            place.display()
        );
        self.left_bytes -= bytes;
        Ok(())
    }
}

#[cfg(all(unix, feature = "core"))]
fn free_bytes(place: &Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(place).ok()?;
    Some(facts.f_bavail.saturating_mul(facts.f_frsize))
}

#[cfg(not(all(unix, feature = "core")))]
fn free_bytes(_place: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_leave_room_for_others() {
        let mut room = CopyRoom { left_bytes: 10 };
        room.take(7).unwrap();
        let refused = room.take(4).unwrap_err().to_string();
        assert!(refused.contains("the next 4 bytes") && refused.contains("set TMPDIR"), "{refused}");
        room.take(3).unwrap();
        #[cfg(all(unix, feature = "core"))]
        assert!(CopyRoom::now().left_bytes < u64::MAX);
    }
}
