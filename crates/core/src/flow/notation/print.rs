//! From an application back to its notation: `parse(application.to_string())` is the same application, but for lines.

use std::fmt;

use super::END;
use crate::flow::input::{Application, Element, Node, Operation, Procedure, Verb};

impl fmt::Display for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.procedures.iter().try_for_each(|procedure| procedure.fmt(f))
    }
}

impl fmt::Display for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {}", self.name)?;
        for node in &self.nodes {
            writeln!(f, "{}: {}", node.name, joined(&node.operations, "; "))?;
        }
        self.nodes.iter().try_for_each(|node| writeln!(f, "{} -> {}", node.name, self.following(node)))
    }
}

impl Procedure {
    /// `T2 | end`
    fn following(&self, node: &Node) -> String {
        let names = node.successors.iter().map(|at| self.nodes[*at].name.as_str());
        let end = (node.may_end || node.successors.is_empty()).then_some(END);
        names.chain(end).collect::<Vec<_>>().join(" | ")
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.certain {
            f.write_str("maybe ")?;
        }
        match self.verb {
            Verb::Select => write!(f, "use {}", joined(&self.values, ", "))?,
            Verb::Decide => write!(f, "if {}", joined(&self.values, ", "))?,
            Verb::Assign => write!(f, "set {}", self.defines.join(", "))?,
            Verb::Update => write!(f, "def {}", joined(&self.writes, ", "))?,
            Verb::Insert => write!(f, "insert {}", table(&self.writes))?,
            Verb::Delete => write!(f, "delete {}", table(&self.writes))?,
        }
        if !self.values.is_empty() && !matches!(self.verb, Verb::Select | Verb::Decide) {
            write!(f, " <- {}", joined(&self.values, ", "))?;
        }
        if !self.choice.is_empty() {
            write!(f, " key {}", joined(&self.choice, ", "))?;
        }
        if !self.defines.is_empty() && self.verb != Verb::Assign {
            write!(f, " -> {}", self.defines.join(", "))?;
        }
        Ok(())
    }
}

fn joined<T: fmt::Display>(items: &[T], separator: &str) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(separator)
}

/// `table(a, b)`
fn table(writes: &[Element]) -> String {
    let columns: Vec<&str> = writes
        .iter()
        .filter_map(|element| match element {
            Element::Column { column, .. } => Some(column.as_str()),
            Element::Rows { .. } => None,
        })
        .collect();
    format!("{}({})", writes.first().map_or("", Element::table), columns.join(", "))
}
