//! SQL statements with holes, in the form in which they are sent: one text, and where values go into it.
//!
//! ```text
//!   UPDATE t SET n = n -:a WHERE id = :b          text  UPDATE t SET n = n - WHERE id =
//!                                                 holes              18: a (signed)    30: b
//! ```

use super::frame::{Frame, Slot, Slots};
use super::ir::{SqlPart, SqlStatement};
use crate::dialect::Dialect;

/// How much room is made for a value.
const VALUE_LENGTH: usize = 16;

/// A statement that waits for values.
#[derive(Debug)]
pub(super) struct Template {
    /// The text without its holes.
    text: String,
    /// In order.
    holes: Vec<Hole>,
}

#[derive(Debug)]
struct Hole {
    /// Where in the text it is.
    at: usize,
    slot: Slot,
    /// Whether a sign would be taken for something else: `:a-:b` must not become a comment, nor `:a::int2` a cast that
    /// binds before the sign.
    is_sensitive: bool,
}

impl Template {
    pub(super) fn new(statement: &SqlStatement, slots: &mut Slots) -> Template {
        let mut template = Template { text: String::new(), holes: Vec::new() };
        let mut parts = statement.parts.iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                SqlPart::Text(piece) => template.text.push_str(&piece.text),
                SqlPart::Into(_) => {}
                SqlPart::Use(variable) => {
                    let is_cast = matches!(parts.peek(), Some(SqlPart::Text(piece)) if piece.text.starts_with("::"));
                    let is_sensitive = is_cast || template.ends_with_operator();
                    let at = template.text.len();
                    template.holes.push(Hole { at, slot: slots.of(&variable.name), is_sensitive });
                }
            }
        }
        template
    }

    /// Whether an operator stands before the next hole. (A value that ends with one has never been seen.)
    fn ends_with_operator(&self) -> bool {
        let since = self.holes.last().map_or(0, |hole| hole.at);
        self.text[since..].trim_end().ends_with(['+', '-', '*', '/', '%', '^'])
    }

    /// The text with the values of its variables.
    pub(super) fn fill(&self, frame: &Frame, dialect: &dyn Dialect) -> String {
        let mut sql = String::with_capacity(self.text.len() + VALUE_LENGTH * self.holes.len());
        let mut copied = 0;
        for hole in &self.holes {
            sql.push_str(&self.text[copied..hole.at]);
            copied = hole.at;
            let start = sql.len();
            dialect.push_literal(frame.value(hole.slot), &mut sql);
            if hole.is_sensitive && sql[start..].starts_with('-') {
                sql.insert(start, '(');
                sql.push(')');
            }
        }
        sql.push_str(&self.text[copied..]);
        sql
    }
}
