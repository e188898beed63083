//! What readers that use tree-sitter share: places, texts, signs, mistakes, and an end to nesting.

use std::iter::Peekable;
use std::str::Chars;

use tree_sitter::{Language, Node, Parser, Tree};
use txloom_core::program::Span;

use super::host::tree::{Expr, Operator, Stmt, StmtKind};

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

/// The syntax tree of a text.
pub(crate) fn parse(text: &str, language: &Language) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    parser.parse(text, None)
}

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
    if starts.len() < 2 || starts.len() > PIECES_MAX {
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
    pub(crate) unread: Vec<(Span, String)>,
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
                self.unread.push((self.span(node), message));
                continue;
            }
            open.extend(children(node).into_iter().rev().filter(Node::has_error));
        }
        self.unread.sort_by_key(|(span, _)| span.start);
    }

    /// Goes one level deeper, if it is not too deep; `leave` must follow.
    pub(crate) fn enter(&mut self, node: Node<'_>) -> bool {
        if self.depth >= DEPTH_MAX {
            if self.unread.len() < MISTAKES_MAX {
                self.unread.push((self.span(node), "this is nested too deeply to be followed".to_string()));
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
