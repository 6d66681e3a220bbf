//! The domain of an API call or range, from the category its source recorded.

/// The part of a recorded category that names the programming interface: `HIP_RUNTIME_API_EXT` and `rocm_hip_api` are
/// both `hip`, `MARKER_CORE_RANGE_API` is `marker`. Unknown categories keep their first word.
pub fn domain_of_category(category: &str) -> String {
    let lower = category.to_lowercase();
    let own = lower.strip_prefix("rocm_").unwrap_or(&lower);
    let word = own.split('_').next().unwrap_or(own);
    if word.is_empty() { "unknown".to_owned() } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::domain_of_category;

    #[test]
    fn domains() {
        for (category, domain) in [
            ("HIP_RUNTIME_API_EXT", "hip"),
            ("HSA_CORE_API", "hsa"),
            ("MARKER_CORE_RANGE_API", "marker"),
            ("RCCL_API", "rccl"),
            ("OMPT", "ompt"),
            ("KFD_PAGE_FAULT", "kfd"),
            ("rocm_hip_api", "hip"),
            ("mpi", "mpi"),
            ("", "unknown"),
        ] {
            assert_eq!(domain_of_category(category), domain, "{category}");
        }
    }
}
