//! Peaks of a GPU: operations per second by precision, and bytes per second of every level of memory.

use std::collections::BTreeSet;

use crate::analysis::hardware::devices::resolver::Resolver;

/// Chooses `peak_<unit>_<precision>_gflops` (`_gops` for integers), `peak_l2_gbps`, `peak_l1_gbps`, `peak_lds_gbps`,
/// and `achievable_<unit>_<precision>_gflops` if it is listed. Precisions that the architecture lacks are left out.
pub fn choose(resolver: &mut Resolver<'_>) {
    let of_compute_units = |resolver: &Resolver<'_>, figure: &str, words: &str| {
        resolver.computed(&["sclk_mhz", "num_cu"], Some(figure), words, product)
    };
    let precisions: BTreeSet<String> =
        resolver.architecture_group("ops").into_iter().chain(resolver.product_group("tflops")).collect();
    for precision in precisions {
        let words = "sclk_mhz * num_cu * operations / 1000";
        let computed = of_compute_units(resolver, &format!("ops.{precision}"), words);
        let published = resolver.product_share(&format!("tflops.{precision}")).map(|draft| draft.scaled(1000.0));
        let (name, unit) = named("peak", &precision);
        resolver.choose(&name, unit, [computed, published]);
    }
    for precision in resolver.product_group("achievable_tflops") {
        if let Some(measured) = resolver.product_whole(&format!("achievable_tflops.{precision}")) {
            let (name, unit) = named("achievable", &precision);
            resolver.choose(&name, unit, [Some(measured.scaled(1000.0))]);
        }
    }
    let l2 = resolver.computed(
        &["sclk_mhz", "l2_channels"],
        Some("bytes_per_clock_l2_channel"),
        "sclk_mhz * l2_channels * bytes / 1000",
        product,
    );
    let words = "sclk_mhz * num_cu * bytes / 1000";
    let l1 = of_compute_units(resolver, "bytes_per_clock_l1", words);
    let lds = of_compute_units(resolver, "bytes_per_clock_lds", words);
    resolver.choose("peak_l2_gbps", "GB/s", [l2]);
    resolver.choose("peak_l1_gbps", "GB/s", [l1]);
    resolver.choose("peak_lds_gbps", "GB/s", [lds]);
}

/// Megahertz times operations per clock, in units of 10⁹ per second.
fn product(parts: &[f64]) -> f64 {
    parts.iter().product::<f64>() / 1000.0
}

fn named(prefix: &str, precision: &str) -> (String, &'static str) {
    if precision.contains("int") {
        (format!("{prefix}_{precision}_gops"), "GOP/s")
    } else {
        (format!("{prefix}_{precision}_gflops"), "GFLOP/s")
    }
}
