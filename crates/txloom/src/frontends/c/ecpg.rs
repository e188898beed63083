//! The words that embedded statements become, and the types of C.

use super::super::host::tree::Call;
use super::super::host::vocabulary::{Act, Marks, Sort, Vocabulary};

/// C with embedded SQL.
pub(crate) struct Ecpg;

/// What each word does.
const ACTS: &[(&str, Act)] = &[
    ("__send__", Act::Execute),
    ("__query__", Act::Query),
    ("__into__", Act::Into),
    ("__prepare__", Act::Prepare),
    ("__bind__", Act::BindAll),
    ("__next__", Act::Next),
    ("__found__", Act::Found),
    ("__count__", Act::Count),
    ("__commit__", Act::Commit),
    ("__rollback__", Act::Rollback),
    ("__begin__", Act::Begin),
    ("__set_autocommit__", Act::AutoCommit),
];

/// Types, with what they are good for and what SQL calls them.
const TYPES: &[(&str, Sort, &str)] = &[
    ("int", Sort::Whole, "INT"),
    ("unsigned", Sort::Whole, "INT"),
    ("unsigned int", Sort::Whole, "INT"),
    ("short", Sort::Whole, "SMALLINT"),
    ("short int", Sort::Whole, "SMALLINT"),
    ("unsigned short", Sort::Whole, "INT"),
    ("long", Sort::Whole, "BIGINT"),
    ("long int", Sort::Whole, "BIGINT"),
    ("long long", Sort::Whole, "BIGINT"),
    ("long long int", Sort::Whole, "BIGINT"),
    ("unsigned long", Sort::Whole, "BIGINT"),
    ("unsigned long long", Sort::Whole, "BIGINT"),
    ("size_t", Sort::Whole, "BIGINT"),
    ("int16_t", Sort::Whole, "SMALLINT"),
    ("int32_t", Sort::Whole, "INT"),
    ("int64_t", Sort::Whole, "BIGINT"),
    ("uint32_t", Sort::Whole, "BIGINT"),
    ("uint64_t", Sort::Whole, "BIGINT"),
    ("float", Sort::Real, "FLOAT"),
    ("double", Sort::Real, "DOUBLE"),
    ("long double", Sort::Real, "DOUBLE"),
    ("decimal", Sort::Real, "DECIMAL"),
    ("numeric", Sort::Real, "DECIMAL"),
    ("bool", Sort::Bool, "BOOLEAN"),
    ("_Bool", Sort::Bool, "BOOLEAN"),
    ("char", Sort::Text, "CHAR"),
    ("char[]", Sort::Text, "VARCHAR"),
    ("VARCHAR", Sort::Text, "VARCHAR"),
    ("varchar", Sort::Text, "VARCHAR"),
    ("date", Sort::Time, "DATE"),
    ("timestamp", Sort::Time, "TIMESTAMP"),
];

fn known(type_name: &str) -> Option<&'static (&'static str, Sort, &'static str)> {
    TYPES.iter().find(|(name, _, _)| *name == type_name)
}

impl Vocabulary for Ecpg {
    fn act(&self, _on: Sort, call: &Call) -> Option<Act> {
        self.act_anywhere(call)
    }

    fn act_anywhere(&self, call: &Call) -> Option<Act> {
        ACTS.iter().find(|(known, _)| *known == call.name).map(|(_, act)| *act)
    }

    fn sort(&self, type_name: &str) -> Sort {
        let is_list = type_name.ends_with("[]");
        known(type_name).map_or(if is_list { Sort::List } else { Sort::Object }, |(_, sort, _)| *sort)
    }

    fn sql_type(&self, type_name: &str) -> &'static str {
        known(type_name).map_or("VARCHAR", |(_, _, sql)| *sql)
    }

    fn result_sort(&self, _getter: &str) -> Sort {
        Sort::Object
    }

    fn setter_sort(&self, _setter: &str) -> Sort {
        Sort::Object
    }

    fn execute_gives_statement(&self) -> bool {
        true
    }

    fn level(&self, _constant: &str) -> Option<&'static str> {
        None
    }

    fn marks(&self) -> &'static [Marks] {
        &[Marks::Colon, Marks::Question]
    }

    fn divides_whole(&self) -> bool {
        true
    }
}
