//! Python: its syntax tree → the tree of host programs.
//!
//! **Problem.** Python declares nothing: what is a local variable, which parameter is the connection, which method ends a
//! transaction is only seen from what is done with it.
//!
//! **Idea.** What the language means by its shape is said here in the words of the tree, so that nobody else must know
//! Python:
//!
//! ```text
//!   (a, b) = cur.fetchone()             an assignment to a list
//!   [f(r) for r in rows]                items = []; for r in rows: items.append(f(r))
//!   with engine.begin() as conn: …      try: … ; at its end COMMIT, on an error ROLLBACK
//!   conn.autocommit = True              a call that switches
//!   x or 0                              x if x else 0
//! ```
//!
//! * `text`: strings and numbers
//! * `names`: which names are local, and what parameters are good for
//! * `expressions`, `statements`: one function per kind of node
//! * `with`: what a `with` does at its end
//! * `dbapi`: the vocabulary, of DB-API drivers and SQLAlchemy
//!
//! # Limits
//!
//! Decorators are ignored. Inner functions are read like those beside them, and do not see the variables around them. A
//! function with `yield` ends there. Rows are remembered one per query: of two rows of one cursor, the later one counts.

mod expressions;
mod names;
mod statements;
mod text;
mod with;
pub(crate) mod dbapi;

use tree_sitter::{Node, Tree};

use super::host::tree::{Class, Expr, ExprKind, Field, Method, Parameter, Stmt, StmtKind, Unit};
use super::host::visit;
use super::syntax::{Source, parse, parts, pieces};

/// What the code outside of functions is called.
const SCRIPT: &str = "script";

/// Reads a file.
pub(crate) fn read(text: &str) -> Unit {
    let tree = match parse(text, &tree_sitter_python::LANGUAGE.into()) {
        Ok(tree) => tree,
        Err(reason) => return Unit::unread(reason),
    };
    if !tree.root_node().has_error() {
        return read_tree(text, &tree);
    }
    let begins = |before: &str, line: &str| {
        let is_definition = ["def ", "class ", "async def ", "@"].iter().any(|word| line.starts_with(word));
        is_definition && !before.starts_with('@')
    };
    let pieces = pieces(text, begins);
    if pieces.is_empty() {
        return read_tree(text, &tree);
    }
    let units = pieces.iter().map(|piece| match parse(piece, &tree_sitter_python::LANGUAGE.into()) {
        Ok(tree) => read_tree(piece, &tree),
        Err(reason) => Unit::unread(reason),
    });
    Unit::together(units)
}

fn read_tree(text: &str, tree: &Tree) -> Unit {
    let source = Source::new(text, "Python");
    let mut reader = Reader { source, classes: Vec::new(), pending: Vec::new(), made: 0, transactions: 0 };
    reader.source.mistakes(tree.root_node());
    let mut globals = Class::default();
    reader.module(tree.root_node(), &mut globals);
    let mut classes = vec![globals];
    classes.append(&mut reader.classes);
    Unit { classes, unread: reader.source.unread }
}

/// A file that is being read.
struct Reader<'s> {
    source: Source<'s>,
    /// The classes that have been read.
    classes: Vec<Class>,
    /// What must be done before the statement that is being read.
    pending: Vec<Stmt>,
    /// How many variables we have made up.
    made: usize,
    /// How many blocks around us are transactions.
    transactions: usize,
}

impl Reader<'_> {
    /// What stands outside of functions: constants, and a script.
    fn module(&mut self, root: Node<'_>, globals: &mut Class) {
        let mut script = Vec::new();
        let mut open: Vec<Node<'_>> = parts(root).into_iter().rev().collect();
        while let Some(node) = open.pop() {
            if self.definition(node, globals) {
                continue;
            }
            if node.is_error() {
                open.extend(parts(node).into_iter().rev());
                continue;
            }
            let statements = self.statement(node);
            globals.fields.extend(statements.iter().filter_map(constant));
            script.extend(statements);
        }
        let mut calls = false;
        visit::expressions(&script, &mut |expr| calls |= matches!(expr.kind, ExprKind::Call(_)));
        if calls {
            let span = self.source.span(root);
            globals.methods.push(Method {
                name: SCRIPT.to_string(),
                parameters: Vec::new(),
                result: String::new(),
                body: script,
                is_public: true,
                is_constructor: false,
                span,
            });
        }
    }

    /// Reads a function or class, if the node is one; also inside of what a mistake has torn apart.
    fn definition(&mut self, node: Node<'_>, class: &mut Class) -> bool {
        match node.kind() {
            "function_definition" => self.function(node, class),
            "class_definition" => self.class(node),
            "decorated_definition" => match node.child_by_field_name("definition") {
                Some(inner) => return self.definition(inner, class),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    fn class(&mut self, node: Node<'_>) {
        if !self.source.enter(node) {
            return;
        }
        let parent = node.child_by_field_name("superclasses").and_then(|all| parts(all).into_iter().next());
        let parent = parent.map(|parent| last_name(self.source.text(parent)));
        let mut class = Class { name: self.source.field(node, "name").to_string(), parent, ..Class::default() };
        for member in node.child_by_field_name("body").map(parts).unwrap_or_default() {
            if !self.definition(member, &mut class) {
                let statements = self.statement(member);
                class.fields.extend(statements.iter().filter_map(constant));
            }
        }
        add_own_fields(&mut class);
        self.classes.push(class);
        self.source.leave();
    }

    fn function(&mut self, node: Node<'_>, class: &mut Class) {
        if !self.source.enter(node) {
            return;
        }
        let name = self.source.field(node, "name").to_string();
        let is_method = !class.name.is_empty();
        let mut parameters = node.child_by_field_name("parameters").map(|all| self.parameters(all)).unwrap_or_default();
        let has_self = parameters.first().is_some_and(|first| ["self", "cls"].contains(&first.name.as_str()));
        if is_method && has_self {
            parameters.remove(0);
        }
        let outer = std::mem::take(&mut self.pending);
        let mut body = Vec::new();
        if let Some(block) = node.child_by_field_name("body") {
            self.inner_definitions(block, class);
            body = self.block(block);
            names::type_parameters(&mut parameters, &body);
            let declared = names::locals(&body, &parameters, &self.outer_names(block));
            body.splice(0..0, declared);
        }
        self.pending = outer;
        class.methods.push(Method {
            is_constructor: is_method && name == "__init__",
            name,
            parameters,
            result: self.type_name(node.child_by_field_name("return_type")),
            body,
            is_public: true,
            span: self.source.span(node),
        });
        self.source.leave();
    }

    /// Functions and classes inside of a function are read as if they stood beside it.
    fn inner_definitions(&mut self, block: Node<'_>, class: &mut Class) {
        let mut open = vec![block];
        while let Some(node) = open.pop() {
            for child in parts(node).into_iter().rev() {
                let is_read = self.definition(child, class);
                if !is_read && !child.kind().contains("expression") {
                    open.push(child);
                }
            }
        }
    }

    /// The names that a function says are not its own.
    fn outer_names(&self, block: Node<'_>) -> Vec<String> {
        let mut names = Vec::new();
        let mut open = vec![block];
        while let Some(node) = open.pop() {
            for child in parts(node) {
                match child.kind() {
                    "global_statement" | "nonlocal_statement" => {
                        names.extend(parts(child).into_iter().map(|name| self.source.text(name).to_string()));
                    }
                    "function_definition" | "class_definition" | "expression_statement" => {}
                    _ => open.push(child),
                }
            }
        }
        names
    }

    fn parameters(&mut self, node: Node<'_>) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for child in parts(node) {
            let span = self.source.span(child);
            let named = child.child_by_field_name("name").unwrap_or_else(|| match child.kind() {
                "typed_parameter" => child.named_child(0).unwrap_or(child),
                _ => child,
            });
            let said = self.source.text(named);
            let name = said.trim_start_matches('*').to_string();
            if name.is_empty() || !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                continue;
            }
            let takes_rest = said.starts_with('*');
            // `**options`: nobody passes them by position.
            if said.starts_with("**") {
                continue;
            }
            let type_name = self.type_name(child.child_by_field_name("type"));
            let default = child.child_by_field_name("value").map(|value| self.expression(value));
            parameters.push(Parameter { name, type_name, takes_rest, default, span });
        }
        parameters
    }

    /// `Optional[int]`, `int | None` and `int` are the same to us.
    fn type_name(&self, node: Option<Node<'_>>) -> String {
        let Some(node) = node else { return String::new() };
        let said = self.source.text(node).trim_matches(['"', '\'']);
        let said = said.strip_prefix("Optional[").map_or(said, |inner| inner.trim_end_matches(']'));
        let mut options = said.split('|').map(str::trim).filter(|option| *option != "None");
        last_name(options.next().unwrap_or(""))
    }

    /// A name for a variable that does not stand in the source.
    fn made_up(&mut self, wish: &str) -> String {
        self.made += 1;
        format!("{wish}_{}", self.made)
    }
}

/// `a.b.C[D]` → `C`
fn last_name(said: &str) -> String {
    let plain = said.split('[').next().unwrap_or(said);
    plain.rsplit('.').next().unwrap_or(plain).trim().to_string()
}

/// `NAME = value`, outside of functions.
fn constant(statement: &Stmt) -> Option<Field> {
    let StmtKind::Expr(Expr { kind: ExprKind::Assign { target, operator: None, value }, .. }) = &statement.kind else {
        return None;
    };
    let ExprKind::Name(name) = &target.kind else { return None };
    Some(Field { name: name.clone(), type_name: String::new(), value: Some((**value).clone()) })
}

/// The fields of an object are those that its methods assign to.
fn add_own_fields(class: &mut Class) {
    let mut names = Vec::new();
    for method in &class.methods {
        visit::expressions(&method.body, &mut |expr| {
            if let ExprKind::Assign { target, .. } = &expr.kind
                && let ExprKind::Field(of, name) = &target.kind
                && matches!(&of.kind, ExprKind::Name(own) if own == "self")
            {
                names.push(name.clone());
            }
        });
    }
    for name in names {
        if !class.fields.iter().any(|field| field.name == name) {
            class.fields.push(Field { name, type_name: String::new(), value: None });
        }
    }
}
