//! What readers that use tree-sitter share: places, texts, signs, mistakes, and an end to nesting.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::ops::ControlFlow;
use std::str::Chars;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tree_sitter::{Language, Node, ParseOptions, ParseState, Parser, Point, Tree};
use txloom_core::program::{Diagnostic, Span};

use super::host::tree::{Expr, Operator, Stmt, StmtKind};
use crate::files::SOURCE_MAX;

/// How deep the parts of a file may be nested.
const DEPTH_MAX: usize = 200;

/// How many mistakes are said of one file.
const MISTAKES_MAX: usize = 20;

/// What is written the same way in all languages.
const OPERATORS: &[(&str, Operator)] = &[
    ("+", Operator::Add),
    ("-", Operator::Subtract),
    ("*", Operator::Multiply),
    ("/", Operator::Divide),
    ("%", Operator::Remainder),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    ("<=", Operator::LessEqual),
    (">", Operator::Greater),
    (">=", Operator::GreaterEqual),
];

/// The operator that a sign stands for, if a language has these besides those of all.
pub(crate) fn operator(sign: &str, own: &[(&str, Operator)]) -> Operator {
    let known = OPERATORS.iter().chain(own).find(|(known, _)| *known == sign);
    known.map_or(Operator::Other, |(_, operator)| *operator)
}

/// The text that stands between quotes. What `\n`, `\t`, `\r`, `\0` and a line that goes on mean is the same
/// everywhere; what any other character means behind a backslash, and how much more belongs to it, a language says itself.
pub(crate) fn unescaped(text: &str, escape: impl Fn(char, &mut Peekable<Chars<'_>>, &mut String)) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, if c == '\\' { rest.next() } else { None }) {
            ('\\', Some('n')) => result.push('\n'),
            ('\\', Some('t')) => result.push('\t'),
            ('\\', Some('r')) => result.push('\r'),
            ('\\', Some('0')) => result.push('\0'),
            ('\\', Some('\n') | None) => {}
            ('\\', Some(kind)) => escape(kind, &mut rest, &mut result),
            _ => result.push(c),
        }
    }
    result
}

/// The maximum size of a file: its tree takes a hundred times as much.
const SIZE_MAX: usize = SOURCE_MAX as usize;

/// The maximum number of different indentations in a file. Python's scanner keeps them in a buffer of a kilobyte, with two
/// bytes for each, and aborts the process when it is full; Python itself allows a hundred.
const INDENTATIONS_MAX: usize = 300;

/// The maximum width of an indentation, as that scanner counts; it has 16 bits for it.
const INDENTATION_MAX: usize = 10_000;

/// The maximum time of the processor that reading a file may take: a hundred times what a long file takes. (A scanner can
/// be made to go through the rest of the file again and again, which no count of operations shows.)
const TIME_MAX: Duration = Duration::from_secs(15);

/// The time that this thread has had a processor.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// The syntax tree of a text, or the reason why none was made. Size and shape are measured before the parser, which is
/// written in C, sees the text, and its work is counted: mistakes can make it try very much.
pub(crate) fn parse(text: &str, language: &Language) -> Result<Tree, String> {
    if text.len() > SIZE_MAX {
        return Err(format!("the file has more than {} MB, and is not read", SIZE_MAX >> 20));
    }
    if !is_indented_sanely(text) {
        return Err(format!("the file has more than {INDENTATIONS_MAX} different indentations, and is not read"));
    }
    let mut parser = Parser::new();
    parser.set_language(language).map_err(|error| format!("the file is not read: {error}"))?;
    // The callback is asked after every hundred operations; without mistakes, a byte takes less than two.
    let latest = processor_time() + TIME_MAX;
    let mut rest = (1_000_000 + 40 * text.len()) / 100;
    let mut watch = |_: &ParseState| {
        rest = rest.saturating_sub(1);
        if rest == 0 || processor_time() > latest { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let mut piece = |at: usize, _: Point| text.as_bytes().get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut piece, None, Some(options));
    tree.ok_or_else(|| {
        "the file is so hard to read (too many mistakes or continued lines) that it is given up".to_string()
    })
}

/// True if Python's scanner can keep the indentations of the lines.
fn is_indented_sanely(text: &str) -> bool {
    let mut widths = BTreeSet::new();
    text.split(['\n', '\r']).all(|line| {
        let blank = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0c));
        let width: usize = blank.map(|byte| if byte == b'\t' { 8 } else { 1 }).sum();
        widths.insert(width);
        width <= INDENTATION_MAX && widths.len() <= INDENTATIONS_MAX
    })
}

/// The maximum size of all pieces of a file together: each is as long as the file.
const PIECES_SIZE_MAX: usize = 32 << 20;

/// How many pieces a file with mistakes is cut into.
const PIECES_MAX: usize = 400;

/// A file with mistakes, cut where functions begin: in each piece, all others are blank.
///
/// A mistake in one function may cost its neighbours; read by itself, each is what it is.
pub(crate) fn pieces(text: &str, begins: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut starts = vec![0];
    let mut at = 0;
    let mut last = "";
    for line in text.split_inclusive('\n') {
        if at > 0 && begins(last, line) {
            starts.push(at);
        }
        at += line.len();
        if !line.trim().is_empty() {
            last = line;
        }
    }
    if starts.len() < 2 || starts.len() > PIECES_MAX || starts.len() * text.len() > PIECES_SIZE_MAX {
        return Vec::new();
    }
    let blank = |part: &str| part.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect::<String>();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| blank(&text[..*start]) + &text[*start..end]).collect()
}

/// The character whose number stands in the next so many hexadecimal digits.
pub(crate) fn coded(length: usize, rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let digits: String = (0..length).filter_map(|_| rest.next()).collect();
    u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
}

/// A file that is being read.
pub(crate) struct Source<'s> {
    text: &'s str,
    /// What the language is called.
    language: &'static str,
    /// What could not be read, and why.
    pub(crate) unread: Vec<Diagnostic>,
    depth: usize,
}

impl<'s> Source<'s> {
    /// A file of a language.
    pub(crate) fn new(text: &'s str, language: &'static str) -> Source<'s> {
        Source { text, language, unread: Vec::new(), depth: 0 }
    }

    /// The place of a node.
    pub(crate) fn span(&self, node: Node<'_>) -> Span {
        Span { start: node.start_byte(), end: node.end_byte(), line: node.start_position().row + 1 }
    }

    /// What the file says there.
    pub(crate) fn text(&self, node: Node<'_>) -> &'s str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    /// What the file says at a part of a node.
    pub(crate) fn field(&self, node: Node<'_>, field: &str) -> &'s str {
        node.child_by_field_name(field).map(|child| self.text(child)).unwrap_or("")
    }

    /// Something that is not known, in place of a node.
    pub(crate) fn unknown(&self, node: Node<'_>) -> Expr {
        Expr::other(Vec::new(), self.span(node))
    }

    /// A statement in place of a node.
    pub(crate) fn statement(&self, kind: StmtKind, node: Node<'_>) -> Stmt {
        Stmt { kind, span: self.span(node) }
    }

    /// Notes what could not be read.
    pub(crate) fn mistakes(&mut self, root: Node<'_>) {
        let mut open: Vec<Node<'_>> = Some(root).filter(Node::has_error).into_iter().collect();
        while let Some(node) = open.pop() {
            if self.unread.len() >= MISTAKES_MAX {
                break;
            }
            if node.is_error() || node.is_missing() {
                let message = match self.text(node).lines().next().filter(|_| node.is_error()) {
                    Some(first) => {
                        let shown: String = first.chars().take(40).collect();
                        format!("this is not {}: {shown}", self.language)
                    }
                    None => format!("a {} is missing here", node.kind()),
                };
                self.unread.push(Diagnostic::warning(self.span(node), message));
                continue;
            }
            open.extend(children(node).into_iter().rev().filter(Node::has_error));
        }
        self.unread.sort_by_key(|one| one.span.start);
    }

    /// Goes one level deeper, if it is not too deep; `leave` must follow.
    pub(crate) fn enter(&mut self, node: Node<'_>) -> bool {
        if self.depth >= DEPTH_MAX {
            if self.unread.len() < MISTAKES_MAX {
                // Anything may stand there: what holds for the rest says nothing of it.
                let message = "this is nested too deeply to be followed";
                self.unread.push(Diagnostic::error(self.span(node), message));
            }
            return false;
        }
        self.depth += 1;
        true
    }

    /// Goes back one level.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// The parts of a node, signs included.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut walk = node.walk();
    node.children(&mut walk).collect()
}

/// The parts of a node without signs and comments.
pub(crate) fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    let mut walk = node.walk();
    node.named_children(&mut walk).filter(|child| !child.is_extra() || child.is_error()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reason why a file of Python is not read.
    fn refused(text: &str) -> String {
        parse(text, &tree_sitter_python::LANGUAGE.into()).map(|_| String::new()).unwrap_or_else(|reason| reason)
    }

    /// Nested blocks.
    fn nested(depth: usize) -> String {
        (0..depth).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect()
    }

    #[test]
    fn what_would_abort_the_scanner_is_refused() {
        assert_eq!(refused(&nested(INDENTATIONS_MAX - 1)), "");
        assert!(refused(&nested(2_000)).contains("different indentations"));
        let tabs: String = (0..600).map(|depth| format!("{}if x:\r", "\t".repeat(depth))).collect();
        assert!(refused(&tabs).contains("different indentations"));
        assert!(refused(&format!("{}x", " ".repeat(70_000))).contains("different indentations"));
    }

    #[test]
    fn what_is_too_long_is_refused() {
        assert!(refused(&"x".repeat(SIZE_MAX + 1)).contains("more than 8 MB"));
    }

    #[test]
    fn pieces_of_a_long_file_are_not_made() {
        let line = format!("def f(): {}\n", "x".repeat(1 << 20));
        let begins = |_: &str, line: &str| line.starts_with("def");
        assert_eq!(pieces(&line.repeat(3), begins).len(), 3);
        assert!(pieces(&line.repeat(10), begins).is_empty());
    }
}
