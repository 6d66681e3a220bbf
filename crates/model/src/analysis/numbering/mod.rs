//! Dense numbers for rows, groups and lanes.

pub mod by_id;
pub mod dense_groups;
pub mod lane_ids;
pub mod value_order;
