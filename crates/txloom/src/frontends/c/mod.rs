//! C with embedded SQL (ecpg, Pro*C): its syntax tree → the tree of host programs.
//!
//! **Problem.** A file with `EXEC SQL …;` is no C, and its statements jump: `WHENEVER NOT FOUND GOTO done` says once what
//! happens after each of them.
//!
//! **Idea.** The statements are cut out and leave a name of the same length ([`embedded`]), so that a reader of C reads
//! the rest. What each of them does is then said in the words of the tree:
//!
//! ```text
//!   EXEC SQL SELECT a INTO :x FROM t WHERE k = :k;    __into__("SELECT a FROM t WHERE k = :k", {k: k}, [x])
//!   EXEC SQL FETCH c INTO :x;                         if (c.__next__()) x = c[0];
//!   sqlca.sqlcode == 100                              !sql_found, which every statement sets
//!   WHENEVER NOT FOUND GOTO done                      if (!sql_found) { … what stands from `done:` on …; return; }
//! ```
//!
//! * `embedded`: the statements, cut out; `parse`: what each of them does
//! * `sql`: what they do, as a tree
//! * `codes`: questions about `sqlca.sqlcode`, `SQLCODE` and `SQLSTATE`
//! * `expressions`, `statements`: one function per kind of node
//! * `ecpg`: the vocabulary
//!
//! # Limits
//!
//! An error of the database ends the call, so that `WHENEVER SQLERROR` leads nowhere. A `goto` to a label further down in
//! the function's own block is followed, any other is an end, with a warning. The preprocessor is not run: constants of
//! `#define` are known, macros are not. Pointers are what they point to; `&x` as an argument is written back.

mod codes;
mod embedded;
mod parse;
mod expressions;
mod sql;
mod statements;
pub(crate) mod ecpg;

use tree_sitter::{Node, Tree};
use txloom_core::program::{Diagnostic, Span};

use super::host::tree::{Class, Expr, ExprKind, Field, Method, Parameter, Stmt, StmtKind, Unit};
use super::syntax::{Source, parse, parts, pieces};
use embedded::Cut;

/// Reads a file.
pub(crate) fn read(text: &str) -> Unit {
    let cut = embedded::cut(text);
    let tree = match parse(&cut.text, &tree_sitter_c::LANGUAGE.into()) {
        Ok(tree) => tree,
        Err(reason) => return Unit::unread(reason),
    };
    if !tree.root_node().has_error() {
        return read_tree(&cut, &cut.text, &tree);
    }
    let begins = |before: &str, line: &str| {
        before.starts_with('}') && line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    };
    let pieces = pieces(&cut.text, begins);
    if pieces.is_empty() {
        return read_tree(&cut, &cut.text, &tree);
    }
    let units = pieces.iter().map(|piece| match parse(piece, &tree_sitter_c::LANGUAGE.into()) {
        Ok(tree) => read_tree(&cut, piece, &tree),
        Err(reason) => Unit::unread(reason),
    });
    Unit::together(units)
}

fn read_tree(cut: &Cut, text: &str, tree: &Tree) -> Unit {
    let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut reader = Reader {
        source: Source::new(text, "C"),
        asks_codes: codes::asks(cut),
        cut,
        lines,
        labels: Vec::new(),
        going: Vec::new(),
        repeated: 0,
        unit: Unit::default(),
    };
    reader.source.mistakes(tree.root_node());
    let mut globals = Class::default();
    reader.top(tree.root_node(), &mut globals);
    let Reader { source, mut unit, .. } = reader;
    unit.classes.insert(0, globals);
    unit.unread.extend(source.unread);
    unit
}

/// A file that is being read.
struct Reader<'s> {
    source: Source<'s>,
    cut: &'s Cut,
    /// Where each line begins.
    lines: Vec<usize>,
    /// Whether anybody asks how a statement went.
    asks_codes: bool,
    /// The labels of the function that is being read, each with the nodes from there to its end.
    labels: Vec<(String, Vec<Node<'s>>)>,
    /// The labels that are being followed.
    going: Vec<String>,
    /// The number of statements that were read again because a `goto` leads to them.
    repeated: usize,
    unit: Unit,
}

impl<'s> Reader<'s> {
    /// The place of a part of the file.
    fn place(&self, start: usize, length: usize) -> Span {
        let line = self.lines.partition_point(|line| *line <= start);
        Span { start, end: start + length, line }
    }

    /// What stands outside of functions.
    fn top<'t: 's>(&mut self, root: Node<'t>, globals: &mut Class) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            match node.kind() {
                "function_definition" => self.function(node, globals),
                "declaration" => {
                    self.structs(node);
                    for statement in self.declarations(node) {
                        globals.fields.extend(global(statement));
                    }
                }
                "struct_specifier" | "type_definition" => self.structs(node),
                "preproc_def" => globals.fields.extend(self.constant(node)),
                kind if kind == "translation_unit" || kind == "ERROR" || kind.starts_with("preproc_") => {
                    open.extend(parts(node).into_iter().rev());
                }
                "linkage_specification" | "declaration_list" => open.extend(parts(node).into_iter().rev()),
                _ => {}
            }
        }
    }

    /// `#define MAX 10`
    fn constant(&self, node: Node<'_>) -> Option<Field> {
        let name = self.source.field(node, "name").to_string();
        let said = self.source.field(node, "value").trim();
        let span = self.source.span(node.child_by_field_name("value")?);
        let inner = said.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let kind = match inner {
            Some(text) => ExprKind::Text(expressions::unescape(text)),
            None if said.starts_with(|c: char| c.is_ascii_digit()) => ExprKind::Number(expressions::number(said)),
            None => return None,
        };
        let span = if inner.is_some() { Span { start: span.start + 1, ..span } } else { span };
        Some(Field { name, type_name: String::new(), value: Some(Expr { kind, span }) })
    }

    /// The structs that a declaration defines.
    fn structs(&mut self, node: Node<'_>) {
        let Some(said) =
            Some(node).filter(|node| node.kind() == "struct_specifier").or(node.child_by_field_name("type"))
        else {
            return;
        };
        let Some(body) = said.child_by_field_name("body").filter(|_| said.kind() == "struct_specifier") else { return };
        let mut class = Class { name: self.source.field(said, "name").to_string(), ..Class::default() };
        for member in parts(body).into_iter().filter(|member| member.kind() == "field_declaration") {
            for statement in self.declarations(member) {
                if let StmtKind::Declare { name, type_name, .. } = statement.kind {
                    class.fields.push(Field { name, type_name, value: None });
                }
            }
        }
        if node.kind() == "type_definition" {
            let mut named = class.clone();
            named.name = self.source.field(node, "declarator").trim_start_matches('*').trim().to_string();
            self.unit.classes.push(named);
        }
        if !class.name.is_empty() {
            self.unit.classes.push(class);
        }
    }

    fn function<'t: 's>(&mut self, node: Node<'t>, globals: &mut Class) {
        let Some(declarator) = node.child_by_field_name("declarator").and_then(function_declarator) else { return };
        let name = self.source.field(declarator, "declarator").to_string();
        let parameters = declarator.child_by_field_name("parameters").map(|all| self.parameters(all));
        let result = self.source.field(node, "type").to_string();
        let mut body = Vec::new();
        if let Some(block) = node.child_by_field_name("body") {
            let all = parts(block);
            let tail = |(at, one): (usize, &Node<'t>)| {
                (one.kind() == "labeled_statement")
                    .then(|| (self.source.field(*one, "label").to_string(), all[at..].to_vec()))
            };
            self.labels = all.iter().enumerate().filter_map(tail).collect();
            body = self.block(block);
            if self.asks_codes {
                body.insert(0, codes::declaration(self.source.span(declarator)));
            }
        }
        globals.methods.push(Method {
            name,
            parameters: parameters.unwrap_or_default(),
            result: if result == "void" { String::new() } else { result },
            body,
            is_public: true,
            is_constructor: false,
            span: self.source.span(node),
        });
    }

    fn parameters(&mut self, node: Node<'_>) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for child in parts(node).into_iter().filter(|child| child.kind() == "parameter_declaration") {
            let Some(declarator) = child.child_by_field_name("declarator") else { continue };
            let (name, shape) = self.declared(declarator);
            let type_name = type_name(self.source.field(child, "type"), shape);
            let span = self.source.span(child);
            parameters.push(Parameter { name, type_name, takes_rest: false, default: None, span });
        }
        parameters
    }

    /// The name that a declarator declares, and what stands around it.
    fn declared(&self, declarator: Node<'_>) -> (String, Shape) {
        let mut node = declarator;
        let mut shape = Shape::Plain;
        loop {
            match node.kind() {
                "pointer_declarator" => shape = Shape::Pointer,
                "array_declarator" => shape = Shape::Array,
                "init_declarator" | "parenthesized_declarator" => {}
                "function_declarator" => shape = Shape::Function,
                _ => return (self.source.text(node).to_string(), shape),
            }
            match node.child_by_field_name("declarator").or_else(|| node.named_child(0)) {
                Some(inner) => node = inner,
                None => return (String::new(), shape),
            }
        }
    }

    fn unknown_jump(&mut self, label: &str, span: Span) -> Stmt {
        let message = format!("where goto {label} leads is not followed");
        self.source.unread.push(Diagnostic::warning(span, message));
        Stmt { kind: StmtKind::Return(None), span }
    }
}

/// What a declarator makes of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    Pointer,
    Array,
    Function,
}

/// `char name[20]` and `char *name` are texts, other arrays are lists; a pointer is what it points to.
fn type_name(said: &str, shape: Shape) -> String {
    let words = ["const", "static", "volatile", "extern", "register", "struct", "signed"];
    let plain: Vec<&str> = said.split_whitespace().filter(|word| !words.contains(word)).collect();
    let plain = plain.join(" ");
    let is_text = ["char", "unsigned char", "VARCHAR", "varchar"].contains(&plain.as_str());
    match shape {
        Shape::Array | Shape::Pointer if is_text => "char[]".to_string(),
        Shape::Array => format!("{plain}[]"),
        _ => plain,
    }
}

fn function_declarator(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    while node.kind() != "function_declarator" {
        node = node.child_by_field_name("declarator")?;
    }
    Some(node)
}

/// A variable outside of functions.
fn global(statement: Stmt) -> Option<Field> {
    match statement.kind {
        StmtKind::Declare { name, type_name, value } => Some(Field { name, type_name, value }),
        _ => None,
    }
}
