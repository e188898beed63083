//! Elle's and Jepsen's histories: operations as maps, in EDN or JSON.
//!
//! ```text
//!   {:index 0 :type :invoke :process 0 :f :txn :value [[:append x 1] [:r y nil]]}      began here
//!   {:index 3 :type :ok     :process 0 :f :txn :value [[:append x 1] [:r y [2 5]]]}    ended here, and saw this
//! ```
//!
//! A completion (`ok`, `fail`, `info`) ends what its process invoked last. `fail` was rolled back. Of `info`, and of
//! what has no completion, nobody knows; in Jepsen such a process never comes back, and if one does here, it counts as
//! a new one. Operations of other than numbered processes (`:nemesis`) are none of a transaction. Operations without a
//! process tell nothing of sessions; each is one of its own.
//!
//! Which keys are lists and which are registers, the operations tell: `append` and reads of vectors, or `w`.
//!
//! # How it is fast
//!
//! A map is first walked over without looking at its value, so that the order of its keys does not matter and nothing
//! has happened yet when the text ends in the middle. Then the value is read, its lists into one buffer that is
//! compared with what the key's longest list already says. What was invoked is kept as text: it is read only if the
//! completion does not say it all.

use std::collections::HashMap;
use std::ops::Range;

use super::super::build::{Builder, Head};
use super::super::{History, KeyId, Op, Scalar, Status};
use super::scan::{Scan, Stop, Syntax, Token, show};
use super::settle;
use super::{Decoder, Format, Read, ReadError};

/// Sessions from here on have no process that could be named.
pub const UNNAMED_SESSIONS: u32 = 1 << 31;

/// Reads operations.
pub(super) struct Ops {
    format: Format,
    syntax: Syntax,
    builder: Builder,
    processes: HashMap<Option<i64>, Process>,
    next_unnamed: u32,
    position: u64,
    /// Whether everything stands in one vector, and whether that is over.
    vector: Vector,
    /// Where the vector begins, and where what was read last ends.
    lines: (usize, usize),
    list: Vec<Scalar>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vector {
    None,
    Open,
    Closed,
}

#[derive(Debug, Default)]
struct Process {
    session: Option<u32>,
    invoked: Option<Invoked>,
    /// Text to use again.
    spare: Vec<u8>,
}

#[derive(Debug)]
struct Invoked {
    began: u64,
    line: usize,
    value: Vec<u8>,
}

/// An operation map, by its parts.
#[derive(Debug, Default)]
struct Map {
    index: Range<usize>,
    kind: Range<usize>,
    process: Range<usize>,
    value: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Invoke,
    Ok,
    Fail,
    Info,
}

impl Ops {
    pub(super) fn new(format: Format) -> Ops {
        Ops {
            format,
            syntax: if format == Format::Edn { Syntax::Edn } else { Syntax::Json },
            builder: Builder::default(),
            processes: HashMap::new(),
            next_unnamed: UNNAMED_SESSIONS,
            position: 0,
            vector: Vector::None,
            lines: (1, 1),
            list: Vec::new(),
        }
    }

    /// The next operation; `false` if there is none.
    fn step(&mut self, scan: &mut Scan<'_>, line: usize) -> Result<bool, Stop> {
        let from = scan.at;
        scan.blanks()?;
        match scan.peek() {
            None => return Ok(false),
            Some(b'[' | b'(') if self.vector == Vector::None && self.position == 0 => {
                self.vector = Vector::Open;
                self.lines.0 = line + newlines(&scan.text[from..scan.at]);
                scan.at += 1;
                return Ok(true);
            }
            Some(b']' | b')') if self.vector == Vector::Open => {
                self.vector = Vector::Closed;
                scan.at += 1;
                return Ok(true);
            }
            Some(b'{' | b'#') if self.vector != Vector::Closed => {}
            Some(_) if self.vector == Vector::Closed => {
                return scan.wrong(format!("expected nothing behind the end of the vector, found `{}`", scan.found()));
            }
            Some(_) => return scan.wrong(format!("expected an operation map, found `{}`", scan.found())),
        }
        let line = line + newlines(&scan.text[from..scan.at]);
        let start = scan.at;
        let map = map(scan)?;
        self.take(scan.text, &map, start, line)?;
        Ok(true)
    }

    fn take(&mut self, text: &[u8], map: &Map, start: usize, line: usize) -> Result<(), Stop> {
        let index = Scan::new(&text[map.index.clone()], 0, self.syntax).number();
        let position = index.and_then(|index| u64::try_from(index).ok()).unwrap_or(self.position);
        self.position += 1;
        let Some(process) = process(&text[map.process.clone()]) else { return Ok(()) };
        let kind = match name(&text[map.kind.clone()]) {
            b"invoke" => Type::Invoke,
            b"ok" => Type::Ok,
            b"fail" => Type::Fail,
            b"info" => Type::Info,
            b"" => {
                return Err(Stop::Wrong(start, "this operation has no type; expected :type or \"type\"".to_string()));
            }
            other => {
                let message = format!("unknown type `{}`; expected invoke, ok, fail or info", show(other));
                return Err(Stop::Wrong(map.kind.start, message));
            }
        };
        let value = &text[map.value.clone()];
        if kind == Type::Invoke {
            self.invoke(process, position, line, value)
        } else {
            self.complete(process, position, kind, line, (value, map.value.start))
        }
    }

    fn invoke(&mut self, process: Option<i64>, began: u64, line: usize, value: &[u8]) -> Result<(), Stop> {
        let entry = self.processes.entry(process).or_default();
        let mut text = std::mem::take(&mut entry.spare);
        text.clear();
        text.extend_from_slice(value);
        let before = entry.invoked.replace(Invoked { began, line, value: text });
        match before {
            Some(invoked) => self.lost(process, &invoked, None, line),
            None => Ok(()),
        }
    }

    fn complete(
        &mut self,
        process: Option<i64>,
        position: u64,
        kind: Type,
        line: usize,
        (value, at): (&[u8], usize),
    ) -> Result<(), Stop> {
        let invoked = self.processes.entry(process).or_default().invoked.take();
        let began = invoked.as_ref().map(|invoked| invoked.began);
        let says = matches!(value.first(), Some(b'[' | b'('));
        match kind {
            Type::Info => {
                let Some(invoked) = &invoked else {
                    let alone = Invoked { began: position, line, value: value.to_vec() };
                    return if says { self.lost(process, &alone, None, line) } else { Ok(()) };
                };
                let value = Some((value, at)).filter(|_| says);
                self.lost(process, invoked, value, line)?;
            }
            Type::Fail => {
                let session = self.session(process);
                let head = Head { session, status: Status::Aborted, began, ended: Some(position), line: line as u32 };
                self.builder.begin(head);
                match &invoked {
                    Some(invoked) => self.ops(&invoked.value, false).map_err(|stop| place(stop, at))?,
                    None if says => self.ops(value, false).map_err(|stop| place(stop, at))?,
                    None => {}
                }
            }
            Type::Ok | Type::Invoke => {
                let session = self.session(process);
                let head = Head { session, status: Status::Committed, began, ended: Some(position), line: line as u32 };
                self.builder.begin(head);
                self.ops(value, true).map_err(|stop| place(stop, at))?;
            }
        }
        if let (Some(invoked), Some(entry)) = (invoked, self.processes.get_mut(&process)) {
            entry.spare = invoked.value;
        }
        Ok(())
    }

    /// A transaction of which nobody knows how it ended. Its process is over.
    fn lost(
        &mut self,
        process: Option<i64>,
        invoked: &Invoked,
        said: Option<(&[u8], usize)>,
        line: usize,
    ) -> Result<(), Stop> {
        let session = self.session(process);
        let began = Some(invoked.began);
        let of = if said.is_some() { line } else { invoked.line };
        self.builder.begin(Head { session, status: Status::Unknown, began, ended: None, line: of as u32 });
        if let Some(process) = self.processes.get_mut(&process) {
            process.session = Some(self.next_unnamed);
            self.next_unnamed += 1;
        }
        match said {
            Some((value, at)) => self.ops(value, false).map_err(|stop| place(stop, at)),
            None => self.ops(&invoked.value, false),
        }
    }

    fn session(&mut self, process: Option<i64>) -> u32 {
        let number = process.and_then(|process| u32::try_from(process).ok()).filter(|at| *at < UNNAMED_SESSIONS);
        let known = process.and_then(|_| self.processes.get(&process)).and_then(|process| process.session);
        known.or(number).unwrap_or_else(|| {
            let session = self.next_unnamed;
            self.next_unnamed += 1;
            if let (Some(_), Some(entry)) = (process, self.processes.get_mut(&process)) {
                entry.session = Some(session);
            }
            session
        })
    }

    /// Adds the operations of a value to the transaction that was begun last.
    fn ops(&mut self, value: &[u8], is_complete: bool) -> Result<(), Stop> {
        let mut scan = Scan::new(value, 0, self.syntax);
        match scan.token() {
            Ok(Token::Open) => {}
            Ok(_) | Err(_) => {
                let message = format!("expected a value like [[:append x 1] [:r y [2]]], found `{}`", show(value));
                return Err(Stop::Wrong(0, message));
            }
        }
        loop {
            scan.blanks()?;
            let from = scan.at;
            match scan.token()? {
                Token::Open => self.op(&mut scan, is_complete)?,
                Token::Close => return Ok(()),
                _ => {
                    let message = format!("expected an operation like [:append x 1], found `{}`", show(&value[from..]));
                    return Err(Stop::Wrong(from, message));
                }
            }
        }
    }

    /// `:append x 1]`, behind its opening bracket.
    fn op(&mut self, scan: &mut Scan<'_>, is_complete: bool) -> Result<(), Stop> {
        let from = scan.at;
        let what = match scan.token()? {
            Token::Keyword(what) | Token::String(what) | Token::Atom(what) => what,
            _ => b"",
        };
        let text = scan.text;
        let here =
            move |message: &str| Err(Stop::Wrong(from, format!("{message}, found `{}`", show(&text[from - 1..]))));
        let key = self.key(scan)?;
        match what {
            b"append" | b"w" => {
                let token = scan.token()?;
                let Some(value) = self.scalar(token) else { return here("expected a value to write") };
                self.builder.push(if what == b"w" { Op::Write(key, value) } else { Op::Append(key, value) });
            }
            b"r" => {
                let token = scan.token()?;
                match token {
                    Token::Open => return self.list(scan, key),
                    Token::Close => {
                        self.builder.push(nothing(key, is_complete));
                        return Ok(());
                    }
                    Token::Nil => self.builder.push(nothing(key, is_complete)),
                    _ => {
                        let value = self.scalar(token);
                        self.builder.push(Op::Read(key, value));
                    }
                }
            }
            _ => return here("unknown operation: expected append, w or r"),
        }
        if scan.token()? == Token::Close { Ok(()) } else { here("expected an operation of three parts") }
    }

    /// The elements of a list, behind its opening bracket, and the end of the operation.
    fn list(&mut self, scan: &mut Scan<'_>, key: KeyId) -> Result<(), Stop> {
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        loop {
            match scan.token()? {
                Token::Number(number) if number >= LEAST => list.push(Scalar(number)),
                Token::Close => break,
                token => match self.scalar(token) {
                    Some(value) => list.push(value),
                    None => return scan.wrong("expected an element of a list: a number or a text"),
                },
            }
        }
        self.builder.push_list(key, &list);
        self.list = list;
        if scan.token()? == Token::Close { Ok(()) } else { scan.wrong("expected the end of the operation") }
    }

    fn key(&mut self, scan: &mut Scan<'_>) -> Result<KeyId, Stop> {
        scan.blanks()?;
        let from = scan.at;
        let name = match scan.token()? {
            Token::Keyword(name) | Token::Atom(name) => name,
            // A text that could be taken for something else keeps its quotes.
            Token::String(name) if self.syntax == Syntax::Json && !is_number(name) => name,
            Token::String(_) | Token::Number(_) => &scan.text[from..scan.at],
            Token::Open | Token::Close | Token::Nil => {
                return Err(Stop::Wrong(from, format!("expected a key, found `{}`", show(&scan.text[from..]))));
            }
        };
        Ok(self.builder.key(&String::from_utf8_lossy(name)))
    }

    /// A value that can be written; `None` if it is a bracket or nothing.
    fn scalar(&mut self, token: Token<'_>) -> Option<Scalar> {
        match token {
            Token::Number(number) if number >= LEAST => Some(Scalar(number)),
            Token::Number(number) => Some(self.builder.text(&number.to_string())),
            Token::String(text) | Token::Keyword(text) | Token::Atom(text) => {
                Some(self.builder.text(&String::from_utf8_lossy(text)))
            }
            Token::Open | Token::Close | Token::Nil => None,
        }
    }
}

/// Below this, numbers stand for texts.
const LEAST: i64 = i64::MIN + (1 << 32);

fn nothing(key: KeyId, is_complete: bool) -> Op {
    if is_complete { Op::Read(key, None) } else { Op::Unread(key) }
}

fn is_number(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-')
}

/// An error in a part of a text, as one in the whole text.
fn place(stop: Stop, at: usize) -> Stop {
    match stop {
        Stop::Wrong(within, message) => Stop::Wrong(at + within, message),
        // The brackets were counted: a part cannot end too early, unless they are of different kinds.
        Stop::End => Stop::Wrong(at, "the brackets of this value do not match".to_string()),
    }
}

/// Walks over a map (with or without a tag), and finds its parts.
fn map(scan: &mut Scan<'_>) -> Result<Map, Stop> {
    if scan.peek() == Some(b'#') {
        scan.skip_atom();
        scan.blanks()?;
    }
    match scan.peek() {
        None => return Err(Stop::End),
        Some(b'{') => scan.at += 1,
        Some(_) => return scan.wrong(format!("expected an operation map, found `{}`", scan.found())),
    }
    let mut map = Map::default();
    loop {
        scan.blanks()?;
        match scan.peek() {
            None => return Err(Stop::End),
            Some(b'}') => break,
            Some(_) => {}
        }
        let key = name(scan.value()?);
        let value = scan.value()?;
        let range = scan.at - value.len()..scan.at;
        match key {
            b"type" => map.kind = range,
            b"index" => map.index = range,
            b"process" => map.process = range,
            b"value" => map.value = range,
            _ => {}
        }
    }
    scan.at += 1;
    Ok(map)
}

/// A keyword or string without its colon or quotes.
fn name(text: &[u8]) -> &[u8] {
    match text {
        [b':', name @ ..] | [b'"', name @ .., b'"'] => name,
        name => name,
    }
}

/// A process: a number, or none at all. `None` if it is something else, which then is no client.
fn process(text: &[u8]) -> Option<Option<i64>> {
    match text {
        b"" | b"nil" | b"null" => Some(None),
        text => std::str::from_utf8(text).ok()?.parse().ok().map(Some),
    }
}

fn newlines(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

impl Decoder for Ops {
    fn decode(&mut self, text: &[u8], line: usize, is_last: bool) -> Result<usize, ReadError> {
        let mut scan = Scan::new(text, 0, self.syntax);
        scan.is_last = is_last;
        let (mut used, mut line) = (0, line);
        loop {
            match self.step(&mut scan, line) {
                Ok(is_more) => {
                    line += newlines(&text[used..scan.at]);
                    used = scan.at;
                    if !is_more {
                        return Ok(used);
                    }
                    self.lines.1 = line;
                }
                Err(Stop::End) if !is_last => return Ok(used),
                Err(Stop::End) => {
                    let blank = text[used..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                    let line = line + newlines(&text[used..used + blank]);
                    let begins = show(&text[used + blank..]);
                    let message = format!("the file ends in the middle of an operation, which begins with `{begins}`");
                    return Err(ReadError::new(line, message));
                }
                Err(Stop::Wrong(at, message)) => {
                    let at = at.min(text.len());
                    return Err(ReadError::new(line + newlines(&text[used.min(at)..at]), message));
                }
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Read, ReadError> {
        if self.vector == Vector::Open {
            let (begins, ends) = self.lines;
            let message = format!(
                "the file ends in the middle of the vector that begins in line {begins}: its closing bracket is missing"
            );
            return Err(ReadError::new(ends, message));
        }
        let open = std::mem::take(&mut self.processes).into_iter();
        let mut open: Vec<(Option<i64>, Process, Invoked)> =
            open.filter_map(|(id, mut process)| process.invoked.take().map(|invoked| (id, process, invoked))).collect();
        open.sort_by_key(|(id, _, invoked)| (invoked.began, *id));
        for (id, process, invoked) in open {
            self.processes.insert(id, process);
            self.lost(id, &invoked, None, invoked.line).map_err(|stop| match stop {
                Stop::Wrong(_, message) => ReadError::new(invoked.line, message),
                Stop::End => ReadError::new(invoked.line, "the brackets of this value do not match"),
            })?;
        }
        let mut history = self.builder.finish();
        settle::kinds(&mut history)?;
        Ok(Read { history, format: self.format })
    }
}

/// Writes operations, one a line; JSON as an array if `format` says so.
pub(super) fn write(history: &History, format: Format) -> String {
    let mut moments: Vec<(u64, usize, String)> = Vec::new();
    for (id, transaction) in history.transactions() {
        let process = (transaction.session < UNNAMED_SESSIONS).then_some(transaction.session);
        let (began, ended) = (transaction.began, transaction.ended);
        let order = u64::from(id.0);
        let ops = history.ops(id);
        if began.is_some() || transaction.status == Status::Unknown {
            let line = print::op(history, "invoke", process, ops, false, format);
            moments.push((began.unwrap_or(order), moments.len(), line));
        }
        let (kind, is_complete) = match transaction.status {
            Status::Committed => ("ok", true),
            Status::Aborted => ("fail", false),
            Status::Unknown => ("info", false),
        };
        let line = print::op(history, kind, process, ops, is_complete, format);
        let end = if transaction.status == Status::Unknown { u64::MAX } else { ended.or(began).unwrap_or(order) };
        moments.push((end, moments.len(), line));
    }
    moments.sort();
    let lines: Vec<String> = moments.into_iter().map(|(_, _, line)| line).collect();
    match format {
        Format::Json => format!("[\n{}\n]\n", lines.join(",\n")),
        _ => lines.iter().map(|line| format!("{line}\n")).collect(),
    }
}

mod print;
