//! Which format is this? The content tells: each format begins in a way of its own.

#![warn(clippy::indexing_slicing)]

use super::scan::{Scan, Stop, Syntax, show};
use super::{FORMATS, Format, ReadError, binary};

/// So much of a file is looked at before its format must be known.
const LOOK_MAX: usize = 1 << 16;

/// The format of a text of which this is the beginning; `None` if more of it is needed, or if it is empty.
pub(super) fn detect(text: &[u8], extension: &str, is_last: bool) -> Result<Option<Format>, ReadError> {
    let is_enough = is_last || text.len() >= LOOK_MAX;
    if binary::MAGIC.starts_with(text.get(..binary::MAGIC.len()).unwrap_or(text)) && !text.is_empty() {
        return if text.len() >= binary::MAGIC.len() { Ok(Some(Format::Binary)) } else { unknown(text, is_enough) };
    }
    if let Some(version) = text.strip_prefix(binary::NAME).and_then(|rest| rest.first()) {
        let message =
            format!("this history is in version {version} of our binary form, and this txloom reads version 1");
        return Err(ReadError::new(0, message));
    }
    let (mut line_number, mut at) = (0, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        line_number += 1;
        let start = at + (line.len() - line.trim_ascii_start().len());
        at += line.len();
        let trimmed = line.trim_ascii();
        let is_remark = trimmed.starts_with(b";") || trimmed.starts_with(b"//");
        let is_rule = !trimmed.is_empty() && trimmed.iter().all(|byte| matches!(byte, b'-' | b'='));
        if trimmed.is_empty() || is_remark || is_rule {
            continue;
        }
        if !line.ends_with(b"\n") && !is_enough {
            return Ok(None);
        }
        return match by_first_line(text.get(start..).unwrap_or_default()) {
            Some(format) => Ok(Some(format)),
            None if is_enough => Err(strange(trimmed, line_number)),
            None => Ok(None),
        };
    }
    // Nothing but blanks, remarks and rules: an empty history, if the name says of which format.
    let named = FORMATS.iter().find(|row| row.extensions.contains(&extension)).map(|row| row.format);
    Ok(named.filter(|format| is_last && *format != Format::Binary && !text.is_empty()))
}

/// What a line is that no history begins with.
fn strange(line: &[u8], number: usize) -> ReadError {
    let is_text = match std::str::from_utf8(line) {
        Ok(text) => !text.contains('\0'),
        Err(_) => false,
    };
    if !is_text {
        return ReadError::new(0, "this is neither text nor a history in our binary form");
    }
    if line.starts_with(b"-- @case") || line.starts_with(b"-- @program") {
        let message =
            "this is a case, not a history; `txloom run --save-history` makes a history of what happens in it";
        return ReadError::new(number, message);
    }
    let message = format!(
        "cannot tell the format of this history: it begins with `{}`; expected an operation map of Elle (EDN or JSON), \
         `w(…)` of Plume, `w 0 1` of AWDIT, or `[x:=1]` of dbcop",
        show(line)
    );
    ReadError::new(number, message)
}

fn unknown(text: &[u8], is_enough: bool) -> Result<Option<Format>, ReadError> {
    if is_enough {
        return Err(ReadError::new(1, format!("the file ends after `{}`: it is no history", show(text))));
    }
    Ok(None)
}

fn by_first_line(text: &[u8]) -> Option<Format> {
    match text {
        [b'r' | b'w', b'(', ..] => Some(Format::Plume),
        [b'r' | b'w', b' ' | b'\t', ..] => Some(Format::Awdit),
        // A tag or something left out; `# …` is a heading of a document.
        [b'#', b'_' | b'a'..=b'z' | b'A'..=b'Z', ..] => Some(Format::Edn),
        [b'{', ..] => Some(of_map(text, Format::JsonLines)),
        [b'[', inside @ ..] => of_vector(inside),
        _ => None,
    }
}

/// An object of JSON begins with a string and a colon; dbcop's has keys of its own.
fn of_map(text: &[u8], json: Format) -> Format {
    let mut scan = Scan::new(text, 1, Syntax::Edn);
    let key = match scan.value() {
        Ok(key) => key,
        Err(Stop::End | Stop::Wrong(..)) => return if text.contains(&b'"') { json } else { Format::Edn },
    };
    // A colon behind a blank may begin a keyword of EDN.
    let rest = scan.between(scan.at, text.len());
    let is_json = rest.starts_with(b":") || rest.trim_ascii_start().starts_with(b": ");
    match key {
        _ if !key.starts_with(b"\"") || !is_json => Format::Edn,
        b"\"params\"" | b"\"info\"" | b"\"start\"" | b"\"end\"" | b"\"data\"" => Format::DbcopJson,
        _ => json,
    }
}

/// A vector of operations, sessions of dbcop's JSON, or a transaction of dbcop's text.
fn of_vector(inside: &[u8]) -> Option<Format> {
    let mut scan = Scan::new(inside, 0, Syntax::Edn);
    // Remarks inside a vector are EDN's.
    let at = scan.blanks().map_or(inside.len(), |()| scan.at);
    let first = inside.get(at..).unwrap_or_default();
    match first.first() {
        Some(b'{') => Some(of_map(first, Format::Json)),
        Some(b'#') => Some(Format::Edn),
        Some(b'[') => Some(Format::DbcopJson),
        Some(b']') => Some(Format::Json),
        Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_' => Some(Format::DbcopText),
        _ => None,
    }
}

#[allow(clippy::indexing_slicing)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_tells_the_format() {
        let check = |text: &str, expect: Format| {
            assert_eq!(detect(text.as_bytes(), "", true).unwrap(), Some(expect), "{text}");
        };
        check("{:index 0 :type :ok :value [[:r x nil]]}", Format::Edn);
        check("; a remark\n\n[{:type :ok}]", Format::Edn);
        check("[#_{:a 1} {:type :ok}]", Format::Edn);
        check("#jepsen.history.Op{:type :ok}", Format::Edn);
        check("{\"type\":\"ok\"}", Format::JsonLines);
        check("[\n {\"type\": \"ok\"}]", Format::Json);
        check("{\"type\" \"ok\"}", Format::Edn);
        check("{\"type\" :ok}", Format::Edn);
        check("{ \"type\" : \"ok\"}", Format::JsonLines);
        check("{\"params\":{}, \"data\":[]}", Format::DbcopJson);
        check("[[{\"events\":[]}]]", Format::DbcopJson);
        check("// two sessions\n[x:=1]", Format::DbcopText);
        check("---\n[x==?]!", Format::DbcopText);
        check("w(0,0,0,0)", Format::Plume);
        check("=====\nr 0 1", Format::Awdit);
    }

    #[test]
    fn what_is_no_history_is_refused() {
        let error = detect(b"\n\nSELECT 1;\n", "", true).unwrap_err();
        assert!(error.line == 3 && error.message.contains("it begins with `SELECT 1;`"), "{error}");
        let error = detect(b"# About\n", "", true).unwrap_err();
        assert!(error.line == 1 && error.message.contains("it begins with `# About`"), "{error}");
        let error = detect(b"-- @case 1\n", "", true).unwrap_err();
        assert!(error.message.contains("this is a case"), "{error}");
        let error = detect(b"TXLOOMH\x02rest", "", true).unwrap_err();
        assert!(error.message.contains("in version 2 of our binary form"), "{error}");
        for garbage in [b"\x7fELF\0\0\n".as_slice(), b"\xff\xfe{"] {
            let error = detect(garbage, "", true).unwrap_err();
            assert!(error.line == 0 && error.message.contains("neither text nor"), "{error}");
        }
        assert_eq!(detect(b"", "edn", true), Ok(None));
        assert_eq!(detect(b"; nothing\n", "edn", true), Ok(Some(Format::Edn)));
        assert_eq!(detect(b"; nothing", "", false), Ok(None));
    }
}
