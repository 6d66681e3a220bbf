//! Tests of full disks mount a small file system of their own. Unit tests include this file by its path.

use std::path::Path;

/// Runs something on a file system of that many KiB, which only its thread and programs started by it see. Where none can be
/// mounted, nothing runs, and the test is counted as skipped.
#[cfg(target_os = "linux")]
pub(crate) fn on_small_disk<T: Send>(kib: u32, work: impl FnOnce(&Path) -> T + Send) -> Option<T> {
    use std::panic::resume_unwind;
    use std::thread;

    let name = thread::current().name().unwrap_or_default().to_owned();
    let apart = || {
        let place = tempfile::tempdir().expect("a folder can be made");
        if let Err(error) = mount(place.path(), kib) {
            crate::skipping::skip(&format!("no small file system can be mounted: {error}"));
            return None;
        }
        let done = work(place.path());
        unmount(place.path());
        Some(done)
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(name).spawn_scoped(scope, apart).expect("a thread can be started");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn on_small_disk<T: Send>(_: u32, _: impl FnOnce(&Path) -> T + Send) -> Option<T> {
    crate::skipping::skip("small file systems are mounted on Linux alone");
    None
}

/// Mounts a file system in memory where no other thread sees it.
#[cfg(target_os = "linux")]
fn mount(place: &Path, kib: u32) -> std::io::Result<()> {
    use std::ffi::CString;
    use std::io::Error;
    use std::os::unix::ffi::OsStrExt;
    use std::ptr::null;

    let options = CString::new(format!("size={kib}k"))?;
    let place = CString::new(place.as_os_str().as_bytes())?;
    // SAFETY: the call takes a number, and changes this thread alone.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        return Err(Error::last_os_error());
    }
    let apart = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: the texts end with a zero and live as long as the call, which takes nothing from pointers that are null.
    let mounted = unsafe {
        libc::mount(null(), c"/".as_ptr(), null(), apart, null()) == 0
            && libc::mount(c"tmpfs".as_ptr(), place.as_ptr(), c"tmpfs".as_ptr(), 0, options.as_ptr().cast()) == 0
    };
    if mounted { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Frees the folder, so that it can be removed; the file system itself ends with the thread.
#[cfg(target_os = "linux")]
fn unmount(place: &Path) {
    use std::os::unix::ffi::OsStrExt;
    if let Ok(place) = std::ffi::CString::new(place.as_os_str().as_bytes()) {
        // SAFETY: the text ends with a zero and lives as long as the call.
        unsafe { libc::umount2(place.as_ptr(), libc::MNT_DETACH) };
    }
}
