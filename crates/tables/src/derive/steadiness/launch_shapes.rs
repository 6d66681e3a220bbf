//! Dispatches that do the same work: one kernel on one GPU with the same grid and workgroup.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categorical, rows_named};
use crate::columns::values::{BoolValues, FrameValues};
use crate::derive::launching::kernel_order::KernelOrder;
use wavesieve_model::analysis::categories::COMMUNICATION;
use wavesieve_model::analysis::numbering::dense_groups::DenseGroups;

/// The columns that identify the work of a dispatch, in addition to the name of the kernel and the GPU.
pub const SHAPE: [&str; 6] = ["grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"];

/// Rows of the same work, in the order of their starts, and their durations.
pub struct ShapeGroup {
    /// Rows in the table of kernels.
    pub rows: Vec<u32>,
    pub durations: Vec<i64>,
}

/// Dispatches by the work they do, the basis of both tables about the same work.
pub(crate) struct ShapeGroups<'a> {
    kernels: &'a DataFrame,
    kinds: DenseGroups,
    order: KernelOrder,
}

impl<'a> ShapeGroups<'a> {
    /// The groups of a table of kernels in the given order; it needs their names, GPUs, [`SHAPE`] and durations.
    pub fn new(kernels: &'a DataFrame, order: KernelOrder) -> Result<Self> {
        let names = kernels.column("kernel_name")?.as_materialized_series().cast(&categorical())?;
        let mut kinds = DenseGroups::from_values(names.cat32()?.physical().iter().map(|code| code.map(i64::from)));
        kinds = kinds.and(&kernels.integer("gpu")?.kinds());
        for side in SHAPE {
            let side = kernels.integer(side)?;
            let sides = || side.iter().map(|side| Some(side.unwrap_or_default()));
            kinds = if side.present().is_none() { kinds.and(&side.kinds()) } else { kinds.and_of(sides()) };
        }
        Ok(Self { kernels, kinds, order })
    }

    /// The valid dispatches by the work they do, in the order in which the first of each work is recorded.
    pub(crate) fn by_work(&self) -> Result<Vec<ShapeGroup>> {
        self.gathered(&self.kinds)
    }

    /// The same, with communication kernels also distinguished by stream. Collectives of different communicators move
    /// different amounts on their own streams, and look alike otherwise. `None` if streams distinguish nothing further.
    pub(crate) fn by_work_and_communicator(&self) -> Result<Option<Vec<ShapeGroup>>> {
        let communicates = rows_named(self.kernels.column("category")?, |category| category == COMMUNICATION)?;
        if !communicates.any() {
            return Ok(None);
        }
        let streams = self.kernels.integer("stream_id")?;
        let communicates = BoolValues::new(&communicates);
        let counted = streams.iter().zip(communicates.iter());
        let counted = counted.map(|(stream, communicates)| stream.filter(|_| communicates == Some(true)));
        let kinds = self.kinds.clone().and_of(counted);
        if kinds.count == self.kinds.count { Ok(None) } else { self.gathered(&kinds).map(Some) }
    }

    fn gathered(&self, kinds: &DenseGroups) -> Result<Vec<ShapeGroup>> {
        let durations = self.kernels.integer("duration_ns")?;
        let valid = self.kernels.truths("valid")?;
        let is_named = self.kernels.column("kernel_name")?.is_not_null();
        let chosen = valid.iter().zip(is_named.iter());
        let (works, count) = kinds.of_chosen(chosen.map(|(valid, named)| valid == Some(true) && named == Some(true)));
        let mut sizes = vec![0_usize; count];
        for work in works.iter().flatten() {
            if let Some(size) = sizes.get_mut(*work as usize) {
                *size += 1;
            }
        }
        let empty = |size: &usize| ShapeGroup { rows: Vec::with_capacity(*size), durations: Vec::with_capacity(*size) };
        let mut gathered: Vec<ShapeGroup> = sizes.iter().map(empty).collect();
        for row in self.order.rows() {
            let at = row as usize;
            let Some(Some(work)) = works.get(at) else { continue };
            if let Some(same) = gathered.get_mut(*work as usize) {
                same.rows.push(row);
                same.durations.push(durations.get(at).unwrap_or_default());
            }
        }
        Ok(gathered)
    }
}
