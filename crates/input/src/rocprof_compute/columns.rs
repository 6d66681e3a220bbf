//! The columns of counter files that describe dispatches, and rules for column names.

use crate::common::csv::columns;

columns! {
    Dispatch Integer "Dispatch." "dispatch_id";
    Gpu Integer "GPU." "gpu_id";
    KernelId Integer "Kernel symbol." "kernel_id";
    KernelName Text "Name of the kernel." "kernel_name";
    Grid Integer "Work-items of the grid." "grid_size";
    Workgroup Integer "Work-items of a workgroup." "workgroup_size";
    Lds Integer "LDS of a workgroup." "lds_per_workgroup";
    Scratch Integer "Scratch memory of a work-item." "scratch_per_workitem";
    Vgpr Integer "Vector registers." "arch_vgpr" "vgpr";
    AccumVgpr Integer "Accumulation registers." "accum_vgpr";
    Sgpr Integer "Scalar registers." "sgpr";
    Start Integer "Start." "start_timestamp";
    End Integer "End." "end_timestamp";
    Process Integer "Process of the operating system, in files of several." "pid";
    CounterName Text "Counter of the long layout." "counter_name";
    CounterValue Float "Value of the long layout." "counter_value";
    Other Unused "Known, but of no use here." "wave_size" "obj" "sig" "queue_id" "queue_index" "tid" "correlation_id";
}

/// A column name without surrounding blanks, quotes and byte order mark.
pub fn trimmed(field: &[u8]) -> String {
    String::from_utf8_lossy(field).trim().trim_start_matches('\u{feff}').trim_matches('"').trim().to_owned()
}

/// Whether a column is named like a counter: a hardware block in capitals, `_`, and the counted event.
pub fn is_counter(name: &str) -> bool {
    let Some((block, counted)) = name.split_once('_') else { return false };
    let is_block = |text: &str| {
        text.len() >= 2
            && text.starts_with(|first: char| first.is_ascii_uppercase())
            && text.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
    };
    is_block(block) && counted.starts_with(|first: char| first.is_ascii_alphanumeric())
}

/// A name without the number behind it, and the number: `SQ_WAVES_11` is `SQ_WAVES` and 11.
pub(crate) fn without_number(name: &str) -> Option<(&str, usize)> {
    let (base, digits) = name.rsplit_once('_')?;
    let is_number = !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if base.is_empty() || !is_number {
        return None;
    }
    Some((base, digits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_told_from_other_columns() {
        for name in ["SQ_WAVES", "TCC_EA0_RDREQ_sum", "TCC_HIT[12]", "GRBM_COUNT", "CPC_ME1_DC0_SPI_BUSY"] {
            assert!(is_counter(name), "{name}");
        }
        for name in ["Kernel_Name", "wave_size", "obj", "SGPR", "Unnamed: 0", "S_X", "SQ_", "9Q_X", "OBJ"] {
            assert!(!is_counter(name), "{name}");
        }
    }

    #[test]
    fn numbers_behind_names() {
        assert_eq!(without_number("SQ_WAVES_11"), Some(("SQ_WAVES", 11)));
        assert_eq!(without_number("TCC_HIT[3]_2"), Some(("TCC_HIT[3]", 2)));
        for name in ["SQ_WAVES", "SQ_WAVES_0", "SQ_WAVES_011", "_1", "SQ_WAVES_1x", "SQ_99999999999999999999999"] {
            assert_eq!(without_number(name), None, "{name}");
        }
    }
}
