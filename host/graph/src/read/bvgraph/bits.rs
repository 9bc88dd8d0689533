//! Instantaneous codes in a stream of bits, the most significant bit of each byte first.
//!
//! The codes are those of the format: unary; γ and δ of Elias, *Universal codeword sets and representations
//! of the integers*, 1975; ζ of Boldi and Vigna, *Codes for the World Wide Web*, 2005. All begin at 0. Unlike
//! the readers of `dsi-bitstream`, which trust a stream, this one says what is no code.

/// Fault of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The stream ends within a code.
    End,
    /// A number doesn't fit into 64 bits.
    Large,
}

/// A code of numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    Unary,
    Gamma,
    Delta,
    /// ζ with its parameter, 1 to 16.
    Zeta(u32),
}

/// A stream and how far it was read.
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// Bits that were read.
    at: u64,
}

impl<'a> Bits<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Bits { bytes, at: 0 }
    }

    /// Bits that were read.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// At least the next 57 bits, the first one at the top; zeros follow the end.
    #[inline]
    fn ahead(&self) -> u64 {
        let byte = (self.at / 8) as usize;
        let word = match self.bytes.get(byte..byte + 8) {
            Some(word) => u64::from_be_bytes(word.try_into().expect("8 bytes")),
            None => {
                let rest = self.bytes.get(byte..).unwrap_or_default();
                let mut word = [0; 8];
                word[..rest.len()].copy_from_slice(rest);
                u64::from_be_bytes(word)
            }
        };
        word << (self.at % 8)
    }

    #[inline]
    fn skip(&mut self, bits: u32) -> Result<(), Fault> {
        self.at += u64::from(bits);
        if self.at > self.bytes.len() as u64 * 8 { Err(Fault::End) } else { Ok(()) }
    }

    /// A number of this many bits, up to 63.
    #[inline]
    fn number(&mut self, bits: u32) -> Result<u64, Fault> {
        const MOST: u32 = 57;
        if bits > MOST {
            let upper = self.number(bits - 32)?;
            return Ok(upper << 32 | self.number(32)?);
        }
        // Two steps, since a shift by 64 bits is undefined.
        let number = self.ahead() >> 1 >> (63 - bits);
        self.skip(bits)?;
        Ok(number)
    }

    /// Zeros, then a one.
    #[inline]
    fn unary(&mut self) -> Result<u64, Fault> {
        const SURE: u32 = 57;
        let mut zeros = 0;
        loop {
            let here = self.ahead().leading_zeros();
            if here < SURE {
                self.skip(here + 1)?;
                return Ok(zeros + u64::from(here));
            }
            self.skip(SURE)?;
            zeros += u64::from(SURE);
        }
    }

    /// As [`Bits::unary`], of the number of bits that follow.
    #[inline]
    fn length(&mut self, each: u32, more: u32) -> Result<u32, Fault> {
        let length = self.unary()?.saturating_mul(u64::from(each)).saturating_add(u64::from(more));
        if length < 64 { Ok(length as u32) } else { Err(Fault::Large) }
    }

    #[inline]
    fn gamma(&mut self) -> Result<u64, Fault> {
        let length = self.length(1, 0)?;
        Ok((1 << length | self.number(length)?) - 1)
    }

    fn delta(&mut self) -> Result<u64, Fault> {
        let length = self.gamma()?;
        if length > 63 {
            return Err(Fault::Large);
        }
        Ok((1 << length | self.number(length as u32)?) - 1)
    }

    #[inline]
    fn zeta(&mut self, k: u32) -> Result<u64, Fault> {
        // Of a number from 2^(hk) to 2^((h+1)k) - 1 there are h in unary, then its distance from 2^(hk) in
        // the minimal binary code: the first 2^(hk) distances take a bit less.
        let length = self.length(k, k - 1)?;
        let least = 1u64 << (length - (k - 1));
        let number = self.number(length)?;
        if number < least {
            return Ok(number + least - 1);
        }
        let last = self.number(1)?;
        Ok((number << 1 | last) - 1)
    }

    /// The next number, below 2^64 - 1.
    #[inline]
    pub fn read(&mut self, code: Code) -> Result<u64, Fault> {
        match code {
            Code::Unary => self.unary(),
            Code::Gamma => self.gamma(),
            Code::Delta => self.delta(),
            Code::Zeta(k) => self.zeta(k),
        }
    }

    /// Whether nothing but zeros is left, and fewer than a word of them.
    pub fn is_padding(&self) -> bool {
        let left = self.bytes.len() as u64 * 8 - self.at;
        left < 64 && (left <= 57 || self.bytes[self.bytes.len() - 1] == 0) && self.ahead() >> 7 == 0
    }
}
