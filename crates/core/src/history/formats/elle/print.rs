//! One operation, as text.

use super::super::super::{History, Op, Scalar};
use super::super::Format;
use super::is_number;

/// An operation map.
pub(super) fn op(
    history: &History,
    kind: &str,
    process: Option<u32>,
    ops: &[Op],
    is_complete: bool,
    format: Format,
) -> String {
    let printer = Printer { history, is_complete, is_edn: format == Format::Edn };
    let values: Vec<String> = ops.iter().map(|op| printer.op(op)).collect();
    if printer.is_edn {
        let process = process.map(|process| format!(" :process {process}")).unwrap_or_default();
        return format!("{{:type :{kind} :f :txn{process} :value [{}]}}", values.join(" "));
    }
    let process = process.map(|process| format!("\"process\":{process},")).unwrap_or_default();
    format!("{{\"type\":\"{kind}\",\"f\":\"txn\",{process}\"value\":[{}]}}", values.join(","))
}

struct Printer<'a> {
    history: &'a History,
    is_complete: bool,
    is_edn: bool,
}

impl Printer<'_> {
    fn op(&self, op: &Op) -> String {
        let (what, value) = match op {
            Op::Write(_, value) => ("w", self.value(*value)),
            Op::Append(_, value) => ("append", self.value(*value)),
            Op::Read(_, Some(value)) if self.is_complete => ("r", self.value(*value)),
            Op::ReadList(key, list) if self.is_complete => {
                let elements: Vec<String> =
                    self.history.list(*key, *list).iter().map(|value| self.value(*value)).collect();
                ("r", format!("[{}]", elements.join(if self.is_edn { " " } else { "," })))
            }
            Op::Read(..) | Op::ReadList(..) | Op::Unread(_) => ("r", if self.is_edn { "nil" } else { "null" }.into()),
        };
        let key = self.key(self.history.key_name(op.key()));
        if self.is_edn { format!("[:{what} {key} {value}]") } else { format!("[\"{what}\",{key},{value}]") }
    }

    fn key(&self, name: &str) -> String {
        let is_quoted = name.len() >= 2 && name.starts_with('"') && name.ends_with('"');
        match name {
            _ if is_number(name.as_bytes()) || is_quoted => name.to_string(),
            _ if self.is_edn && is_word(name) => format!(":{name}"),
            _ => format!("\"{name}\""),
        }
    }

    fn value(&self, value: Scalar) -> String {
        match self.history.text(value) {
            None => value.0.to_string(),
            Some(text) if self.is_edn && is_word(text) => format!(":{text}"),
            Some(text) => format!("\"{text}\""),
        }
    }
}

/// Whether a text can be a keyword.
fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.*+!?/<>=".contains(c);
    !text.is_empty() && text.chars().all(is_part)
}
