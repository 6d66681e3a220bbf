//! Properties that the parsers of names, rules and selections guarantee for any text. Each function panics if one is violated.

use super::selection::{NumberSet, Window, WindowSpan, parse_duration_ns};
use wavesieve_model::analysis::categories::{Categories, OTHER};
use wavesieve_model::analysis::hardware::metrics::{Definitions, Expression, Vocabulary, measured_roofs, parse, ratio};
use wavesieve_model::analysis::kernel_names::{base_name, mangled_base, short_name, strip_kd};
use wavesieve_model::text::natural_order::natural_key;

/// Names are never lost: the short forms of a non-empty name are not empty, and shortening them again changes nothing.
pub fn kernel_names(bytes: &[u8]) {
    let name = String::from_utf8_lossy(bytes);
    let (short, base, stripped) = (short_name(&name), base_name(&name), strip_kd(&name));
    assert_eq!(short.is_empty(), name.is_empty(), "{name:?}");
    assert_eq!(base.is_empty(), name.is_empty(), "{name:?}");
    assert_eq!(short_name(&short), short, "{name:?}");
    assert_eq!(base_name(&base), base, "{name:?}");
    assert_eq!(strip_kd(stripped), stripped, "{name:?}");
    if let Some(own) = mangled_base(&name) {
        assert!(!own.is_empty() && name.contains(own), "{name:?} {own:?}");
    }
    let twice = format!("{name}/{name}");
    assert!(natural_key(&name) <= natural_key(&twice), "{name:?}");
}

/// Rules are read or refused with the name of their file; every name has one of their categories.
pub fn categories(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Categories::with_user_rules(&text, "rules.toml") {
        Ok(rules) => {
            let ids = rules.ids();
            for name in ["ncclDevKernel_Generic_1", "Cijk_Ailk_Bljk", "x", ""] {
                assert!(ids.contains(&rules.category(name, name)), "{name}");
            }
            assert_eq!(ids.last(), Some(&OTHER));
        }
        Err(error) => assert!(error.to_string().starts_with("rules.toml"), "{error}"),
    }
}

/// A window is read or refused. A window that is read is written unchanged, and its sides are where they were given.
pub fn window(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(window) = text.parse::<Window>() else { return };
    assert_eq!(window.to_string().parse::<Window>().as_ref(), Ok(&window));
    let span = WindowSpan { start_ns: 1_000, end_ns: 5_001_000 };
    let marker = WindowSpan { start_ns: 2_000, end_ns: 3_000 };
    let sides = window.resolve(Some(span), |_| Some(marker));
    assert!(sides.is_some(), "{text}");
    let Some((from, to)) = sides else { return };
    let share = |side: &str| side.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    if let Some((left, right)) = text.split_once(':').filter(|_| !text.contains('@')) {
        for (side, time) in [(left, from), (right, to)] {
            assert_eq!(side.trim().is_empty(), time.is_none(), "{text}");
            if let (Some(share), Some(time)) = (share(side), time) {
                let expected = 1_000.0 + 5_000_000.0 * share / 100.0;
                assert!((time as f64 - expected).abs() <= 1.001, "{text}: {time} is not {expected}");
            }
        }
    }
    if !window.is_relative() {
        assert_eq!(window.resolve(None, |_| Some(marker)), sides, "{text}");
    }
    assert_eq!(window.markers().is_empty(), !text.contains('@'), "{text}");
}

/// Sets hold the numbers they name and are written as they were read; durations are exact.
pub fn numbers(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(set) = text.parse::<NumberSet>() {
        assert_eq!(set.to_string().parse::<NumberSet>().as_ref(), Ok(&set), "{text}");
        for number in (-2..70).chain([i64::MAX]) {
            let held = text.split(',').any(|part| {
                let part = part.trim();
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                let bound = |word: &str| word.trim().parse::<i64>().ok();
                bound(first).zip(bound(last)).is_some_and(|(first, last)| first <= number && number <= last)
            });
            assert_eq!(set.contains(number), held, "{text}: {number}");
        }
    }
    if let Ok(duration_ns) = parse_duration_ns(text) {
        assert!(duration_ns >= 0, "{text}");
        assert_eq!(Some(i128::from(duration_ns)), shifted(text), "{text}");
    }
}

/// Nanoseconds of a duration, by moving the decimal point of its digits.
fn shifted(text: &str) -> Option<i128> {
    let text = text.trim();
    let (number, zeros, factor) = [("ns", 0, 1), ("us", 3, 1), ("µs", 3, 1), ("ms", 6, 1), ("min", 9, 60), ("s", 9, 1)]
        .into_iter()
        .find_map(|(unit, zeros, factor)| Some((text.strip_suffix(unit)?.trim_end(), zeros, factor)))
        .unwrap_or((text, 0, 1));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // A minute is not a power of ten, so that all digits of its fraction count before they are cut.
    let scale = fraction.len();
    let digits: i128 = format!("0{whole}{fraction}{}", "0".repeat(zeros)).parse().ok()?;
    Some(digits * factor / 10_i128.checked_pow(u32::try_from(scale).ok()?)?)
}

/// Formulas, definitions of metrics and measured roofs are read or refused, the last two with the name of their file. A formula that is
/// read becomes a ratio with a finite value.
pub fn metrics(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let vocabulary = Vocabulary { constants: vec!["num_cu".to_owned()], ..Vocabulary::default() };
    if let Ok(formula) = parse(&text, &vocabulary) {
        let ratio = ratio(&formula);
        let value = |part: &Expression| part.value().is_none_or(f64::is_finite);
        assert!(value(&formula) && value(&ratio.numerator) && value(&ratio.denominator), "{text:?}");
        let known = formula.counters().into_iter().all(|counter| !counter.name.is_empty());
        assert!(known, "{text:?}");
    }
    if let Err(error) = Definitions::default().with_user_metrics(&text, "mine.toml") {
        assert!(error.to_string().starts_with("mine.toml"), "{error}");
    }
    match measured_roofs(&text, "roofline.csv") {
        Ok(roofs) => assert!(!roofs.is_empty() && roofs.values().all(|roof| *roof > 0.0), "{text:?}"),
        Err(error) => assert!(error.to_string().starts_with("roofline.csv"), "{error}"),
    }
}
