//! Names of columns in words.

/// Suffixes of names that are units, which are displayed elsewhere.
const UNITS: [&str; 6] = ["_ns", "_us", "_ms", "_bytes", "_pct", "_gb_per_s"];

/// The name of a column in words, without its unit: `exposed comm` for `exposed_comm_ns`.
pub fn words(name: &str) -> String {
    let stem = UNITS.iter().find_map(|unit| name.strip_suffix(unit)).filter(|stem| !stem.is_empty()).unwrap_or(name);
    let word = |word: &str| match word {
        "gpu" | "hbm" | "lds" | "api" | "vgpr" | "sgpr" | "pid" | "tid" | "id" => word.to_uppercase(),
        other => other.to_owned(),
    };
    stem.split('_').map(word).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_no_words() {
        assert_eq!(words("exposed_comm_ns"), "exposed comm");
        assert_eq!(words("gpu_idle_pct"), "GPU idle");
        assert_eq!(words("pct"), "pct");
        assert_eq!(words("peak_bytes"), "peak");
    }
}
