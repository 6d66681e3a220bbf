//! Four loads of neighbors as one load, if the address is a multiple of 16 bytes.

use std::ops::Range;

use super::code::{Code, edited};
use super::transform::{Refusal, Transformed};
use wavesieve_source::kernels::SourceKernel;

/// Types of four bytes, and their vectors of four elements.
const VECTORS: [(&str, &str); 3] = [("float", "float4"), ("int", "int4"), ("unsigned", "uint4")];
const PARTS: [&str; 4] = ["x", "y", "z", "w"];
/// Required alignment in bytes.
const BYTES: &str = "16";

/// `TYPE NAME = ARRAY[INDEX + PART];`
#[derive(Clone, Debug)]
struct Load<'a> {
    places: Range<usize>,
    kind: &'a str,
    array: &'a str,
    /// The factor that is multiplied by four.
    index: &'a str,
    part: usize,
}

/// Joins the first four loads of neighbors from an array that the kernel declares to be aligned.
pub(super) fn apply(text: &str, kernel: &SourceKernel) -> Result<Transformed, Refusal> {
    let code = Code::new(text, &kernel.body)?;
    let loads: Vec<Load<'_>> = (0..code.len()).filter_map(|place| load_at(&code, place)).collect();
    let mut refusal = Refusal::new("the kernel does not load four neighbors one after the other");
    for (number, group) in loads.windows(PARTS.len()).enumerate() {
        let Some(first) = group.first() else { continue };
        let is_group = group.iter().enumerate().all(|(part, load)| {
            load.part == part && load.array == first.array && load.index == first.index && load.kind == first.kind
        });
        let is_gapless = group.windows(2).all(|pair| match pair {
            [one, next] => one.places.end == next.places.start,
            _ => false,
        });
        if !is_group || !is_gapless {
            continue;
        }
        if !is_aligned(&code, first.array, first.kind) {
            refusal =
                Refusal::new(format!("nothing states that {} begins at a multiple of {BYTES} bytes", first.array));
            continue;
        }
        let Some((_, vector)) = VECTORS.iter().find(|(kind, _)| *kind == first.kind) else { continue };
        let name = format!("{}_quad_{number}", first.array);
        if (0..code.len()).any(|place| code.at(place) == name) {
            refusal = Refusal::new(format!("the name {name} is taken"));
            continue;
        }
        let at = code.range(first.places.start).start;
        let load = format!(
            "const {vector} {name} = *reinterpret_cast<const {vector}*>(&{}[4 * ({})]); ",
            first.array, first.index
        );
        let mut changes = vec![(at..at, load)];
        for (load, part) in group.iter().zip(PARTS) {
            // TYPE NAME = ARRAY [ … ] ;
            let from = code.range(load.places.start + 3).start;
            let to = code.range(load.places.end - 2).end;
            changes.push((from..to, format!("{name}.{part}")));
        }
        let text = edited(text, changes)?;
        let reason = format!("loads four neighbors of {} with one instruction", first.array);
        return Ok(Transformed { text, reason });
    }
    Err(refusal)
}

/// Returns whether the body declares an array of this type with the alignment, or takes a pointer from
/// `__builtin_assume_aligned`, and the pointer never moves.
fn is_aligned(code: &Code<'_>, array: &str, kind: &str) -> bool {
    let places: Vec<usize> = (0..code.len()).filter(|place| code.at(*place) == array).collect();
    let Some((declared, used)) = places.split_first() else { return false };
    let statement = (0..*declared).rev().take_while(|before| !matches!(code.at(*before), ";" | "{" | "}"));
    let before: Vec<&str> = (statement.last().unwrap_or(*declared)..*declared).map(|one| code.at(one)).collect();
    let types = ["float", "int", "unsigned", "double", "char", "short", "long", "half", "bool", "auto"];
    let of_type: Vec<&&str> = before.iter().filter(|word| types.contains(*word)).collect();
    if of_type != [&kind] || before.contains(&"volatile") || before.contains(&"&") {
        return false;
    }
    let states = |word: &str| before.windows(4).any(|part| part == [word, "(", BYTES, ")"]);
    let is_array = code.at(declared + 1) == "[" && before.last() == Some(&kind);
    let is_assumed = code.at(declared + 1) == "="
        && before.last() == Some(&"*")
        && (*declared..code.len()).take_while(|one| code.at(*one) != ";").any(|one| {
            code.at(one) == "__builtin_assume_aligned"
                && code.closing(one + 1).is_some_and(|close| code.at(close - 1) == BYTES && code.at(close - 2) == ",")
        });
    // Any use of a pointer except reading through it may move it, and an equal name may belong to another scope.
    let is_read = |place: &usize| {
        code.at(place + 1) == "["
            && !matches!(code.at(place.saturating_sub(1)), "&" | "+" | "-" | "." | "->" | ">" | ")")
            && !(code.is_word(place.saturating_sub(1)) && code.at(place.saturating_sub(1)) != "return")
    };
    let is_fixed = used.iter().all(is_read);
    is_fixed && (is_assumed || is_array && (states("__align__") || states("alignas") || states("aligned")))
}

fn load_at<'a>(code: &Code<'a>, place: usize) -> Option<Load<'a>> {
    let kind = code.at(place);
    let starts_statement = place == 0 || matches!(code.at(place - 1), ";" | "{" | "}");
    if !VECTORS.iter().any(|(known, _)| *known == kind) || !starts_statement || !code.is_word(place + 1) {
        return None;
    }
    if code.at(place + 2) != "=" || !code.is_word(place + 3) || code.at(place + 4) != "[" {
        return None;
    }
    let close = code.closing(place + 4)?;
    if code.at(close + 1) != ";" {
        return None;
    }
    let (index, part) = index_of(code, place + 5..close)?;
    Some(Load { places: place..close + 2, kind, array: code.at(place + 3), index, part })
}

/// The `i` and the `k` of `4 * i + k`, without calls or side effects.
fn index_of<'a>(code: &Code<'a>, places: Range<usize>) -> Option<(&'a str, usize)> {
    let is_plain = |place: usize| {
        code.is_word(place) || code.at(place) == "." || code.at(place).bytes().all(|byte| byte.is_ascii_digit())
    };
    let last = places.end.checked_sub(1)?;
    let (product, part) = match (code.at(last.checked_sub(1)?), code.at(last).parse::<usize>()) {
        ("+", Ok(part)) if part < PARTS.len() && places.len() > 4 => (places.start..last - 1, part),
        _ => (places, 0),
    };
    let last = product.end.checked_sub(1)?;
    let index = match (code.at(product.start), code.at(product.start + 1), code.at(last.checked_sub(1)?), code.at(last))
    {
        ("4", "*", _, _) => product.start + 2..product.end,
        (_, _, "*", "4") => product.start..product.end - 2,
        _ => return None,
    };
    let is_simple = !index.is_empty() && index.clone().all(is_plain);
    is_simple.then(|| (code.text(index.start, index.end - 1), part))
}
