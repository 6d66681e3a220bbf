//! Operation and level of an allocation, from the recorded name of its operation.

/// Operations of allocations.
pub(crate) const ALLOCATION_OPERATIONS: &[&str] = &["ALLOC", "FREE", "REALLOC", "RECLAIM", "UNKNOWN"];
/// Levels of allocations.
pub(crate) const ALLOCATION_LEVELS: &[&str] = &["REAL", "VIRTUAL", "SCRATCH"];

/// Operation and level of an allocation by the name of its operation, such as `MEMORY_ALLOCATION_VMEM_FREE`.
pub(crate) fn allocation_words(name: &str, is_scratch: bool) -> (&'static str, &'static str) {
    let operation = match name.rsplit('_').next().unwrap_or(name) {
        "ALLOCATE" | "ALLOC" => "ALLOC",
        "FREE" => "FREE",
        "REALLOC" | "REALLOCATE" => "REALLOC",
        "RECLAIM" => "RECLAIM",
        _ => "UNKNOWN",
    };
    let level = match (is_scratch, name.contains("VMEM")) {
        (true, _) => "SCRATCH",
        (false, true) => "VIRTUAL",
        (false, false) => "REAL",
    };
    (operation, level)
}
