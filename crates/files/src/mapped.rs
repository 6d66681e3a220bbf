//! Files mapped for reading, which other programs may cut meanwhile.
//!
//! If a file was cut, the system has no bytes to give, and sends SIGBUS. The handler puts zeros in place of the missing bytes, and the
//! reader checks [`MappedFile::was_cut`] when it is done. The program does the same for files that polars has mapped, and checks
//! [`others_were_cut`] at its end.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use memmap2::{Mmap, UncheckedAdvice};
use parking_lot::Mutex;

/// The bytes of a file, with the length that it had when it was mapped.
#[derive(Debug)]
pub struct MappedFile {
    map: Mmap,
    region: &'static Region,
}

impl MappedFile {
    /// Maps a file.
    ///
    /// # Errors
    /// When the system cannot map the file.
    pub fn new(file: &File) -> io::Result<Self> {
        WATCH.call_once(watch);
        // SAFETY: the map is only read, and readers check what they read. So bytes that another program changes meanwhile make results
        // wrong, but do no other harm. If the file is cut meanwhile, the handler puts zeros in place.
        let map = unsafe { Mmap::map(file) }?;
        let region = Region::of(&map);
        Ok(Self { map, region })
    }

    /// Whether the file lost some of these bytes since it was mapped.
    pub fn was_cut(&self) -> bool {
        if let Some(last) = self.map.last() {
            // SAFETY: a reference is valid to read from. The read has an effect that the compiler does not know: if the file was cut, it
            // runs the handler.
            unsafe { ptr::read_volatile(last) };
        }
        self.region.is_cut.load(Ordering::Acquire)
    }

    /// Stops counting the pages that were read as memory of the program. They stay in the memory of the system while it has room.
    pub fn give_back(&self) {
        // SAFETY: the map is of a file and never written. So a page that is needed again has the same bytes, or zeros if the file was cut.
        // If the system refuses, nothing is lost.
        let _ = unsafe { self.map.unchecked_advise(UncheckedAdvice::DontNeed) };
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // Before the system can reuse these addresses.
        self.region.bytes.store(0, Ordering::Release);
        UNUSED.lock().push(self.region);
    }
}

/// The addresses of a mapped file. The handler visits all regions without a lock, so they stay as long as the program runs.
#[derive(Debug)]
struct Region {
    start: AtomicUsize,
    /// 0 while no file uses it.
    bytes: AtomicUsize,
    is_cut: AtomicBool,
    next: Option<&'static Region>,
}

/// The region that was made last.
static REGIONS: AtomicPtr<Region> = AtomicPtr::new(ptr::null_mut());
/// Regions that no file uses.
static UNUSED: Mutex<Vec<&'static Region>> = Mutex::new(Vec::new());
static WATCH: Once = Once::new();
/// Whether files that other code has mapped are handled, and whether one was cut.
static SEES_TO_OTHERS: AtomicBool = AtomicBool::new(false);
static OTHER_IS_CUT: AtomicBool = AtomicBool::new(false);

/// From now on, also puts zeros in place of the missing bytes of files that other code in this process has mapped.
pub fn see_to_others() {
    SEES_TO_OTHERS.store(true, Ordering::Release);
    WATCH.call_once(watch);
}

/// Whether a file that other code has mapped was cut.
pub fn others_were_cut() -> bool {
    OTHER_IS_CUT.load(Ordering::Acquire)
}

impl Region {
    fn of(map: &Mmap) -> &'static Self {
        let mut unused = UNUSED.lock();
        let region = unused.pop().unwrap_or_else(|| {
            let next = Self::newest();
            let made = Box::leak(Box::new(Self {
                start: AtomicUsize::new(0),
                bytes: AtomicUsize::new(0),
                is_cut: AtomicBool::new(false),
                next,
            }));
            REGIONS.store(ptr::from_mut(made), Ordering::Release);
            made
        });
        region.is_cut.store(false, Ordering::Release);
        region.start.store(map.as_ptr() as usize, Ordering::Release);
        region.bytes.store(map.len(), Ordering::Release);
        region
    }

    fn newest() -> Option<&'static Self> {
        // SAFETY: the pointer is null, or of a region that was leaked whole before it was stored, and that has had no unique
        // reference since.
        unsafe { REGIONS.load(Ordering::Acquire).as_ref() }
    }

    /// The end of the region, if the address is in it.
    fn end_around(&self, address: usize) -> Option<usize> {
        let offset = address.checked_sub(self.start.load(Ordering::Acquire))?;
        let bytes = self.bytes.load(Ordering::Acquire);
        (offset < bytes).then(|| address.saturating_add(bytes.saturating_sub(offset)))
    }
}

cfg_if::cfg_if! {
    if #[cfg(unix)] {
        use std::ffi::{c_int, c_void};
        use std::mem::MaybeUninit;

        /// The previous handling of the signal, for other faults.
        static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

        fn watch() {
            let (mut action, mut before) = (MaybeUninit::<libc::sigaction>::zeroed(), MaybeUninit::zeroed());
            // SAFETY: all zeros are an action: the default one, without flags. The handler has the signature that SA_SIGINFO asks for and calls
            // only what may be called in a handler. Both places are valid for the system to read and write.
            unsafe {
                let action = action.assume_init_mut();
                action.sa_sigaction = on_fault as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                if libc::sigaction(libc::SIGBUS, action, before.as_mut_ptr()) == 0 {
                    BEFORE.store(Box::into_raw(Box::new(before.assume_init())), Ordering::Release);
                }
            }
        }

        /// Puts zeros in place of the missing bytes of a mapped file, from the address on. Other faults are handled as before.
        extern "C" fn on_fault(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
            // SAFETY: the system gives a valid description to handlers that ask for it.
            let (address, code) = unsafe { ((*info).si_addr() as usize, (*info).si_code) };
            let around = |region: &'static Region| Some((region, region.end_around(address)?));
            let found = std::iter::successors(Region::newest(), |region| region.next).find_map(around);
            let is_seen_to = match found {
                // Broken memory is not a truncated file.
                _ if code != libc::BUS_ADRERR => false,
                Some((region, end)) => {
                    region.is_cut.store(true, Ordering::Release);
                    put_zeros(address, end)
                }
                None if SEES_TO_OTHERS.load(Ordering::Acquire) => {
                    OTHER_IS_CUT.store(true, Ordering::Release);
                    put_zeros(address, address.saturating_add(1))
                }
                None => false,
            };
            if is_seen_to {
                return;
            }
            let before = BEFORE.load(Ordering::Acquire);
            // SAFETY: the pointer is null, which changes nothing, or of a whole action that is never freed. The fault occurs again when
            // this returns, and the previous handler gets it.
            unsafe {
                if libc::sigaction(libc::SIGBUS, before, ptr::null_mut()) != 0 || before.is_null() {
                    libc::abort();
                }
            }
        }

        /// Puts zeros in place of all pages from the page of an address to an end.
        fn put_zeros(address: usize, end: usize) -> bool {
            // SAFETY: asks for a number.
            let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096).max(1);
            let start = address - address % page;
            let (at, flags) = (start as *mut c_void, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
            // SAFETY: the first page is mapped, since an access to it asked the system for bytes that it cannot give, and so are those
            // behind it if the region ends there. The pages are read-only: readers wait for this handler, and a writer fails as it does
            // without it.
            let mapped = unsafe { libc::mmap(at, end.saturating_sub(start), libc::PROT_READ, flags, -1, 0) };
            mapped != libc::MAP_FAILED
        }
    } else {
        fn watch() {}
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn mapped(bytes: usize) -> (tempfile::NamedTempFile, MappedFile) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![7; bytes]).unwrap();
        let map = MappedFile::new(file.as_file()).unwrap();
        (file, map)
    }

    #[test]
    fn what_was_cut_is_zeros() {
        let (file, map) = mapped(40_000);
        let (other_file, other) = mapped(9_000);
        assert!(!map.was_cut() && map.iter().all(|byte| *byte == 7));
        file.as_file().set_len(10_000).unwrap();
        assert_eq!(map.iter().map(|byte| usize::from(*byte) / 7).sum::<usize>(), 10_000);
        assert!(map.was_cut() && !other.was_cut());
        map.give_back();
        assert_eq!((map[9_999], map[39_999]), (7, 0));
        other_file.as_file().set_len(0).unwrap();
        assert!(other.was_cut());
    }

    #[test]
    fn a_cut_is_known_before_it_is_read() {
        let (file, map) = mapped(400_000);
        assert_eq!(map[0], 7);
        file.as_file().set_len(100).unwrap();
        assert!(map.was_cut());
        drop(map);
        let (_file, again) = mapped(400_000);
        assert!(!again.was_cut(), "the next file is whole");
    }

    #[test]
    fn threads_that_read_at_once_see_the_same() {
        let (file, map) = mapped(4 << 20);
        file.as_file().set_len(1 << 20).unwrap();
        let sum = || map.iter().map(|byte| usize::from(*byte) / 7).sum::<usize>();
        std::thread::scope(|scope| {
            let sums: Vec<_> = (0..4).map(|_| scope.spawn(sum)).collect();
            sums.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 1 << 20));
        });
        assert!(map.was_cut());
    }
}
