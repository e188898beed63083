//! Java: its syntax tree → the tree of host programs.
//!
//! tree-sitter reads the file, also one with mistakes in it: what it cannot read is said, and the rest is there. What we
//! know of the language stands in two places: the shape of its syntax here, the words of its database library in `jdbc`.
//!
//! * `text`: strings, text blocks and numbers
//! * `expressions`, `statements`: one function per kind of node
//! * `jdbc`: the vocabulary

mod expressions;
mod statements;
mod text;
pub(crate) mod jdbc;
#[cfg(test)]
mod styles;
#[cfg(test)]
mod tests;

use tree_sitter::Node;
use txloom_core::program::Span;

use super::host::tree::{Class, Expr, ExprKind, Field, Method, Nature, Parameter, Stmt, StmtKind, Unit};
use super::syntax::{self, Source};

/// Reads a file.
pub(crate) fn read(text: &str) -> Unit {
    let tree = match syntax::parse(text, &tree_sitter_java::LANGUAGE.into()) {
        Ok(tree) => tree,
        Err(reason) => return Unit::unread(reason),
    };
    let mut reader = Reader { source: Source::new(text, "Java"), found: Vec::new(), outer: None };
    reader.source.mistakes(tree.root_node());
    reader.classes(tree.root_node());
    Unit { classes: reader.found, unread: reader.source.unread }
}

/// A file that is being read.
struct Reader<'s> {
    source: Source<'s>,
    /// The classes that have been read.
    found: Vec<Class>,
    /// The class that is being read.
    outer: Option<String>,
}

impl<'s> Reader<'s> {
    fn span(&self, node: Node<'_>) -> Span {
        self.source.span(node)
    }

    fn text(&self, node: Node<'_>) -> &'s str {
        self.source.text(node)
    }

    fn field_text(&self, node: Node<'_>, field: &str) -> String {
        self.source.field(node, field).to_string()
    }

    /// All classes, also those that a mistake has torn out of others.
    fn classes(&mut self, root: Node<'_>) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if is_class(node) {
                self.class(node, Nature::Plain);
                continue;
            }
            let mut walk = node.walk();
            let inner = node.named_children(&mut walk).filter(|child| is_class(*child) || child.kind() == "ERROR");
            let inner: Vec<Node<'_>> = inner.collect();
            open.extend(inner.into_iter().rev());
        }
        self.loose(root);
    }

    /// Methods that a mistake has torn out of their class.
    fn loose(&mut self, root: Node<'_>) {
        let mut class = Class { name: "Main".to_string(), ..Class::default() };
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            let mut walk = node.walk();
            for child in node.named_children(&mut walk) {
                match child.kind() {
                    "method_declaration" => self.method(child, &mut class),
                    "local_variable_declaration" | "field_declaration" => self.fields(child, &mut class),
                    "ERROR" => open.push(child),
                    _ => {}
                }
            }
        }
        if !class.methods.is_empty() {
            self.found.push(class);
        }
    }

    fn class(&mut self, node: Node<'_>, nature: Nature) {
        let name = self.field_text(node, "name");
        let parent = node.child_by_field_name("superclass").and_then(|parent| parent.named_child(0));
        let parent = parent.map(|parent| simple(self.text(parent)));
        let is_abstract = self.modifiers(node).contains(&"abstract") || node.kind() == "interface_declaration";
        let nature = if is_abstract && nature == Nature::Plain { Nature::Abstract } else { nature };
        let interfaces = self.interfaces(node);
        let mut class = Class { name, parent, interfaces, nature, ..Class::default() };
        if let Some(parameters) = node.child_by_field_name("parameters").filter(|_| node.kind() == "record_declaration")
        {
            for parameter in self.parameters(parameters) {
                let Parameter { name, type_name, .. } = parameter;
                class.fields.push(Field { name, type_name, value: None });
            }
        }
        let Some(body) = node.child_by_field_name("body") else { return };
        self.members(body, class);
    }

    /// What stands between the braces of a class.
    fn members(&mut self, body: Node<'_>, mut class: Class) {
        class.outer = self.outer.replace(class.name.clone());
        let mut open = vec![body];
        while let Some(body) = open.pop() {
            let mut walk = body.walk();
            let members: Vec<Node<'_>> = body.named_children(&mut walk).collect();
            for member in members {
                match member.kind() {
                    "field_declaration" | "constant_declaration" => self.fields(member, &mut class),
                    "method_declaration" | "constructor_declaration" | "compact_constructor_declaration" => {
                        self.method(member, &mut class);
                    }
                    "enum_constant" => self.enum_constant(member, &mut class),
                    "block" => class.initializers.push(self.block(member)),
                    "static_initializer" => {
                        let block = member.named_child(0).map(|block| self.block(block));
                        class.initializers.extend(block);
                    }
                    "enum_body_declarations" | "ERROR" => open.push(member),
                    _ if is_class(member) => drop(self.deeper(member, |this| this.class(member, Nature::Plain))),
                    _ => {}
                }
            }
        }
        self.outer = class.outer.clone();
        self.found.push(class);
    }

    /// A class without a name, in an expression or a method; gives the name that it goes by.
    fn nameless(&mut self, body: Node<'_>, parent: &str) -> String {
        let name = format!("{parent}${}", body.start_byte());
        let parent = Some(parent.to_string());
        let class = Class { name: name.clone(), parent: parent.clone(), nature: Nature::Local, ..Class::default() };
        let class = Class { interfaces: parent.into_iter().collect(), ..class };
        self.deeper(body, |this| this.members(body, class));
        name
    }

    /// A constant of an enumeration: an object, or just its name.
    fn enum_constant(&mut self, node: Node<'_>, class: &mut Class) {
        let (name, span) = (self.field_text(node, "name"), self.span(node));
        let arguments = self.arguments(node);
        let own = node.child_by_field_name("body").map(|body| self.nameless(body, &class.name));
        let kind = match own {
            None if arguments.is_empty() => ExprKind::Text(name.clone()),
            own => ExprKind::New { class: own.unwrap_or_else(|| class.name.clone()), arguments },
        };
        class.constants.push(name.clone());
        class.fields.push(Field { name, type_name: class.name.clone(), value: Some(Expr { kind, span }) });
    }

    fn interfaces(&self, node: Node<'_>) -> Vec<String> {
        let mut walk = node.walk();
        let lists = node
            .named_children(&mut walk)
            .filter(|child| matches!(child.kind(), "super_interfaces" | "extends_interfaces"));
        lists.flat_map(|list| self.text(list).split([',', ' ', '\n']).map(simple).collect::<Vec<_>>()).collect()
    }

    fn modifiers(&self, node: Node<'_>) -> Vec<&'_ str> {
        let mut walk = node.walk();
        let modifiers = node.children(&mut walk).find(|child| child.kind() == "modifiers");
        modifiers.map(|modifiers| self.text(modifiers).split_whitespace().collect()).unwrap_or_default()
    }

    fn fields(&mut self, node: Node<'_>, class: &mut Class) {
        for statement in self.declarations(node) {
            if let StmtKind::Declare { name, type_name, value } = statement.kind {
                class.fields.push(Field { name, type_name, value });
            }
        }
    }

    fn method(&mut self, node: Node<'_>, class: &mut Class) {
        let is_public = !self.modifiers(node).contains(&"private");
        let parameters = node.child_by_field_name("parameters");
        let parameters = parameters.map(|parameters| self.parameters(parameters)).unwrap_or_default();
        let is_constructor = node.kind() != "method_declaration";
        let Some(body) = node.child_by_field_name("body") else { return };
        let result = self.field_text(node, "type");
        class.methods.push(Method {
            name: self.field_text(node, "name"),
            parameters,
            result: if result == "void" { String::new() } else { result },
            body: self.block(body),
            is_public,
            is_constructor,
            span: self.span(node),
        });
    }

    fn parameters(&self, node: Node<'_>) -> Vec<Parameter> {
        let mut walk = node.walk();
        let mut parameters = Vec::new();
        for child in node.named_children(&mut walk) {
            let takes_rest = child.kind() == "spread_parameter";
            if child.kind() != "formal_parameter" && !takes_rest {
                continue;
            }
            let span = self.span(child);
            if takes_rest {
                let mut inner = child.walk();
                let parts: Vec<Node<'_>> = child.named_children(&mut inner).collect();
                let declarator = parts.iter().find(|part| part.kind() == "variable_declarator");
                let name = declarator.map(|declarator| self.field_text(*declarator, "name")).unwrap_or_default();
                parameters.push(Parameter { name, type_name: "Object[]".to_string(), takes_rest, default: None, span });
                continue;
            }
            let dimensions = self.field_text(child, "dimensions");
            let type_name = format!("{}{dimensions}", self.field_text(child, "type"));
            let name = self.field_text(child, "name");
            parameters.push(Parameter { name, type_name, takes_rest, default: None, span });
        }
        parameters
    }

    /// Does something one level deeper; too deep, it is left out.
    fn deeper<T>(&mut self, node: Node<'_>, inside: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if !self.source.enter(node) {
            return None;
        }
        let result = inside(self);
        self.source.leave();
        Some(result)
    }

    fn unknown(&self, node: Node<'_>) -> Expr {
        self.source.unknown(node)
    }

    fn statement_of(&self, kind: StmtKind, node: Node<'_>) -> Stmt {
        self.source.statement(kind, node)
    }
}

fn is_class(node: Node<'_>) -> bool {
    matches!(node.kind(), "class_declaration" | "record_declaration" | "enum_declaration" | "interface_declaration")
}

/// A type without its package and what it is made of.
pub(super) fn simple(type_name: &str) -> String {
    let plain = type_name.split('<').next().unwrap_or(type_name);
    plain.rsplit('.').next().unwrap_or(plain).trim().to_string()
}
