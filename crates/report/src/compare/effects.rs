//! Causes of a change of the time of a kernel: more calls, other durations, another mix of shapes, another kernel in
//! its place.

use std::collections::BTreeSet;

use super::digest::ShapeKey;
use super::matching::SideKernel;
use wavesieve_model::analysis::statistics::rounding::divided;

/// Parts of a change in nanoseconds per unit, which add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    pub calls_ns: i64,
    pub speed_ns: i64,
    pub mix_ns: i64,
    /// Part of a kernel that is replaced by another kernel.
    pub selection_ns: i64,
}

/// A member of a row: calls and time on both sides.
struct Member {
    base: (f64, f64),
    new: (f64, f64),
}

/// Divides a change of the time of a kernel. If the sides are swapped, the parts are negated.
///
/// With `c` calls of mean duration `D` on a side: calls_effect = (c1 - c0)(D0 + D1)/2. For each shape with share `w`
/// and mean `d`: speed_effect = c w (d1 - d0) and mix_effect = c (w1 - w0)(d - D), where unmarked values are means of
/// both sides. A shape of one side only has the same duration on both, so that it counts as mix; if the kernel has
/// another name, it counts as selection.
pub fn effects(base: &SideKernel<'_>, new: &SideKernel<'_>, delta_ns: i64) -> Effects {
    let ((c0, t0), (c1, t1)) = ((base.calls, base.time_ns), (new.calls, new.time_ns));
    if c0 <= 0.0 || c1 <= 0.0 {
        return Effects { calls_ns: delta_ns, ..Effects::default() };
    }
    let (d0, d1) = (t0 / c0, t1 / c1);
    let calls = (c1 - c0) * f64::midpoint(d0, d1);
    let (c, d) = (f64::midpoint(c0, c1), f64::midpoint(d0, d1));
    let is_renamed = base.name != new.name;
    let (mut speed, mut mix) = (0.0, 0.0);
    for member in members(base, new) {
        let (w0, w1) = (member.base.0 / c0, member.new.0 / c1);
        let duration = |(calls, time): (f64, f64)| (calls > 0.0).then(|| time / calls);
        let (of_base, of_new) = (duration(member.base), duration(member.new));
        let (Some(m0), Some(m1)) = (of_base.or(of_new), of_new.or(of_base)) else { continue };
        speed += c * f64::midpoint(w0, w1) * (m1 - m0);
        mix += c * (w1 - w0) * (f64::midpoint(m0, m1) - d);
    }
    let parts = if is_renamed { [calls, speed, 0.0, mix] } else { [calls, speed, mix, 0.0] };
    let [calls_ns, speed_ns, mix_ns, selection_ns] = parts_of(delta_ns, parts);
    Effects { calls_ns, speed_ns, mix_ns, selection_ns }
}

/// Whole parts; the rounding error goes to the largest part, not to one that is zero.
fn parts_of(delta_ns: i64, parts: [f64; 4]) -> [i64; 4] {
    let mut used: Vec<usize> = (0..parts.len()).filter(|at| parts.get(*at).is_some_and(|part| *part != 0.0)).collect();
    if used.is_empty() {
        used.push(1);
    }
    used.sort_by(|one, other| {
        let size = |at: &usize| parts.get(*at).map_or(0.0, |part| part.abs());
        size(one).total_cmp(&size(other)).then(one.cmp(other))
    });
    let chosen: Vec<f64> = used.iter().filter_map(|at| parts.get(*at).copied()).collect();
    let mut result = [0; 4];
    for (at, part_ns) in used.into_iter().zip(divided(delta_ns, &chosen)) {
        if let Some(slot) = result.get_mut(at) {
            *slot = part_ns;
        }
    }
    result
}

/// The shapes of both sides. If a renamed kernel runs in one shape on both sides, the members are the two kernels.
fn members(base: &SideKernel<'_>, new: &SideKernel<'_>) -> Vec<Member> {
    if base.name != new.name {
        return vec![
            Member { base: (base.calls, base.time_ns), new: (0.0, 0.0) },
            Member { base: (0.0, 0.0), new: (new.calls, new.time_ns) },
        ];
    }
    let shapes: BTreeSet<&ShapeKey> = base.shapes.keys().chain(new.shapes.keys()).collect();
    let of = |side: &SideKernel<'_>, shape: &ShapeKey| side.shapes.get(shape).copied().unwrap_or_default();
    shapes.into_iter().map(|shape| Member { base: of(base, shape), new: of(new, shape) }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kernel<'a>(name: &'a str, shapes: &[(i64, f64, f64)]) -> SideKernel<'a> {
        let mut kernel = SideKernel { name, ..SideKernel::default() };
        for (size, calls, mean_ns) in shapes {
            kernel.shapes.insert([*size, 1, 1, 64, 1, 1, 0], (*calls, calls * mean_ns));
            kernel.calls += calls;
            kernel.time_ns += calls * mean_ns;
        }
        kernel
    }

    fn found(base: &SideKernel<'_>, new: &SideKernel<'_>) -> Effects {
        effects(base, new, (new.time_ns - base.time_ns).round() as i64)
    }

    #[test]
    fn one_cause_has_the_whole_change() {
        let base = kernel("a", &[(1, 100.0, 50.0)]);
        let none = Effects::default();
        assert_eq!(found(&base, &kernel("a", &[(1, 120.0, 50.0)])), Effects { calls_ns: 1000, ..none });
        assert_eq!(found(&base, &kernel("a", &[(1, 100.0, 55.0)])), Effects { speed_ns: 500, ..none });
        assert_eq!(found(&base, &kernel("b", &[(9, 100.0, 65.0)])), Effects { selection_ns: 1500, ..none });
        let (half, third) =
            (kernel("a", &[(1, 50.0, 10.0), (2, 50.0, 20.0)]), kernel("a", &[(1, 30.0, 10.0), (2, 70.0, 20.0)]));
        assert_eq!(found(&half, &third), Effects { mix_ns: 200, ..none });
        assert_eq!(found(&base, &base), none);
    }

    fn shapes() -> impl Strategy<Value = Vec<(i64, f64, f64)>> {
        let shape = (0_i64..4, 1_u32..50, 1_u32..1000);
        prop::collection::vec(shape.prop_map(|(size, calls, ns)| (size, f64::from(calls), f64::from(ns))), 1..4)
            .prop_map(|mut all| {
                all.sort_by_key(|(size, _, _)| *size);
                all.dedup_by_key(|(size, _, _)| *size);
                all
            })
    }

    proptest! {
        #[test]
        fn parts_add_up_and_swapping_negates(one in shapes(), other in shapes(), renamed in any::<bool>()) {
            let (base, new) = (kernel("a", &one), kernel(if renamed { "b" } else { "a" }, &other));
            let (there, back) = (found(&base, &new), found(&new, &base));
            let sum = there.calls_ns + there.speed_ns + there.mix_ns + there.selection_ns;
            prop_assert_eq!(sum, (new.time_ns - base.time_ns).round() as i64);
            let negated = Effects {
                calls_ns: -back.calls_ns,
                speed_ns: -back.speed_ns,
                mix_ns: -back.mix_ns,
                selection_ns: -back.selection_ns,
            };
            prop_assert_eq!(there, negated);
        }
    }
}
