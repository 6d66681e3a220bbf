//! Checks that a candidate can be called like the original kernel, by its source and its compiled code.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::declarations::changed_meaning;
use super::error::OptimizeError;
use super::gates::{Gate, GateResult, Verdict};
use super::target::{Target, full_name};
use super::tree::Listing;
use wavesieve_source::kernels::signature_difference;
use wavesieve_source::objects::{KernelCode, interface_difference, read_file};

/// Larger files are not searched unless they are named.
const MOST_BYTES: u64 = 1 << 30;

#[derive(Clone, Debug)]
pub(super) struct Compiled {
    /// The file, relative to the copy.
    pub file: PathBuf,
    pub target: String,
    pub code: KernelCode,
    /// Whether it is the kernel to change, not another kernel of the file.
    pub is_target: bool,
}

/// Finds the kernel in the output of the build: in the named file, or in all new files.
pub(super) fn compiled(
    copy: &Path,
    object: Option<&Path>,
    before: &Listing,
    target: &Target,
) -> Result<Vec<Compiled>, OptimizeError> {
    let after = Listing::of(copy, Path::new("-"))?;
    let written = after.changed_since(before);
    let found = in_files(copy, object.map_or(written, |object| vec![object.to_owned()]), object, target)?;
    if object.is_some() || found.iter().any(|one| one.is_target) {
        return Ok(found);
    }
    // The build had nothing to do: the files were built before.
    in_files(copy, after.files().cloned().collect(), None, target)
}

fn in_files(
    copy: &Path,
    files: Vec<PathBuf>,
    object: Option<&Path>,
    target: &Target,
) -> Result<Vec<Compiled>, OptimizeError> {
    let mut found = Vec::new();
    for file in files {
        let path = copy.join(&file);
        let is_searched = object.is_some() || path.metadata().is_ok_and(|metadata| metadata.len() <= MOST_BYTES);
        let objects = match read_file(&path) {
            _ if !is_searched => continue,
            Ok(objects) => objects,
            Err(error) if object.is_some() => {
                return Err(OptimizeError::Baseline(format!("has no code object in {}: {error}", file.display())));
            }
            Err(_) => continue,
        };
        for object in objects {
            found.extend(object.kernels.into_iter().map(|code| {
                let is_target = target.is(&code.name) || target.is(&code.demangled());
                Compiled { file: file.clone(), target: object.target.clone(), code, is_target }
            }));
        }
    }
    Ok(found)
}

pub(super) fn gate(
    (old, old_text): (&Target, &str),
    (new, new_text): (Option<&Target>, &str),
    before: &[Compiled],
    after: &[Compiled],
) -> GateResult {
    let result = |verdict, reason: String, facts| GateResult::new(Gate::Interface, verdict, reason, facts);
    let Some(new) = new else {
        let reason = format!("the source has no kernel {} any more", full_name(&old.kernel));
        return result(Verdict::Fail, reason, Value::Null);
    };
    if let Some(difference) = signature_difference(&old.kernel, &new.kernel) {
        return result(
            Verdict::Fail,
            format!("the signature differs: {difference}"),
            json!({ "signature": difference }),
        );
    }
    let gone = old.all.iter().find(|kernel| {
        !new.all.iter().any(|other| signature_difference(kernel, other).is_none() && other.name == kernel.name)
    });
    if let Some(gone) = gone {
        let reason = format!("the source has no kernel {} as it was", full_name(gone));
        return result(Verdict::Fail, reason, Value::Null);
    }
    if let Some(word) = changed_meaning(old_text, old, new_text) {
        let reason = format!("the source defines {word} in another way, which signatures use");
        return result(Verdict::Fail, reason, json!({ "defined": word }));
    }
    if !before.iter().any(|one| one.is_target) {
        let reason =
            "the signature is the same, and no code object shows the compiled arguments; name one with --object";
        return result(Verdict::Unverified, reason.to_owned(), Value::Null);
    }
    for old in before {
        let place = format!("{} ({})", old.file.display(), old.target);
        let same =
            |one: &&Compiled| one.file == old.file && one.target == old.target && one.code.symbol == old.code.symbol;
        let Some(new) = after.iter().find(same) else {
            let reason = format!("{place} has no symbol {} any more", old.code.symbol);
            return result(Verdict::Fail, reason, Value::Null);
        };
        if let Some(difference) = interface_difference(&old.code, &new.code) {
            let reason = format!("the compiled arguments differ in {place}: {difference}");
            return result(Verdict::Fail, reason, json!({ "object": place, "arguments": difference }));
        }
    }
    let targets = || before.iter().filter(|one| one.is_target);
    let symbols: Vec<&str> = targets().map(|one| one.code.symbol.as_str()).collect();
    let reason = "signature and compiled arguments are the same".to_owned();
    result(
        Verdict::Pass,
        reason,
        json!({ "symbols": symbols, "kernarg_bytes": targets().next().map(|one| one.code.kernarg_bytes) }),
    )
}
