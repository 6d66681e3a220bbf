//! Code objects: segments, kernels and variables.

use object::Endianness;
use object::elf::{FileHeader64, PT_LOAD, STT_FUNC, STT_OBJECT};
use object::read::elf::{FileHeader, ProgramHeader, Rela, SectionHeader, Sym};

/// Types of relocations and of symbols that AMD added.
const R_AMDGPU_ABS64: u32 = 3;
const R_AMDGPU_RELATIVE64: u32 = 13;
const STT_AMDGPU_HSA_KERNEL: u8 = 10;

/// The processor in the flags of the ELF header, and its name.
const PROCESSORS: [(u32, &str); 9] = [
    (0x2f, "gfx908"),
    (0x3f, "gfx90a"),
    (0x40, "gfx940"),
    (0x4c, "gfx942"),
    (0x4f, "gfx950"),
    (0x36, "gfx1030"),
    (0x41, "gfx1100"),
    (0x48, "gfx1200"),
    (0x4e, "gfx1201"),
];

/// A symbol of a kernel descriptor or of a variable.
pub(crate) struct CodeSymbol {
    pub name: String,
    pub address: u64,
    pub bytes: u64,
    pub is_kernel: bool,
}

/// A code object, read.
pub(crate) struct Code {
    pub processor: Option<&'static str>,
    pub symbols: Vec<CodeSymbol>,
    /// The segments at their places.
    pub image: Vec<u8>,
    /// Places that hold an address, and which.
    pub relocations: Vec<(u64, u64)>,
}

/// Reads a code object.
pub(crate) fn read(bytes: &[u8]) -> Result<Code, object::Error> {
    let header = FileHeader64::<Endianness>::parse(bytes)?;
    let endian = header.endian()?;
    let machine = header.e_flags(endian) & 0xff;
    let processor = PROCESSORS.iter().find(|(number, _)| *number == machine).map(|(_, name)| *name);
    let mut image = Vec::new();
    for segment in header.program_headers(endian, bytes)? {
        if segment.p_type(endian) == PT_LOAD {
            let place = segment.p_vaddr(endian) as usize;
            image.resize(image.len().max(place + segment.p_memsz(endian) as usize), 0);
            if let Ok(data) = segment.data(endian, bytes) {
                image[place..place + data.len()].copy_from_slice(data);
            }
        }
    }
    let sections = header.sections(endian, bytes)?;
    let table = sections.symbols(endian, bytes, object::elf::SHT_DYNSYM)?;
    let mut symbols = Vec::new();
    for symbol in table.iter() {
        let name = String::from_utf8_lossy(symbol.name(endian, table.strings())?).into_owned();
        let (kind, address, bytes) = (symbol.st_type(), symbol.st_value(endian), symbol.st_size(endian));
        let is_kernel = name.ends_with(".kd") && kind != STT_FUNC;
        if symbol.st_shndx(endian) != 0 && (is_kernel || kind == STT_OBJECT || kind == STT_AMDGPU_HSA_KERNEL) {
            symbols.push(CodeSymbol { name, address, bytes, is_kernel });
        }
    }
    let mut relocations = Vec::new();
    for section in sections.iter() {
        let Some((entries, _)) = section.rela(endian, bytes)? else { continue };
        for entry in entries {
            let addend = entry.r_addend(endian) as u64;
            match entry.r_type(endian, false) {
                R_AMDGPU_RELATIVE64 => relocations.push((entry.r_offset(endian), addend)),
                R_AMDGPU_ABS64 => {
                    let symbol = table.symbol(object::SymbolIndex(entry.r_sym(endian, false) as usize))?;
                    relocations.push((entry.r_offset(endian), symbol.st_value(endian) + addend));
                }
                _ => {}
            }
        }
    }
    Ok(Code { processor, symbols, image, relocations })
}

/// Numbers of a kernel descriptor: bytes of LDS, of scratch memory and of arguments.
pub(crate) fn descriptor(image: &[u8], address: u64) -> Option<[u32; 3]> {
    let place = address as usize;
    let (words, _) = image.get(place..place + 12)?.as_chunks::<4>();
    Some([0, 1, 2].map(|index: usize| u32::from_le_bytes(words[index])))
}
