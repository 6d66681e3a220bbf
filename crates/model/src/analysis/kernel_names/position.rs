//! Labels of places behind a kernel: `after NAME`, or `after NAME with grid 64x1x1` if several kernels of the name come before.

const AFTER: &str = "after ";
const WITH: &str = " with ";
/// First words of what distinguishes kernels of one name.
pub const DIFFERENCES: [&str; 3] = ["grid", "workgroup", "inputs"];

/// The label of the place behind a kernel. The differences begin with words of [`DIFFERENCES`].
pub fn position_after(kernel: &str, differences: &[&str]) -> String {
    let with = if differences.is_empty() { "" } else { WITH };
    format!("{AFTER}{kernel}{with}{}", differences.join(", "))
}

/// The kernel in such a label, and the rest of the label.
pub fn kernel_of_position(label: &str) -> Option<(&str, &str)> {
    let text = label.strip_prefix(AFTER)?;
    let ends = DIFFERENCES.iter().filter_map(|word| text.find(&format!("{WITH}{word} ")));
    text.split_at_checked(ends.min().unwrap_or(text.len()))
}

/// The label with another name of its kernel; `None` for another text.
pub fn renamed_position(label: &str, rename: impl FnOnce(&str) -> String) -> Option<String> {
    let (kernel, rest) = kernel_of_position(label)?;
    Some(format!("{AFTER}{}{rest}", rename(kernel)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_name_their_kernel() {
        let name = "void f<a with b>(int)";
        let label = position_after(name, &["grid 64x1x1", "inputs [[2, 3]]"]);
        assert_eq!(label, "after void f<a with b>(int) with grid 64x1x1, inputs [[2, 3]]");
        assert_eq!(kernel_of_position(&label), Some((name, " with grid 64x1x1, inputs [[2, 3]]")));
        assert_eq!(kernel_of_position(&position_after(name, &[])), Some((name, "")));
        assert_eq!(renamed_position("after f", str::to_uppercase).as_deref(), Some("after F"));
        assert_eq!(renamed_position("graph node 3", str::to_uppercase), None);
    }
}
