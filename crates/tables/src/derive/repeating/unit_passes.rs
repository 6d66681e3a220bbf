//! Forward and backward parts of layers: a block of layers without kernels of a backward pass, then one of as many layers with such kernels,
//! which runs through them in reverse.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::DataFrame;

use crate::columns::frames::rows_named;
use crate::columns::values::{BoolValues, FrameValues, present_in};
use crate::derive::launching::kernel_order::KernelOrder;
use crate::derive::repeating::enclosing::UnitFacts;
use crate::derive::repeating::periods::Iteration;
use crate::derive::repeating::unit_layers::{Placed, UnitLayer, number_kinds};
use crate::derive::repeating::units::unit_at;

/// Direction of a pass through the layers of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

impl Direction {
    /// Word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
        }
    }
}

/// The pass that a part of a layer is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    pub direction: Direction,
    /// Ordinal of the layer among those of its block, in the order of the forward pass.
    pub layer: i64,
}

/// Starts of the valid kernels of backward passes, in order.
///
/// # Errors
/// When a needed column is missing or has another type.
pub(super) fn backward_starts(kernels: &DataFrame, order: &KernelOrder, facts: &UnitFacts) -> Result<Vec<i64>> {
    let regex = facts.backward_names()?;
    let is_backward = rows_named(kernels.column("kernel_name")?, |name| regex.is_match(name))?;
    let is_backward = BoolValues::new(&is_backward).are_true();
    let starts = kernels.integer("start_ns")?;
    let valid = present_in(kernels.truths("valid")?.are_true(), [&starts]);
    let is_one = |row: &u32| valid.get(*row as usize) == Some(true) && is_backward.get(*row as usize) == Some(true);
    let mut found: Vec<i64> = order.rows().filter(is_one).filter_map(|row| starts.get(row as usize)).collect();
    found.sort_unstable();
    Ok(found)
}

/// The layers in order, with their passes where these are known. Neighboring blocks are paired in each unit that has as
/// many layers of both.
pub(super) fn with_passes(
    mut layers: Vec<Placed>,
    backward_ns: &[i64],
    times_ns: &[(i64, i64)],
    facts: &UnitFacts,
) -> Vec<UnitLayer> {
    let mut blocks: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (block, layer) in &layers {
        let (with_any, all) = blocks.entry(*block).or_default();
        *with_any += usize::from(has_any(backward_ns, &layer.own));
        *all += 1;
    }
    let directions: Vec<(u32, Option<bool>)> =
        blocks.iter().map(|(block, (with_any, all))| (*block, facts.is_backward(*with_any, *all))).collect();
    for pair in directions.windows(2) {
        if let [(forward, Some(false)), (backward, Some(true))] = pair {
            pair_blocks(&mut layers, times_ns, *forward, *backward);
        }
    }
    number_kinds(&mut layers);
    layers.into_iter().map(|(_, layer)| layer).collect()
}

/// Whether a kernel of a backward pass starts in an interval.
fn has_any(backward_ns: &[i64], own: &Iteration) -> bool {
    let next = backward_ns.partition_point(|start_ns| *start_ns < own.start_ns);
    backward_ns.get(next).is_some_and(|start_ns| *start_ns < own.end_ns)
}

/// Pairs the layers of two blocks in each unit that has as many of both, the last of the forward pass with the first of the backward pass.
fn pair_blocks(layers: &mut [Placed], times_ns: &[(i64, i64)], forward: u32, backward: u32) {
    let mut of_units: BTreeMap<usize, [Vec<usize>; 2]> = BTreeMap::new();
    for (place, (block, layer)) in layers.iter().enumerate() {
        let Some(unit) = unit_at(times_ns, layer.own.start_ns) else { continue };
        let [one, other] = of_units.entry(unit).or_default();
        if *block == forward {
            one.push(place);
        } else if *block == backward {
            other.push(place);
        }
    }
    for [one, other] in of_units.values() {
        let is_before = one.last().zip(other.first()).is_some_and(|(last, first)| last < first);
        if one.len() != other.len() || !is_before {
            continue;
        }
        for (number, (ahead, back)) in (0..).zip(one.iter().zip(other.iter().rev())) {
            let kind = layers.get(*ahead).map(|(_, layer)| layer.kind);
            for (place, direction) in [(*ahead, Direction::Forward), (*back, Direction::Backward)] {
                if let (Some((_, layer)), Some(kind)) = (layers.get_mut(place), kind) {
                    layer.kind = kind;
                    layer.pass = Some(Pass { direction, layer: number });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two units of three layers forward and back; in the second one the last is lost.
    #[test]
    fn backward_layers_are_those_of_the_forward_pass_in_reverse() {
        let layer = |block: u32, start_ns: i64| {
            let own = Iteration { start_ns, end_ns: start_ns + 10, kernels: 2, kernel_ns: 10, period: 2 };
            (block, UnitLayer { kind: i64::from(block), own, pass: None })
        };
        let of = |unit_ns: i64, backward: i64| {
            let back = (0..backward).map(move |place| layer(1, unit_ns + 50 + place * 10));
            (0..3).map(move |place| layer(0, unit_ns + place * 10)).chain(back)
        };
        let layers: Vec<Placed> = of(0, 3).chain(of(100, 2)).collect();
        let backward_ns: Vec<i64> = [50, 60, 70, 150, 160].map(|start_ns| start_ns + 4).to_vec();
        let facts = UnitFacts::builtin().unwrap();
        let shown = |layers: Vec<UnitLayer>| -> Vec<(i64, Option<(&'static str, i64)>)> {
            layers.iter().map(|one| (one.kind, one.pass.map(|pass| (pass.direction.word(), pass.layer)))).collect()
        };
        let times_ns = [(0, 100), (100, 200)];
        let (ahead, back) = (|layer| (0, Some(("forward", layer))), |layer| (0, Some(("backward", layer))));
        let paired = [ahead(0), ahead(1), ahead(2), back(2), back(1), back(0)];
        let alone = [(0, None), (0, None), (0, None), (1, None), (1, None)];
        assert_eq!(shown(with_passes(layers.clone(), &backward_ns, &times_ns, &facts)), [&paired[..], &alone].concat());
        // Without names of the backward pass, they are layers of two kinds.
        let kinds = |layers: Vec<UnitLayer>| layers.iter().map(|one| (one.kind, one.pass)).collect::<Vec<_>>();
        let unknown = kinds(with_passes(layers, &[], &times_ns, &facts));
        assert!(unknown.iter().all(|(_, pass)| pass.is_none()) && unknown.iter().any(|(kind, _)| *kind == 1));
    }

    #[test]
    fn names_of_the_backward_pass() {
        let regex = UnitFacts::builtin().unwrap().backward_names().unwrap();
        for name in [
            "attn_bwd.kd",
            "triton_per_fused_native_layer_norm_backward_3",
            "void at::native::GammaBetaBackwardCUDAKernelTemplate<float>",
            "layer_norm_grad_input_kernel",
            "igemm_bwd_gtcx3_nhwc_fp32",
            "igemm_wrw_gtcx2_nhwc",
            "MIOpenConvBwdWrW_LxL",
        ] {
            assert!(regex.is_match(name), "{name}");
        }
        for name in [
            "Cijk_Ailk_Bljk_SB_MT64x64",
            "attn_fwd",
            "void at::native::vectorized_elementwise_kernel<4, AddFunctor>",
            "gradual",
        ] {
            assert!(!regex.is_match(name), "{name}");
        }
    }
}
