//! Output files of the program, as results that must stay the same.

use std::fs;
use std::path::{Path, PathBuf};

use super::elements::{Differences, ElementType, Tolerance};
use super::error::OptimizeError;
use crate::replay::compare::Element;
use wavesieve_export::target::resolved;
use wavesieve_files::regular;

/// First bytes of `.npy` files.
const NPY: &[u8] = b"\x93NUMPY";

/// An output file of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// The path as given, relative to the folder where the program runs.
    pub path: PathBuf,
    /// The type of its elements; `None` to infer it from its content or name.
    pub element: Option<ElementType>,
}

impl OutputFile {
    /// Parses `PATH` or `PATH:TYPE`.
    ///
    /// # Errors
    /// When the path leads out of the folder, or the type is unknown.
    pub fn of_word(word: &str) -> Result<Self, OptimizeError> {
        let (path, element) = match word.rsplit_once(':') {
            Some((path, element)) if !element.contains('/') => {
                let known = ElementType::of_word(element).ok_or_else(|| {
                    OptimizeError::Usage(format!(
                        "{word}: {element} is not a type of elements; use f16, bf16, f32, f64, i8 … u64, bytes or text"
                    ))
                })?;
                (path, Some(known))
            }
            _ => (word, None),
        };
        let path = PathBuf::from(path);
        let is_inside = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if path.as_os_str().is_empty() || !is_inside {
            let text =
                format!("{word}: not a file below the folder where the program runs; name it from there, without ..");
            return Err(OptimizeError::Usage(text));
        }
        Ok(Self { path, element })
    }

    /// Removes the file, so that an old one is not taken for a new one.
    pub(super) fn remove(&self, directory: &Path, copy: &Path) -> Result<(), OptimizeError> {
        let path = directory.join(&self.path);
        let folder = resolved(path.parent().unwrap_or(directory));
        if !folder.starts_with(resolved(copy)) {
            let text =
                format!("{} lies behind a link to {}; name a file of the copy", self.path.display(), folder.display());
            return Err(OptimizeError::Usage(text));
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(anyhow::Error::from(error).context(format!("cannot remove {}", path.display())).into())
            }
            _ => Ok(()),
        }
    }

    /// Reads the file; `None` if the program did not write it.
    pub(super) fn read(&self, directory: &Path) -> Result<Option<Vec<u8>>, OptimizeError> {
        let path = directory.join(&self.path);
        match regular::read(&path, u64::MAX) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(anyhow::Error::from(error).context(format!("cannot read {}", path.display())).into()),
        }
    }

    pub(super) fn differences(&self, expected: &[u8], found: &[u8], tolerance: Tolerance) -> Differences {
        let (header, element) = self.form(expected);
        let (other_header, _) = self.form(found);
        if expected.get(..header) != found.get(..other_header) {
            let shown = |bytes: &[u8], header: usize| {
                String::from_utf8_lossy(bytes.get(..header).unwrap_or_default()).trim().to_owned()
            };
            let first = Some((0, shown(expected, header), shown(found, other_header)));
            return Differences { elements: 1, different: 1, first, largest: 0.0 };
        }
        let body = |bytes: &'_ [u8], header: usize| bytes.get(header..).unwrap_or_default().to_vec();
        element.differences(&body(expected, header), &body(found, other_header), tolerance)
    }

    /// The number of bytes before the elements, and their type.
    fn form(&self, bytes: &[u8]) -> (usize, ElementType) {
        let npy = bytes.starts_with(NPY).then(|| npy_form(bytes)).flatten();
        match (npy, self.element) {
            (Some((header, element)), given) => (header, given.unwrap_or(element)),
            (None, Some(element)) => (0, element),
            (None, None) if is_text(bytes) => (0, ElementType::Text),
            (None, None) => (0, ElementType::Exact(1)),
        }
    }
}

/// Size of the header of a `.npy` file, and the type of its elements.
fn npy_form(bytes: &[u8]) -> Option<(usize, ElementType)> {
    let major = *bytes.get(6)?;
    let (start, length): (usize, usize) = if major == 1 {
        (10, usize::from(u16::from_le_bytes(bytes.get(8..10)?.try_into().ok()?)))
    } else {
        (12, usize::try_from(u32::from_le_bytes(bytes.get(8..12)?.try_into().ok()?)).ok()?)
    };
    let header = std::str::from_utf8(bytes.get(start..start.checked_add(length)?)?).ok()?;
    let descr = header.split("'descr':").nth(1)?.trim_start().strip_prefix('\'')?;
    let descr = descr.split('\'').next()?;
    let element = match descr.trim_start_matches(['<', '|', '=']) {
        "f2" => ElementType::Float(Element::F16),
        "f4" => ElementType::Float(Element::F32),
        "f8" => ElementType::Float(Element::F64),
        other => ElementType::Exact(other.get(1..)?.parse().ok().filter(|size| (1..=16).contains(size))?),
    };
    Some((start + length, element))
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_files_and_types() {
        let of = |word: &str| OutputFile::of_word(word).map(|file| (file.path.display().to_string(), file.element));
        assert_eq!(of("out/c.bin:f32").unwrap(), ("out/c.bin".to_owned(), Some(ElementType::Float(Element::F32))));
        assert_eq!(of("c.npy").unwrap(), ("c.npy".to_owned(), None));
        for wrong in ["", "/etc/passwd", "../c.bin", "a/../../c", "c.bin:f33"] {
            assert!(matches!(of(wrong), Err(OptimizeError::Usage(_))), "{wrong}");
        }
    }

    #[test]
    fn npy_files_name_their_type() {
        let npy = |descr: &str, values: &[f32]| {
            let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}\n");
            let mut bytes = NPY.to_vec();
            bytes.extend([1, 0]);
            bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
            bytes.extend(header.bytes());
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            bytes
        };
        let file = OutputFile { path: "c.npy".into(), element: None };
        let usual = Tolerance::default();
        assert_eq!(file.differences(&npy("<f4", &[1.0, 2.0]), &npy("<f4", &[1.0, 2.000_001]), usual).different, 0);
        assert_eq!(file.differences(&npy("<f4", &[1.0, 2.0]), &npy("<f4", &[1.0, 2.5]), usual).different, 1);
        assert_eq!(file.differences(&npy("<f4", &[1.0, 2.0]), &npy("<i4", &[1.0, 2.0]), usual).different, 1);
        // A truncated file, or one without an array, is compared byte for byte.
        for cut in 1..npy("<f4", &[1.0]).len() {
            let bytes = npy("<f4", &[1.0])[..cut].to_vec();
            let mut other = bytes.clone();
            other[cut - 1] ^= 1;
            assert_eq!(file.differences(&bytes, &other, usual).different, 1, "{cut}");
        }
    }
}
