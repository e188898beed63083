//! What a statement does to the rows of a table, as far as others can notice.

use std::collections::BTreeSet;

use super::constants::Known;
use super::keys::{self, Row, Rows};
use super::{Column, Options};
use crate::program::access::{Access, EVERY, Effect, Lock, Node, Reach, TableAccess};
use crate::program::schema::{Action, ForeignKey, Schema, Table};
use crate::search::used::Needs;

/// How firmly a statement takes hold of the rows that it touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grip {
    /// It looks at them.
    Look,
    /// It looks up whether a row is there that a foreign key needs, or rows that need it.
    Refer,
    /// It locks them, shared: `FOR SHARE`.
    Share,
    /// It locks them: `FOR UPDATE`.
    Lock,
    /// It changes them.
    Write,
    /// It adds or removes them, or changes their keys.
    Exist,
}

/// The statement that a look is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// A query.
    Query,
    /// `INSERT … SELECT`, or the UPDATE of one table.
    Fill,
    /// Another write: a DELETE, an INSERT of values that a query gives.
    Write,
}

impl Within {
    fn of(access: &Access) -> Within {
        let has = |effect: Effect| access.tables.iter().any(|one| one.effect == effect);
        let is_of_one = access.selection.as_ref().is_some_and(|selection| selection.from.len() == 1);
        if access.tables.iter().all(|one| one.effect == Effect::Read) {
            Within::Query
        } else if (has(Effect::Insert) && access.selection.is_some()) || (has(Effect::Update) && is_of_one) {
            Within::Fill
        } else {
            Within::Write
        }
    }
}

/// What a statement does to the rows of one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Touch {
    /// The table, by its plain name.
    pub table: String,
    /// How firmly it takes hold of them.
    pub grip: Grip,
    /// What it is a part of.
    pub within: Within,
    /// The lock that a query asks for, if it does.
    pub lock: Option<Lock>,
    /// Which row it is, if there is one, and always the same.
    pub row: Option<Row>,
    /// The columns that are read, and count.
    pub(super) reads: BTreeSet<String>,
    /// Whether it is read which rows there are.
    pub(super) reads_existence: bool,
    pub(super) writes: BTreeSet<String>,
    /// The columns beyond the primary key that decide which rows are touched.
    pub(super) tests: BTreeSet<String>,
    pub(super) known: Known,
    /// Rows are added, and nothing is looked for: with these keys, complete ones.
    pub(super) inserts: Option<Vec<Vec<String>>>,
}

impl Touch {
    /// Whether it writes to the table.
    pub fn is_write(&self) -> bool {
        self.grip >= Grip::Write
    }

    /// Whether it touches the row of its key, if that is there, whatever else is in it.
    pub fn is_by_key_alone(&self) -> bool {
        self.tests.is_empty()
    }

    /// Whether a change in these columns may decide if a row is touched: before it, or behind it, the row may be none of
    /// those that are locked.
    pub fn may_miss(&self, columns: &[Column]) -> bool {
        let decides = |column: &Column| match column {
            Column::Existence => true,
            Column::Named(name) => self.tests.contains(name),
        };
        self.inserts.is_none() && self.grip != Grip::Refer && columns.iter().any(decides)
    }

    fn writes_existence(&self) -> bool {
        self.grip == Grip::Exist
    }

    /// In what the reads of this one meet the writes of another one.
    pub(super) fn read_of(&self, writer: &Touch) -> BTreeSet<Column> {
        let mut columns = shared(&self.reads, &writer.writes);
        if self.reads_existence && writer.writes_existence() {
            columns.insert(Column::Existence);
        }
        columns
    }

    /// In what the writes of two meet.
    pub(super) fn overwritten_by(&self, other: &Touch) -> BTreeSet<Column> {
        let mut columns = shared(&self.writes, &other.writes);
        if self.writes_existence() && other.writes_existence() {
            columns.insert(Column::Existence);
        }
        columns
    }
}

/// The columns in both; one of a table whose columns are not known may be any.
fn shared(a: &BTreeSet<String>, b: &BTreeSet<String>) -> BTreeSet<Column> {
    let (any_a, any_b) = (a.contains(EVERY), b.contains(EVERY));
    let in_both = a.intersection(b);
    let by_a = b.iter().filter(|_| any_a);
    let by_b = a.iter().filter(|_| any_b);
    in_both.chain(by_a).chain(by_b).cloned().map(Column::Named).collect()
}

/// Whether two touches of a table may be of the same row; `fixed` are the columns that never change.
pub(super) fn may_meet(a: &Touch, b: &Touch, table: Option<&Table>, fixed: &BTreeSet<String>) -> bool {
    if let (Some(a), Some(b)) = (&a.inserts, &b.inserts) {
        // Two new rows are the same only if their keys are.
        if !a.iter().any(|key| b.contains(key)) {
            return false;
        }
    }
    let primary = table.map(|table| table.primary_key.as_slice()).unwrap_or_default();
    let adds = a.grip == Grip::Exist || b.grip == Grip::Exist;
    let counts = |column: &str| {
        let is_key = primary.iter().any(|key| key == column);
        is_key || (fixed.contains(column) && (primary.is_empty() || !adds))
    };
    !a.known.contradicts(&b.known, counts)
}

/// What is needed to tell what a statement touches.
pub(super) struct Toucher<'a> {
    pub(super) schema: &'a Schema,
    pub(super) options: Options,
    pub(super) rows: Rows,
}

impl Toucher<'_> {
    /// What a node touches; `procedure` is the position of its procedure, and `stable` are variables with one value.
    pub(super) fn touches(
        &mut self,
        procedure: usize,
        node: &Node,
        needs: &Needs,
        stable: &BTreeSet<&str>,
    ) -> Vec<Touch> {
        let mut touches = Vec::new();
        let within = Within::of(&node.access);
        for (at, access) in node.access.tables.iter().enumerate() {
            touches.push(Touch { within, ..self.touch(procedure, access, at, needs, stable) });
            if self.options.references && access.effect != Effect::Read {
                self.parents(procedure, access, stable, &mut touches);
                self.children(access, &mut touches);
            }
        }
        touches
    }

    fn touch(
        &mut self,
        procedure: usize,
        access: &TableAccess,
        at: usize,
        needs: &Needs,
        stable: &BTreeSet<&str>,
    ) -> Touch {
        let counts = |needs: &Needs| self.options.external || needs.rows;
        let looks = access.reach != Reach::Nothing && counts(needs);
        let value = |column: &&String| self.options.external || needs.column(access, column);
        let mut reads: BTreeSet<String> = access.reads.iter().filter(value).cloned().collect();
        if looks {
            reads.extend(access.tests.iter().cloned());
        }
        let grip = match (access.effect, access.lock) {
            (Effect::Read, None | Some(Lock::Release)) => Grip::Look,
            (Effect::Read, Some(Lock::Share)) => Grip::Share,
            (Effect::Read, Some(Lock::Update | Lock::Session)) => Grip::Lock,
            _ if access.writes_existence(self.schema) => Grip::Exist,
            _ => Grip::Write,
        };
        let key = keys::key(access, self.schema, stable);
        let primary = self.schema.table(&access.table).map(|table| table.primary_key.as_slice()).unwrap_or_default();
        Touch {
            tests: access.tests.iter().filter(|column| !primary.contains(column)).cloned().collect(),
            table: access.table.clone(),
            grip,
            within: Within::Query,
            lock: access.lock,
            row: key.map(|key| self.rows.row(procedure, &access.table, key)),
            reads,
            reads_existence: looks || (self.options.external && self.has_full_key(access)),
            writes: self.written(access, grip),
            known: Known::of(access, at),
            inserts: (access.reach == Reach::Nothing).then(|| self.complete_keys(access)),
        }
    }

    /// Whether an INSERT gives values to the whole primary key: then it finds out whether that is taken. What comes of
    /// it, success or failure, goes to the caller, as other reads do that decide nothing.
    fn has_full_key(&self, access: &TableAccess) -> bool {
        let primary = self.schema.table(&access.table).map(|table| table.primary_key.as_slice()).unwrap_or_default();
        access.effect == Effect::Insert
            && !primary.is_empty()
            && self.complete_keys(access).iter().any(|key| key.as_slice() == primary)
    }

    /// Who changes a key, writes a row anew.
    fn written(&self, access: &TableAccess, grip: Grip) -> BTreeSet<String> {
        let mut writes = access.writes.clone();
        if let Some(table) = self.schema.table(&access.table).filter(|_| grip == Grip::Exist) {
            writes.extend(table.columns.iter().map(|column| column.name.clone()));
        }
        writes
    }

    /// The keys that an INSERT gives values to, on which two inserted rows may collide. Stores know only the primary
    /// key.
    fn complete_keys(&self, access: &TableAccess) -> Vec<Vec<String>> {
        let Some(table) = self.schema.table(&access.table) else { return Vec::new() };
        let is_given = |column: &String| {
            let has_default = table.column(column).is_some_and(|column| column.default.is_some() && !column.numbered);
            has_default || access.assigned.iter().any(|assigned| assigned.column == *column)
        };
        let keys = table.keys().filter(|key| self.options.references || *key == table.primary_key.as_slice());
        keys.filter(|key| key.iter().all(is_given)).map(<[String]>::to_vec).collect()
    }

    /// Who adds a row, or changes what it refers to, looks whether that is there.
    fn parents(&mut self, procedure: usize, access: &TableAccess, stable: &BTreeSet<&str>, touches: &mut Vec<Touch>) {
        let Some(table) = self.schema.table(&access.table) else { return };
        for reference in table.foreign_keys.iter().filter(|_| access.effect != Effect::Delete) {
            let is_assigned = |column: &String| access.assigned.iter().any(|assigned| assigned.column == *column);
            if !reference.columns.iter().any(is_assigned) {
                continue;
            }
            let terms: Vec<_> = reference.columns.iter().map(|column| keys::inserted(access, column)).collect();
            let named = reference.referred.iter().zip(&terms).filter_map(|(column, term)| Some((column, (*term)?)));
            let known = Known::of_values(named);
            let parent = self.schema.table(&reference.table);
            let is_primary = parent.is_some_and(|parent| parent.primary_key == reference.referred);
            let key: Option<keys::Key> = terms.iter().map(|term| keys::part((*term)?, stable)).collect();
            let row = key.filter(|_| is_primary).map(|key| self.rows.row(procedure, &reference.table, key));
            touches.push(Touch { known, row, ..looked_up(&reference.table, []) });
        }
    }

    /// Who removes a row, or changes its key, looks for rows that refer to it, and may take them along.
    fn children(&self, access: &TableAccess, touches: &mut Vec<Touch>) {
        let mut done = BTreeSet::new();
        match access.effect {
            Effect::Delete => self.removed(&access.table, touches, &mut done),
            Effect::Update | Effect::Upsert => self.rekeyed(access, touches),
            Effect::Read | Effect::Insert => {}
        }
    }

    fn references_to(&self, table: &str) -> Vec<(&Table, &ForeignKey)> {
        let all = self.schema.tables.values().flat_map(|from| from.foreign_keys.iter().map(move |key| (from, key)));
        all.filter(|(_, key)| key.table == table).collect()
    }

    fn removed(&self, table: &str, touches: &mut Vec<Touch>, done: &mut BTreeSet<String>) {
        if !done.insert(table.to_string()) {
            return;
        }
        for (from, reference) in self.references_to(table) {
            touches.push(affected(from, reference, reference.on_delete));
            if reference.on_delete == Action::Cascade {
                self.removed(&from.name, touches, done);
            }
        }
    }

    fn rekeyed(&self, access: &TableAccess, touches: &mut Vec<Touch>) {
        let changes = |assigned: &str| access.assigned.iter().any(|one| one.column == assigned);
        for (from, reference) in self.references_to(&access.table) {
            if reference.referred.iter().any(|column| changes(column)) {
                let action = reference.on_update;
                let action = if action == Action::Cascade { Action::SetDefault } else { action };
                touches.push(affected(from, reference, action));
            }
        }
    }
}

/// What happens to rows when what they refer to goes or changes.
fn affected(table: &Table, reference: &ForeignKey, action: Action) -> Touch {
    let looks = looked_up(&table.name, reference.columns.iter().cloned());
    match action {
        Action::Restrict => looks,
        Action::SetNull | Action::SetDefault => {
            Touch { grip: Grip::Write, writes: reference.columns.iter().cloned().collect(), ..looks }
        }
        Action::Cascade => {
            let writes = table.columns.iter().map(|column| column.name.clone()).collect();
            Touch { grip: Grip::Exist, writes, ..looks }
        }
    }
}

/// Rows that are looked up for a foreign key.
fn looked_up(table: &str, columns: impl IntoIterator<Item = String>) -> Touch {
    Touch {
        table: table.to_string(),
        grip: Grip::Refer,
        within: Within::Write,
        lock: None,
        row: None,
        reads: columns.into_iter().collect(),
        reads_existence: true,
        writes: BTreeSet::new(),
        tests: BTreeSet::new(),
        known: Known::default(),
        inserts: None,
    }
}
