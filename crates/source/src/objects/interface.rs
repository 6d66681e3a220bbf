//! Checks whether one kernel can be launched in place of another.

use super::model::{KernelArgument, KernelCode};

/// The first difference in the interface that a launching program relies on: the symbol, and number, offsets, sizes,
/// kinds and address spaces of the arguments. Hidden arguments may differ, because the runtime fills them by the
/// metadata. Then the total size may differ too, because it includes them.
pub fn interface_difference(old: &KernelCode, new: &KernelCode) -> Option<String> {
    if old.symbol != new.symbol {
        return Some(format!("its symbol is {} instead of {}", new.symbol, old.symbol));
    }
    let (before, after): (Vec<_>, Vec<_>) = (old.own_arguments().collect(), new.own_arguments().collect());
    if before.len() != after.len() {
        return Some(format!("it has {} instead of {}", counted(after.len()), counted(before.len())));
    }
    for (number, (before, after)) in before.iter().zip(&after).enumerate() {
        if let Some(difference) = argument_difference(before, after) {
            let name = before.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
            return Some(format!("argument {}{name} {difference}", number + 1));
        }
    }
    let hides = |kernel: &KernelCode| kernel.arguments.iter().any(KernelArgument::is_hidden);
    if old.kernarg_bytes != new.kernarg_bytes && hides(old) == hides(new) {
        return Some(format!("its arguments take {} bytes instead of {}", new.kernarg_bytes, old.kernarg_bytes));
    }
    (old.kernarg_alignment != new.kernarg_alignment).then(|| {
        format!("its arguments are aligned to {} bytes instead of {}", new.kernarg_alignment, old.kernarg_alignment)
    })
}

/// The first launch that `old` allows but `new` does not. `new` must allow workgroups at least as large, of any shape if
/// `old` does, and must have wavefronts of the same size.
pub fn launch_difference(old: &KernelCode, new: &KernelCode) -> Option<String> {
    let shown = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
    if let Some(required) = new.required_work_items
        && old.required_work_items != Some(required)
    {
        let before = old.required_work_items.map_or_else(|| "any size".to_owned(), shown);
        return Some(format!("it only runs in workgroups of {} instead of {before}", shown(required)));
    }
    let most = old.required_work_items.map_or(u64::from(old.max_work_items), |sizes| {
        sizes.into_iter().fold(1_u64, |all, size| all.saturating_mul(u64::from(size)))
    });
    if u64::from(new.max_work_items) < most.min(u64::from(old.max_work_items)) {
        return Some(format!(
            "it is built for workgroups of up to {} work-items instead of {}",
            new.max_work_items, old.max_work_items
        ));
    }
    (old.wave_size != new.wave_size)
        .then(|| format!("its wavefronts have {} work-items instead of {}", new.wave_size, old.wave_size))
}

fn counted(arguments: usize) -> String {
    if arguments == 1 { "1 argument".to_owned() } else { format!("{arguments} arguments") }
}

fn argument_difference(old: &KernelArgument, new: &KernelArgument) -> Option<String> {
    let space = |argument: &KernelArgument| argument.address_space.clone().unwrap_or_else(|| "no".to_owned());
    match () {
        () if old.kind != new.kind => Some(format!("is {} instead of {}", new.kind, old.kind)),
        () if old.bytes != new.bytes => Some(format!("has {} bytes instead of {}", new.bytes, old.bytes)),
        () if old.offset != new.offset => Some(format!("is at byte {} instead of {}", new.offset, old.offset)),
        () if old.address_space != new.address_space => {
            Some(format!("points to {} instead of {} memory", space(new), space(old)))
        }
        () => None,
    }
}

/// The first reason why recorded argument bytes of one kernel do not fit another: the reasons of
/// [`interface_difference`], and hidden arguments that were not recorded.
pub fn kernarg_difference(old: &KernelCode, new: &KernelCode) -> Option<String> {
    if let Some(difference) = interface_difference(old, new) {
        return Some(difference);
    }
    let recorded = |hidden: &KernelArgument| {
        old.arguments
            .iter()
            .any(|other| other.kind == hidden.kind && other.offset == hidden.offset && other.bytes == hidden.bytes)
    };
    let missing = new.arguments.iter().find(|argument| {
        // `hidden_none` is unused space.
        argument.is_hidden() && argument.kind != "hidden_none" && !recorded(argument)
    });
    missing.map(|missing| format!("it reads {} at byte {}, which was not recorded", missing.kind, missing.offset))
}
