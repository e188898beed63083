//! Integers of variable length: seven bits a byte, the last byte without the high bit; signed ones zig-zag.

/// Appends a number.
pub fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a signed number.
pub fn push_signed(bytes: &mut Vec<u8>, number: i64) {
    push(bytes, (number << 1 ^ number >> 63) as u64);
}

/// Reads the number at a position and moves the position behind it.
pub fn read(bytes: &[u8], at: &mut usize) -> Result<u64, &'static str> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at).ok_or("there is nothing")?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err("a number is too long")
}

/// Reads the signed number at a position and moves the position behind it.
pub fn read_signed(bytes: &[u8], at: &mut usize) -> Result<i64, &'static str> {
    read(bytes, at).map(|number| (number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, -1, 63, 64, -64, -65, i64::from(u32::MAX), i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            push_signed(&mut bytes, number);
            push(&mut bytes, number as u64);
            let mut at = 0;
            assert_eq!(read_signed(&bytes, &mut at), Ok(number));
            assert_eq!(read(&bytes, &mut at), Ok(number as u64));
            assert_eq!((at, read(&bytes, &mut at)), (bytes.len(), Err("there is nothing")));
        }
        assert_eq!(read(&[0xff; 11], &mut 0), Err("a number is too long"));
    }
}
