//! Encryption with a server's public RSA key: what MySQL's login asks for over TCP, and no more.
//!
//! Only the public operation is here, `m^e mod n` on padded bytes (OAEP with SHA-1). It handles no secret but the
//! message, once per login, so simple arithmetic is good enough: 32-bit limbs, the lowest first, schoolbook
//! multiplication, reduction bit by bit.

use sha1::{Digest, Sha1};

/// The length of a SHA-1 hash.
const HASH: usize = 20;

/// A public key: modulus and exponent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PublicKey {
    modulus: Vec<u8>,
    exponent: Vec<u8>,
}

impl PublicKey {
    /// Reads `-----BEGIN PUBLIC KEY-----`.
    pub(super) fn from_pem(pem: &[u8]) -> Option<PublicKey> {
        let text = std::str::from_utf8(pem).ok()?;
        let body: String = text.lines().map(str::trim).filter(|line| !line.starts_with('-')).collect();
        let der = base64(body.trim_end_matches(['=', '\0']))?;
        // SEQUENCE { SEQUENCE { algorithm }, BIT STRING { SEQUENCE { INTEGER modulus, INTEGER exponent } } }
        let (whole, _) = element(&der, 0x30)?;
        let (_algorithm, rest) = element(whole, 0x30)?;
        let (bits, _) = element(rest, 0x03)?;
        let (key, _) = element(bits.strip_prefix(&[0])?, 0x30)?;
        let (modulus, rest) = element(key, 0x02)?;
        let (exponent, _) = element(rest, 0x02)?;
        let modulus: Vec<u8> = modulus.iter().copied().skip_while(|byte| *byte == 0).collect();
        let usable = (64..=1024).contains(&modulus.len()) && !exponent.is_empty() && exponent.len() <= 8;
        usable.then(|| PublicKey { modulus, exponent: exponent.to_vec() })
    }

    /// The encrypted message; `None` if it is too long for the key.
    pub(super) fn encrypt(&self, message: &[u8], seed: [u8; HASH]) -> Option<Vec<u8>> {
        Some(self.power(&limbs(&self.pad(message, seed)?)))
    }

    /// `base^exponent mod modulus`, as long as the modulus.
    fn power(&self, base: &[u32]) -> Vec<u8> {
        let modulus = limbs(&self.modulus);
        let mut power = vec![1];
        for bit in self.exponent.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)) {
            power = multiply(&power, &power, &modulus);
            if bit == 1 {
                power = multiply(&power, base, &modulus);
            }
        }
        let mut bytes: Vec<u8> = power.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        bytes.resize(self.modulus.len(), 0);
        bytes.reverse();
        bytes
    }

    /// OAEP (RFC 8017, 7.1.1) without a label: 0, the masked seed, the masked block of hash, zeros, 1 and message.
    fn pad(&self, message: &[u8], seed: [u8; HASH]) -> Option<Vec<u8>> {
        let zeros = self.modulus.len().checked_sub(message.len() + 2 * HASH + 2)?;
        let mut block = Sha1::digest([]).to_vec();
        block.resize(HASH + zeros, 0);
        block.push(1);
        block.extend_from_slice(message);
        let masked_block = mask(&block, &seed);
        let masked_seed = mask(&seed, &masked_block);
        Some([&[0], &masked_seed[..], &masked_block[..]].concat())
    }
}

/// The bytes xor the mask that a seed generates (MGF1).
fn mask(bytes: &[u8], seed: &[u8]) -> Vec<u8> {
    let stream = (0u32..).flat_map(|count| Sha1::new().chain_update(seed).chain_update(count.to_be_bytes()).finalize());
    bytes.iter().zip(stream).map(|(byte, mask)| byte ^ mask).collect()
}

/// Big-endian bytes as limbs.
fn limbs(bytes: &[u8]) -> Vec<u32> {
    let limb = |chunk: &[u8]| chunk.iter().fold(0, |limb, byte| limb << 8 | u32::from(*byte));
    bytes.rchunks(4).map(limb).collect()
}

/// The product of two numbers, modulo a third. Result and arguments have no more limbs than the modulus.
fn multiply(left: &[u32], right: &[u32], modulus: &[u32]) -> Vec<u32> {
    let mut product = vec![0u32; left.len() + right.len()];
    for (at, a) in left.iter().enumerate() {
        let mut carry = 0u64;
        for (offset, b) in right.iter().enumerate() {
            let sum = u64::from(product[at + offset]) + u64::from(*a) * u64::from(*b) + carry;
            product[at + offset] = sum as u32;
            carry = sum >> 32;
        }
        product[at + right.len()] = carry as u32;
    }
    remainder(&product, modulus)
}

/// Shifts the number in from the top, bit by bit, and subtracts the modulus whenever it fits.
fn remainder(number: &[u32], modulus: &[u32]) -> Vec<u32> {
    // One limb more than the modulus, for the bit that is shifted out.
    let mut rest = vec![0u32; modulus.len() + 1];
    for bit in number.iter().rev().flat_map(|limb| (0..32).rev().map(move |bit| limb >> bit & 1)) {
        let mut carry = bit;
        for limb in &mut rest {
            (*limb, carry) = (*limb << 1 | carry, *limb >> 31);
        }
        subtract_if_fits(&mut rest, modulus);
    }
    rest.truncate(modulus.len());
    rest
}

fn subtract_if_fits(rest: &mut [u32], modulus: &[u32]) {
    let padded = || modulus.iter().copied().chain([0]);
    if rest.iter().rev().copied().lt(padded().rev()) {
        return;
    }
    let mut borrow = false;
    for (limb, part) in rest.iter_mut().zip(padded()) {
        let (difference, first) = limb.overflowing_sub(part);
        let (difference, second) = difference.overflowing_sub(u32::from(borrow));
        (*limb, borrow) = (difference, first || second);
    }
}

/// One element of DER with that tag: its content and what comes after it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let rest = bytes.strip_prefix(&[tag])?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (digits, rest) =
            rest.split_at_checked(usize::from(first & 0x7f)).filter(|(digits, _)| digits.len() <= 4)?;
        (digits.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
    };
    rest.split_at_checked(length)
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits = text.bytes().map(digit).collect::<Option<Vec<u8>>>()?;
    let bytes = digits.chunks(4).flat_map(|chunk| {
        let bits = chunk.iter().fold(0u32, |bits, digit| bits << 6 | u32::from(*digit)) << (6 * (4 - chunk.len()));
        let [_, a, b, c] = bits.to_be_bytes();
        [a, b, c].into_iter().take(chunk.len() - 1)
    });
    Some(bytes.collect())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A key of 512 bits, made for these tests: short, so that the other half is quick, too.
    pub(in super::super) const PEM: &str = "\
-----BEGIN PUBLIC KEY-----\n\
MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAJ2Q2BLSCGFnE+U0ySnqRfNsqJH8oH6U\n\
/9rbwoCR3w/5jebKZnpuxSw0mQkbIY1NP5Mc5McvAmFCY2OtuVjrCCcCAwEAAQ==\n\
-----END PUBLIC KEY-----\n";

    #[test]
    fn a_message_is_encrypted_as_others_do_it() {
        // Computed with Python's integers from the same key, message and seed; OpenSSL decrypts it.
        let key = PublicKey::from_pem(PEM.as_bytes()).unwrap();
        let found = key.encrypt(b"secret\0", [7; 20]).unwrap();
        let hex: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "2fa588d8de5bcc1748125e45b700c7d4d4579f86ea4864f187311f331fba81da\
             25f56e7b09336debed85655cca825b05557b1c6533834f99d9003c881ccc06f7"
        );
    }

    /// The other half of the key.
    const PRIVATE_EXPONENT: &str = "32e5c106835635b0885ab7ec6b5fc3ecd822b3d5b93a6a83237d6d9cfe81e1b4\
             a76bdf968aa86886621f767a7392e1cb6e49b83f035613c7a2917373cb0146d1";

    /// What the owner of the key reads.
    pub(in super::super) fn decrypt(encrypted: &[u8]) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&PRIVATE_EXPONENT[at..at + 2], 16).unwrap();
        let exponent = (0..PRIVATE_EXPONENT.len()).step_by(2).map(digit).collect();
        let key = PublicKey { exponent, ..PublicKey::from_pem(PEM.as_bytes()).unwrap() };
        let padded = key.power(&limbs(encrypted));
        let (masked_seed, masked_block) = padded[1..].split_at(HASH);
        let block = mask(masked_block, &mask(masked_seed, masked_block));
        let end = block[HASH..].iter().position(|byte| *byte == 1).unwrap();
        block[HASH + end + 1..].to_vec()
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        let key = PublicKey::from_pem(PEM.as_bytes()).unwrap();
        assert_eq!(key.encrypt(&vec![b'x'; key.modulus.len()], [7; 20]), None);
        for bad in ["", "-----BEGIN PUBLIC KEY-----", "????", &PEM[..PEM.len() / 2]] {
            assert_eq!(PublicKey::from_pem(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn remainders_are_those_of_arithmetic() {
        let check = |number: u64, modulus: u32| {
            let found = remainder(&[number as u32, (number >> 32) as u32], &[modulus]);
            assert_eq!(found, [(number % u64::from(modulus)) as u32], "{number} mod {modulus}");
        };
        check(0, 7);
        check(6, 7);
        check(7, 7);
        check(u64::MAX, 0xffff_fffb);
        check(u64::MAX - 1, 3);
        assert_eq!(multiply(&[5, 6], &[7], &[0, 0, 1]), [35, 42, 0]);
    }
}
