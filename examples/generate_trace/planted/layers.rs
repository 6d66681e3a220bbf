//! The kernels of layers.

use super::{StepKernel, usual};

/// Layers of two kinds; the second one has another kernel in the middle, and one more.
pub(super) const LAYER: [StepKernel; 13] = [
    usual(10, 44_000),
    usual(16, 56_000),
    usual(2, 48_000),
    usual(17, 52_000),
    usual(8, 60_000),
    usual(19, 44_000),
    usual(18, 64_000),
    usual(13, 48_000),
    usual(10, 44_000),
    usual(14, 40_000),
    usual(2, 48_000),
    usual(15, 48_000),
    usual(16, 56_000),
];
pub(super) const OTHER_LAYER: [StepKernel; 14] = [
    usual(10, 44_000),
    usual(16, 56_000),
    usual(2, 48_000),
    usual(11, 76_000),
    usual(12, 40_000),
    usual(8, 60_000),
    usual(19, 44_000),
    usual(18, 64_000),
    usual(13, 48_000),
    usual(10, 44_000),
    usual(14, 40_000),
    usual(2, 48_000),
    usual(15, 48_000),
    usual(16, 56_000),
];
/// A layer of the forward and one of the backward pass.
pub(super) const FORWARD_LAYER: [StepKernel; 12] = [
    usual(10, 44_000),
    usual(16, 56_000),
    usual(2, 48_000),
    usual(17, 52_000),
    usual(8, 60_000),
    usual(19, 44_000),
    usual(5, 64_000),
    usual(13, 48_000),
    usual(10, 44_000),
    usual(14, 40_000),
    usual(2, 48_000),
    usual(18, 56_000),
];
pub(super) const BACKWARD_LAYER: [StepKernel; 14] = [
    usual(2, 48_000),
    usual(12, 76_000),
    usual(16, 56_000),
    usual(12, 80_000),
    usual(19, 44_000),
    usual(6, 130_000),
    usual(13, 48_000),
    usual(8, 60_000),
    usual(18, 52_000),
    usual(2, 48_000),
    usual(15, 56_000),
    usual(14, 40_000),
    usual(10, 44_000),
    usual(17, 50_000),
];
