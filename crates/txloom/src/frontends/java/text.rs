//! Strings, text blocks and numbers of Java.

use super::super::syntax::{coded, unescaped};

/// The text that a string literal means, without its quotes.
pub(super) fn string(literal: &str) -> String {
    if let Some(block) = literal.strip_prefix("\"\"\"") {
        return unescape(&stripped(block.strip_suffix("\"\"\"").unwrap_or(block)));
    }
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    unescape(inner.strip_suffix('"').unwrap_or(inner))
}

/// A text block without the indentation that all of its lines share.
fn stripped(block: &str) -> String {
    let lines: Vec<&str> = block.split_once('\n').map_or(block, |(_, rest)| rest).split('\n').collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let last = lines.len().saturating_sub(1);
    let counted = lines.iter().enumerate().filter(|(at, line)| *at == last || !line.trim().is_empty());
    let shared = counted.map(|(_, line)| indent(line)).min().unwrap_or(0);
    let line = |line: &&str| line.get(shared..).unwrap_or("").trim_end().to_string();
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn unescape(text: &str) -> String {
    unescaped(text, |kind, rest, result| match kind {
        'b' | 'f' => {}
        's' => result.push(' '),
        'u' => {
            while rest.next_if_eq(&'u').is_some() {}
            result.extend(coded(4, rest));
        }
        other => result.push(other),
    })
}

/// A number as SQL writes it.
pub(super) fn number(literal: &str) -> String {
    let plain = literal.replace('_', "");
    let lower = plain.to_lowercase();
    for (prefix, radix) in [("0x", 16), ("0b", 2)] {
        if let Some(digits) = lower.strip_prefix(prefix) {
            let value = i64::from_str_radix(digits.trim_end_matches('l'), radix);
            return value.map_or_else(|_| "0".to_string(), |value| value.to_string());
        }
    }
    let trimmed = lower.trim_end_matches(['l', 'f', 'd']);
    let with_zero = if trimmed.starts_with('.') { format!("0{trimmed}") } else { trimmed.to_string() };
    if with_zero.ends_with('.') { format!("{with_zero}0") } else { with_zero }
}
