//! Small numbers in the hybrid of run lengths and packed bits that Parquet uses for levels and dictionary indices.
//!
//! Source: "Run Length Encoding / Bit-Packing Hybrid (RLE = 3)" of the Parquet format's encodings.

/// Numbers that are packed together, and the shortest run that is written as one.
const GROUP: usize = 8;

/// Bits that the largest of the numbers takes, at least one.
pub(crate) fn bit_width(greatest: u32) -> u32 {
    (u32::BITS - greatest.leading_zeros()).max(1)
}

/// Adds numbers of `width` bits each to `out`.
pub fn encode(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let mut literals = numbers;
    let mut rest = numbers;
    while let Some(first) = rest.first() {
        let run = rest.iter().take_while(|number| *number == first).count();
        if run < GROUP {
            rest = rest.get(GROUP..).unwrap_or_default();
            continue;
        }
        put_packed(literals.get(..literals.len() - rest.len()).unwrap_or_default(), width, out);
        put_run(*first, run, width, out);
        rest = rest.get(run..).unwrap_or_default();
        literals = rest;
    }
    put_packed(literals, width, out);
}

/// Adds a number that is repeated.
pub(crate) fn put_run(number: u32, times: usize, width: u32, out: &mut Vec<u8>) {
    if times > 0 {
        put_varint((times as u64) << 1, out);
        out.extend(number.to_le_bytes().iter().take(width.div_ceil(8) as usize));
    }
}

/// Adds packed numbers; zeros fill the last group.
fn put_packed(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    put_varint((numbers.len().div_ceil(GROUP) as u64) << 1 | 1, out);
    for group in numbers.chunks(GROUP) {
        let (mut bits, mut held) = (0_u64, 0);
        for place in 0..GROUP {
            bits |= u64::from(group.get(place).copied().unwrap_or(0)) << held;
            held += width;
            while held >= 8 {
                out.push(bits as u8);
                bits >>= 8;
                held -= 8;
            }
        }
    }
}

fn put_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads by the definition.
    fn decode(mut bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let varint = |bytes: &mut &[u8]| {
            let mut number = 0_u64;
            for shift in (0..).step_by(7) {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                number |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
            number
        };
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let header = varint(&mut bytes);
            if header & 1 == 0 {
                let size = width.div_ceil(8) as usize;
                let mut number = [0; 4];
                number[..size].copy_from_slice(&bytes[..size]);
                bytes = &bytes[size..];
                numbers.extend(std::iter::repeat_n(u32::from_le_bytes(number), (header >> 1) as usize));
            } else {
                let packed = (header >> 1) as usize * 8;
                for index in 0..packed {
                    let bit = |at: usize| u32::from(bytes[at / 8] >> (at % 8) & 1);
                    let first = index * width as usize;
                    numbers.push((0..width).map(|of| bit(first + of as usize) << of).sum());
                }
                bytes = &bytes[packed * width as usize / 8..];
            }
        }
        assert!(bytes.is_empty(), "{} bytes too many", bytes.len());
        numbers.truncate(count);
        numbers
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            runs in prop::collection::vec((any::<u32>(), prop_oneof![1_usize..4, 1_usize..40]), 0..30),
            width in 1_u32..=32,
        ) {
            let mask = u32::MAX >> (32 - width);
            let numbers: Vec<u32> = runs.iter().flat_map(|(number, times)| vec![number & mask; *times]).collect();
            let mut bytes = Vec::new();
            encode(&numbers, width, &mut bytes);
            prop_assert_eq!(decode(&bytes, width, numbers.len()), numbers);
        }
    }

    #[test]
    fn runs_are_short() {
        let mut bytes = Vec::new();
        encode(&[1; 100_000], 1, &mut bytes);
        assert_eq!(bytes, [0xc0, 0x9a, 0x0c, 1]);
        assert_eq!([0, 1, 2, 255, 256].map(bit_width), [1, 1, 2, 8, 9]);
    }
}
