//! Strings, text blocks and numbers of Java.

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
    if !text.contains('\\') {
        return text.to_string();
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some('r') => result.push('\r'),
            Some('b' | 'f') | None => {}
            Some('s') => result.push(' '),
            Some('\n') => {}
            Some('u') => {
                while rest.peek() == Some(&'u') {
                    rest.next();
                }
                let digits: String = (0..4).filter_map(|_| rest.next()).collect();
                result.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some('0') => result.push('\0'),
            Some(other) => result.push(other),
        }
    }
    result
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
