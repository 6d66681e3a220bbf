//! Checks whether a GPU runs code for a target.

/// Why code for a target, such as `gfx942:sramecc+`, does not run on a GPU with these instruction sets, whose names may
/// start with `amdgcn-amd-amdhsa--`. A feature that the target does not mention fits both settings. Generic targets are
/// left to the runtime.
pub(super) fn refusal(target: &str, sets: &[String]) -> Option<String> {
    let (wanted, features) = parts(target);
    if wanted.is_empty() || wanted.contains("generic") || sets.is_empty() {
        return None;
    }
    let fits = |set: &String| {
        let (processor, offered) = parts(set);
        let is_other = |feature: &&str| {
            let name = feature.trim_end_matches(['+', '-']);
            offered.iter().any(|offered| offered.trim_end_matches(['+', '-']) == name && offered != feature)
        };
        processor == wanted && !features.iter().any(is_other)
    };
    let shown: Vec<String> = sets.iter().map(|set| short(set).to_owned()).collect();
    (!sets.iter().any(fits)).then(|| format!("it is code for {}, and the GPU runs {}", short(target), shown.join(", ")))
}

/// The target without the triple.
fn short(target: &str) -> &str {
    target.rsplit("--").next().unwrap_or(target)
}

fn parts(target: &str) -> (&str, Vec<&str>) {
    let mut parts = short(target).split(':');
    (parts.next().unwrap_or_default(), parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_runs_on_its_processor_with_its_features() {
        let of = |target: &str, set: &str| refusal(target, &[set.to_owned()]).is_none();
        let gpu = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
        assert!(of("gfx942", gpu) && of("gfx942:sramecc+", gpu) && of("gfx942:xnack-", gpu) && of(gpu, gpu));
        assert!(of("amdgcn-amd-amdhsa--gfx9-4-generic", gpu) && of("", gpu));
        assert!(!of("gfx942:xnack+", gpu) && !of("gfx94", gpu) && !of("gfx1100", gpu));
        let message = refusal("gfx90a:xnack+", &[gpu.to_owned()]).unwrap();
        assert_eq!(message, "it is code for gfx90a:xnack+, and the GPU runs gfx942:sramecc+:xnack-");
    }
}
