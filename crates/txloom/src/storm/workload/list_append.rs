//! Lists that grow at their end.
//!
//! A list is a text of numbers. An append puts one at its end, in one statement; a read returns the whole list, and with it
//! the order of all writes before it. So nothing is left to guess for the checker, and nothing for a lost update to hide
//! behind (the idea is Elle's: Kingsbury and Alvaro, VLDB 2020).
//!
//! # Limits
//!
//! Lists only grow, and are read as a whole: a long storm wants many keys.

use txloom_core::bulk::Bulk;
use txloom_core::dialect::Construct;
use txloom_core::engine::EngineInfo;
use txloom_core::generate::random::Random;
use txloom_core::value::Value;

use super::super::log::{Item, Log};
use super::{Answer, Keyed, Next, Scale, Transactions, Versions, Workload, keyed};

/// The name of the profile.
pub(super) const NAME: &str = "list-append";

/// How an engine appends to a text.
#[derive(Debug, Clone, Copy)]
enum Concatenation {
    Operator(&'static str),
    Function(&'static str),
}

/// The workload.
#[derive(Debug, Clone, Copy)]
pub struct ListAppend {
    scale: Scale,
    concatenation: Concatenation,
    text_type: &'static str,
}

impl ListAppend {
    /// So many lists, as the engine writes them.
    pub fn new(scale: Scale, engine: &EngineInfo) -> Result<ListAppend, String> {
        let spelling = |construct| engine.dialect.spelling(construct, &engine.version).map(|spelling| spelling.text);
        let operator = spelling(Construct::ConcatOperator).map(Concatenation::Operator);
        let function = || spelling(Construct::Concat).map(Concatenation::Function);
        let concatenation = operator.or_else(function).ok_or("a way to put texts together")?;
        Ok(ListAppend { scale, concatenation, text_type: spelling(Construct::Text).unwrap_or("TEXT") })
    }

    fn append(&self, key: i64, element: i64) -> String {
        let longer = match self.concatenation {
            Concatenation::Operator(operator) => format!("elements {operator} '{element} '"),
            Concatenation::Function(function) => format!("{function}(elements, '{element} ')"),
        };
        format!("UPDATE lists SET elements = {longer} WHERE k = {key}")
    }
}

impl Workload for ListAppend {
    fn name(&self) -> &'static str {
        NAME
    }

    fn setup(&self) -> Vec<String> {
        vec![format!("CREATE TABLE lists (k INT PRIMARY KEY, elements {})", self.text_type)]
    }

    fn population(&self) -> Vec<Box<dyn Bulk + '_>> {
        vec![Box::new(Keyed::new("lists", "elements", self.scale.keys, |cells| cells.text("")))]
    }

    fn session(&self, seed: u64, session: usize) -> Box<dyn Transactions> {
        Box::new(Session {
            workload: *self,
            random: Random::new(seed, &[session as u64]),
            versions: Versions::of(session, self.scale.sessions),
            left: 0,
            last: Op::Read(0),
        })
    }

    fn audit(&self) -> Box<dyn Transactions> {
        Box::new(Audit { keys: self.scale.keys, is_asked: false })
    }

    fn item_name(&self, item: Item) -> String {
        item.key.to_string()
    }
}

/// An operation.
#[derive(Debug, Clone, Copy)]
enum Op {
    Read(i64),
    Append(i64, i64),
}

struct Session {
    workload: ListAppend,
    random: Random,
    versions: Versions,
    /// How many operations the transaction still has.
    left: usize,
    last: Op,
}

impl Transactions for Session {
    fn begin(&mut self) {
        self.left = self.workload.scale.ops;
    }

    fn next(&mut self) -> Next {
        if self.left == 0 {
            return Next::Commit;
        }
        self.left -= 1;
        let key = self.random.below(self.workload.scale.keys) as i64;
        self.last = if self.random.chance(1, 2) { Op::Read(key) } else { Op::Append(key, self.versions.take()) };
        Next::Execute(match self.last {
            Op::Read(key) => format!("SELECT elements FROM lists WHERE k = {key}"),
            Op::Append(key, element) => self.workload.append(key, element),
        })
    }

    fn answered(&mut self, answer: &Answer<'_>, log: &mut Log) {
        match self.last {
            Op::Append(key, _) if answer.changed_nothing() => log.list(item(key), None),
            Op::Append(key, element) => log.append(item(key), element),
            Op::Read(_) if answer.is_error() => {}
            Op::Read(key) => {
                let rows = answer.rows();
                log.list(item(key), rows.first().and_then(|row| elements(row.first()?)));
            }
        }
    }
}

fn item(key: i64) -> Item {
    Item { table: 0, key }
}

/// The elements of a list; `None` if it is none.
fn elements(value: &Value) -> Option<Vec<i64>> {
    match value {
        Value::Text(text) => text.split_ascii_whitespace().map(|word| word.parse().ok()).collect(),
        _ => None,
    }
}

/// Reads all lists at once.
struct Audit {
    keys: usize,
    is_asked: bool,
}

impl Transactions for Audit {
    fn begin(&mut self) {
        self.is_asked = false;
    }

    fn next(&mut self) -> Next {
        match std::mem::replace(&mut self.is_asked, true) {
            true => Next::Commit,
            false => Next::Execute("SELECT k, elements FROM lists".to_string()),
        }
    }

    fn answered(&mut self, answer: &Answer<'_>, log: &mut Log) {
        if answer.is_error() {
            return;
        }
        let mut lists = vec![None; self.keys];
        for (key, value) in answer.rows().iter().filter_map(|row| keyed(row)) {
            if let Some(place) = usize::try_from(key).ok().and_then(|key| lists.get_mut(key)) {
                *place = elements(value);
            }
        }
        lists.into_iter().zip(0..).for_each(|(list, key)| log.list(item(key), list));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_text_of_numbers() {
        let check = |text: &str, expect: Option<&[i64]>| {
            assert_eq!(elements(&Value::text(text)).as_deref(), expect, "{text}");
        };
        check("", Some(&[]));
        check("4 17 ", Some(&[4, 17]));
        check("4 x", None);
        assert_eq!(elements(&Value::Null), None);
    }

    #[test]
    fn each_engine_appends_in_its_way() {
        let of = |concatenation| ListAppend { scale: Scale::default(), concatenation, text_type: "TEXT" }.append(3, 9);
        let operator = of(Concatenation::Operator("||"));
        assert_eq!(operator, "UPDATE lists SET elements = elements || '9 ' WHERE k = 3");
        assert!(of(Concatenation::Function("CONCAT")).contains("CONCAT(elements, '9 ')"));
    }
}
