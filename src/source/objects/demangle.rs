//! Names as C++ spells them.

/// The name of a mangled symbol; none where it is not mangled, or in a way that is not known.
pub(super) fn demangled(_name: &str) -> Option<String> {
    None
}
