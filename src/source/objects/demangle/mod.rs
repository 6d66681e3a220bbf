//! Names as C++ spells them: what of the Itanium mangling occurs in names of kernels, in the spelling of LLVM's tools.

mod names;
mod parser;
mod types;

use parser::Parser;

/// The name of a mangled symbol; none where it is not mangled, or in a way that is not known here, such as expressions in
/// template arguments.
pub(crate) fn demangled(symbol: &str) -> Option<String> {
    let rest = symbol.strip_prefix("_Z")?;
    let mut parser = Parser::new(rest.as_bytes());
    let name = parser.encoding()?;
    match parser.rest() {
        [] => Some(name),
        [b'.', ..] => Some(format!("{name} ({})", String::from_utf8_lossy(parser.rest()))),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
