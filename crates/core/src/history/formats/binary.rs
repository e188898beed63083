//! Our own format: small, and read in a second where text takes ten.
//!
//! ```text
//!   "TXLOOMH" version │ format │ keys │ texts │ spines │ other lists │ transactions with their operations
//! ```
//!
//! Everything is a number of variable length (seven bits a byte, the last one without the high bit), signed ones zig-zag;
//! values of a list are differences to the one before, moments to the moment before. Lists are stored as a history stores
//! them: the longest one of each key once, and reads as lengths.

use super::super::{History, KeyId, ListRead, Op, Scalar, Status, Transaction};
use super::{Decoder, FORMATS, Format, Read, ReadError};
use crate::varint;

/// What a file begins with; the last byte is the version.
pub(super) const MAGIC: &[u8] = b"TXLOOMH\x01";

/// The same without the version.
pub(super) const NAME: &[u8] = b"TXLOOMH";

/// The number of things that memory is reserved for at once: what a damaged file says of its length is not believed.
const RESERVED_MAX: usize = 1 << 16;

/// Reads it, at its end.
#[derive(Debug, Default)]
pub(super) struct Whole {
    read: Option<Read>,
}

impl Decoder for Whole {
    fn decode(&mut self, text: &[u8], _line: usize, is_last: bool) -> Result<usize, ReadError> {
        if !is_last {
            return Ok(0);
        }
        if !text.starts_with(MAGIC) {
            return Err(ReadError::new(0, "this is no history in our binary form"));
        }
        let mut bytes = Bytes { text, at: MAGIC.len() };
        let read = bytes.whole().map_err(|what| {
            ReadError::new(0, format!("{what} at byte {}; the file is damaged or was cut off", bytes.at))
        })?;
        self.read = Some(read);
        Ok(text.len())
    }

    fn finish(self: Box<Self>) -> Result<Read, ReadError> {
        self.read.ok_or_else(|| ReadError::new(0, "the file was cut off"))
    }
}

struct Bytes<'a> {
    text: &'a [u8],
    at: usize,
}

type Number<T> = Result<T, &'static str>;

impl Bytes<'_> {
    fn number(&mut self) -> Number<u64> {
        varint::read(self.text, &mut self.at)
    }

    fn signed(&mut self) -> Number<i64> {
        varint::read_signed(self.text, &mut self.at)
    }

    fn small(&mut self) -> Number<u32> {
        u32::try_from(self.number()?).map_err(|_| "a number is too large")
    }

    /// How many things follow; each takes at least a byte.
    fn count(&mut self) -> Number<usize> {
        let count = self.number()?;
        let rest = self.text.len() - self.at;
        usize::try_from(count).ok().filter(|count| *count <= rest).ok_or("a length is too large")
    }

    fn string(&mut self) -> Number<String> {
        let length = self.count()?;
        let bytes = self.text.get(self.at..).and_then(|rest| rest.get(..length)).ok_or("a length is too large")?;
        self.at += length;
        String::from_utf8(bytes.to_vec()).map_err(|_| "a text is not UTF-8")
    }

    fn list(&mut self) -> Number<Vec<Scalar>> {
        let mut last = 0i64;
        (0..self.count()?)
            .map(|_| {
                last = last.wrapping_add(self.signed()?);
                Ok(Scalar(last))
            })
            .collect()
    }

    fn many<T>(&mut self, mut one: impl FnMut(&mut Self) -> Number<T>) -> Number<Vec<T>> {
        let count = self.count()?;
        let mut all = Vec::with_capacity(count.min(RESERVED_MAX));
        for _ in 0..count {
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn whole(&mut self) -> Number<Read> {
        let format = FORMATS.get(self.small()? as usize).ok_or("there is an unknown format")?.format;
        let mut history = History { keys: self.many(Self::string)?, ..History::default() };
        history.texts = self.many(Self::string)?;
        history.spines = self.many(Self::list)?;
        history.others = self.many(Self::list)?;
        if history.spines.len() != history.keys.len() {
            return Err("the numbers of keys and of lists differ");
        }
        let count = self.count()?;
        history.transactions.reserve(count.min(RESERVED_MAX));
        let mut last = Last::default();
        for _ in 0..count {
            self.transaction(&mut history, &mut last)?;
        }
        if self.at != self.text.len() {
            return Err("there is more than a history");
        }
        Ok(Read { history, format })
    }

    fn transaction(&mut self, history: &mut History, last: &mut Last) -> Number<()> {
        let head = self.small()?;
        let status = match head & 3 {
            0 => Status::Committed,
            1 => Status::Aborted,
            2 => Status::Unknown,
            _ => return Err("there is an unknown status"),
        };
        let session = self.small()?;
        let began = if head & 4 > 0 { Some(self.moment(last)?) } else { None };
        let ended = if head & 8 > 0 { Some(self.moment(last)?) } else { None };
        last.line = last.line.wrapping_add(self.signed()?);
        let line = u32::try_from(last.line).map_err(|_| "a line has no number")?;
        let from = history.ops.len() as u32;
        for _ in 0..self.count()? {
            let op = self.op(history)?;
            history.ops.push(op);
        }
        let ops = (from, history.ops.len() as u32);
        history.transactions.push(Transaction { session, status, began, ended, line, ops });
        Ok(())
    }

    fn moment(&mut self, last: &mut Last) -> Number<u64> {
        last.moment = last.moment.wrapping_add_signed(self.signed()?);
        Ok(last.moment)
    }

    fn op(&mut self, history: &History) -> Number<Op> {
        let head = self.number()?;
        let key = u32::try_from(head >> 3).map_err(|_| "there is an unknown key")?;
        let spine = history.spines.get(key as usize).ok_or("there is an unknown key")?;
        let key = KeyId(key);
        Ok(match head & 7 {
            WRITE => Op::Write(key, Scalar(self.signed()?)),
            APPEND => Op::Append(key, Scalar(self.signed()?)),
            READ => Op::Read(key, Some(Scalar(self.signed()?))),
            READ_NOTHING => Op::Read(key, None),
            READ_PREFIX => {
                let length = self.small()?;
                if length as usize > spine.len() {
                    return Err("a list is longer than the longest one");
                }
                Op::ReadList(key, ListRead::Prefix(length))
            }
            READ_OTHER => {
                let at = self.small()?;
                if at as usize >= history.others.len() {
                    return Err("there is an unknown list");
                }
                Op::ReadList(key, ListRead::Other(at))
            }
            UNREAD => Op::Unread(key),
            _ => return Err("there is an unknown operation"),
        })
    }
}

#[derive(Default)]
struct Last {
    moment: u64,
    line: i64,
}

const WRITE: u64 = 0;
const APPEND: u64 = 1;
const READ: u64 = 2;
const READ_NOTHING: u64 = 3;
const READ_PREFIX: u64 = 4;
const READ_OTHER: u64 = 5;
const UNREAD: u64 = 6;

/// Writes it. `format` is the one that the history was read from: it says what levels mean in it.
pub fn write(history: &History, format: Format) -> Vec<u8> {
    let mut out = Out { bytes: MAGIC.to_vec() };
    out.number(FORMATS.iter().position(|row| row.format == format).unwrap_or(0) as u64);
    for texts in [&history.keys, &history.texts] {
        out.number(texts.len() as u64);
        texts.iter().for_each(|text| out.string(text));
    }
    for lists in [&history.spines, &history.others] {
        out.number(lists.len() as u64);
        lists.iter().for_each(|list| out.list(list));
    }
    out.number(history.transactions.len() as u64);
    let mut last = Last::default();
    for transaction in &history.transactions {
        out.transaction(history, transaction, &mut last);
    }
    out.bytes
}

struct Out {
    bytes: Vec<u8>,
}

impl Out {
    fn number(&mut self, number: u64) {
        varint::push(&mut self.bytes, number);
    }

    fn signed(&mut self, number: i64) {
        varint::push_signed(&mut self.bytes, number);
    }

    fn string(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn list(&mut self, list: &[Scalar]) {
        self.number(list.len() as u64);
        let mut last = 0i64;
        for value in list {
            self.signed(value.0.wrapping_sub(std::mem::replace(&mut last, value.0)));
        }
    }

    fn transaction(&mut self, history: &History, transaction: &Transaction, last: &mut Last) {
        let status = match transaction.status {
            Status::Committed => 0,
            Status::Aborted => 1,
            Status::Unknown => 2,
        };
        let Transaction { began, ended, session, line, .. } = *transaction;
        self.number(status | u64::from(began.is_some()) << 2 | u64::from(ended.is_some()) << 3);
        self.number(u64::from(session));
        for moment in [began, ended].into_iter().flatten() {
            self.signed(moment.wrapping_sub(std::mem::replace(&mut last.moment, moment)) as i64);
        }
        self.signed(i64::from(line).wrapping_sub(std::mem::replace(&mut last.line, i64::from(line))));
        let ops = &history.ops[transaction.op_range()];
        self.number(ops.len() as u64);
        ops.iter().for_each(|op| self.op(op));
    }

    fn op(&mut self, op: &Op) {
        let key = u64::from(op.key().0) << 3;
        let with = |kind: u64| key | kind;
        match op {
            Op::Write(_, value) => self.pair(with(WRITE), value.0),
            Op::Append(_, value) => self.pair(with(APPEND), value.0),
            Op::Read(_, Some(value)) => self.pair(with(READ), value.0),
            Op::Read(_, None) => self.number(with(READ_NOTHING)),
            Op::ReadList(_, ListRead::Prefix(length)) => {
                self.number(with(READ_PREFIX));
                self.number(u64::from(*length));
            }
            Op::ReadList(_, ListRead::Other(at)) => {
                self.number(with(READ_OTHER));
                self.number(u64::from(*at));
            }
            Op::Unread(_) => self.number(with(UNREAD)),
        }
    }

    fn pair(&mut self, head: u64, value: i64) {
        self.number(head);
        self.signed(value);
    }
}
