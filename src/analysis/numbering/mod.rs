//! Dense numbers for rows, groups and lanes.

pub(crate) mod by_id;
pub(crate) mod dense_groups;
pub(crate) mod lane_ids;
pub(crate) mod value_order;
