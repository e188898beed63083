//! Names that machines gave, as people would choose them: `t0` becomes `t`, `c3` and `c7` become `a` and `b`, and
//! sessions are called a, b, c in the order in which they appear.
//!
//! Only names with a number at the end are changed (and sessions of one letter): a word that somebody chose says more
//! than a letter.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{Case, Expect, Item, Line, SessionName, Sql};
use crate::reduce::edit::statements;
use crate::reduce::sql::schema::{is_name, tables};
use crate::reduce::{Pass, Tests};
use crate::schedule::ScheduleEntry;
use crate::sql;

pub(in crate::reduce) struct Names;

/// Old names and new ones.
type Renaming = BTreeMap<String, String>;

impl Pass for Names {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let candidates = [
            with_names(case, &renaming(case)).map(|renamed| with_sessions(&renamed)),
            with_names(case, &renaming(case)),
            Some(with_sessions(case)),
        ];
        let mut renamed = candidates.into_iter().flatten().filter(|renamed| renamed != case);
        renamed.find(|renamed| tests.reproduces(renamed)).unwrap_or_else(|| case.clone())
    }
}

fn is_numbered(name: &str) -> bool {
    name.ends_with(|c: char| c.is_ascii_digit())
}

/// New names for tables and columns. A program's statements cannot be changed, so with one everything keeps its name.
fn renaming(case: &Case) -> Renaming {
    let mut renaming = Renaming::new();
    if case.program.is_some() {
        return renaming;
    }
    let asserts = case.entries.iter().filter_map(|entry| match &entry.line {
        Line::Assert(assert) => Some(assert.sql.as_str()),
        _ => None,
    });
    let texts = statements(case).chain(asserts);
    let words = texts.flat_map(sql::tokens).map(|token| token.text.trim_matches(['"', '`']).to_lowercase());
    let mut taken: BTreeSet<String> = words.collect();
    let mut rename = |name: &String, letters: &mut dyn Iterator<Item = char>| {
        if is_numbered(name) && !renaming.contains_key(name) {
            let free = letters.map(String::from).find(|letter| taken.insert(letter.clone()));
            renaming.extend(free.map(|letter| (name.clone(), letter)));
        }
    };
    let tables = tables(case);
    tables.iter().for_each(|table| rename(&table.name, &mut ('t'..='z')));
    tables.iter().flat_map(|table| &table.columns).for_each(|column| rename(column, &mut ('a'..='s')));
    renaming
}

/// The case with other names of tables and columns.
fn with_names(case: &Case, renaming: &Renaming) -> Option<Case> {
    let mut changed = case.clone();
    for entry in &mut changed.entries {
        match &mut entry.line {
            Line::Init(sql, _) | Line::Step(_, Item::Sql(sql), _) => {
                *sql = Sql::new(&renamed(sql.as_str(), renaming)).ok()?;
            }
            Line::Assert(assert) => assert.sql = renamed(&assert.sql, renaming),
            Line::Final(expected) => expected.table = renamed(&expected.table, renaming),
            _ => {}
        }
    }
    Some(changed)
}

fn renamed(text: &str, renaming: &Renaming) -> String {
    let mut changed = String::new();
    let mut end = 0;
    for token in sql::tokens(text) {
        if let Some((_, new)) = renaming.iter().find(|(old, _)| is_name(&token, old)) {
            changed.push_str(&text[end..token.span.start]);
            changed.push_str(new);
            end = token.span.end;
        }
    }
    changed.push_str(&text[end..]);
    changed
}

/// The case with its sessions called a, b, c, …, as far as they were not called by words.
fn with_sessions(case: &Case) -> Case {
    let sessions = case.sessions();
    let is_plain = |name: &SessionName| name.as_str().len() == 1 || is_numbered(name.as_str());
    let taken =
        |letter: &SessionName| sessions.iter().any(|session| session.name == *letter && !is_plain(&session.name));
    let letters = ('a'..='z').filter_map(|letter| SessionName::new(&letter.to_string())).filter(|name| !taken(name));
    let plain = sessions.iter().map(|session| session.name.clone()).filter(is_plain);
    let renaming: BTreeMap<SessionName, SessionName> = plain.zip(letters).collect();
    let rename = |name: &mut SessionName| {
        if let Some(new) = renaming.get(name) {
            *name = new.clone();
        }
    };
    let mut changed = case.clone();
    for entry in &mut changed.entries {
        match &mut entry.line {
            Line::Isolation(Some(name), _) | Line::Node(name, _) | Line::First(name) => rename(name),
            Line::Schedule(schedule) => schedule.0.iter_mut().for_each(|entry| match entry {
                ScheduleEntry::Step(name) => rename(name),
                ScheduleEntry::Event(_) => {}
            }),
            Line::Step(name, _, expectations) => {
                rename(name);
                for expectation in expectations {
                    if let Expect::Resumes(names) = &mut expectation.expect {
                        names.iter_mut().for_each(rename);
                    }
                }
            }
            _ => {}
        }
    }
    changed
}
