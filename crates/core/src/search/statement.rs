//! What SQL does in the small database.

use super::answer::{self, Line};
use super::run::{Cursor, Effect, Run, View};
use super::scene::Scene;
use super::world::{Row, implies, position, same};
use crate::program::access::{Effect as Deed, Node, Selected, Selection, TableAccess};
use crate::program::code::OperationKind;
use crate::program::ir::{IntoClause, IntoRule, Variable};
use crate::program::paths::expression::Scope;
use crate::program::paths::symbol::Symbol;
use crate::program::predicate::Term;
use crate::solve::{Bool, Int};
use crate::value::Value;

/// A row of each table of a statement: the position of the access, the table, the slot.
type Combination = Vec<(usize, usize, usize)>;

/// What a statement did.
struct Done {
    /// How many rows it answers with, or has changed.
    count: Int,
    lines: Vec<Line>,
    effects: Vec<Effect>,
}

impl Run<'_, '_> {
    /// Executes a statement or opens a cursor.
    pub(super) fn statement(&mut self, instance: usize, node: usize, found: &Node) {
        self.begin(instance);
        let view = self.view(instance, found);
        let Some(done) = self.carry_out(instance, node, found, &view) else { return };
        self.note(instance, node, view, done.effects);
        self.counted(instance, done.count);
        match &found.operation.kind {
            OperationKind::Open(cursor, _) => {
                let mut lines = done.lines;
                if found.access.selection.as_ref().is_none_or(|selection| selection.order.is_empty()) {
                    answer::sort(self.symbols, &mut lines, &[]);
                }
                self.locals[instance].cursors.insert(cursor.clone(), Cursor { lines, ..Cursor::default() });
            }
            OperationKind::Send(sql) => match sql.into_clause() {
                Some(into) => self.assign(instance, node, found, into, done.count, &done.lines),
                None => self.locals[instance].shown.push(done.lines),
            },
            _ => {}
        }
    }

    /// The rows of the tables that a statement touches.
    fn view(&mut self, instance: usize, found: &Node) -> View {
        let mut view = View::new();
        for access in &found.access.tables {
            if let Some(table) = self.world.table(&access.table)
                && !view.contains_key(&table)
            {
                let rows = self.rows_seen(instance, table);
                view.insert(table, rows);
            }
        }
        view
    }

    /// `None` if the call has failed.
    fn carry_out(&mut self, instance: usize, node: usize, found: &Node, view: &View) -> Option<Done> {
        let target = found.access.tables.iter().position(|access| access.effect != Deed::Read);
        match target {
            None => Some(self.query(instance, found, view)),
            Some(at) => match found.access.tables[at].effect {
                Deed::Insert | Deed::Upsert => self.insert(instance, node, found, at, view),
                _ => self.change(instance, node, found, at, view),
            },
        }
    }

    fn counted(&mut self, instance: usize, count: Int) {
        let zero = self.symbols.problem.constant(0);
        self.locals[instance].count = count;
        self.locals[instance].found = self.symbols.problem.less(zero, count);
    }

    // Queries.

    fn query(&mut self, instance: usize, found: &Node, view: &View) -> Done {
        let lines = match &found.access.selection {
            Some(selection) if selection.is_exact => self.select(instance, found, selection, view),
            _ => self.unknown_lines(found),
        };
        let count = answer::count(self.symbols, lines.iter().map(|line| line.there));
        Done { count, lines, effects: Vec::new() }
    }

    /// A query that cannot be computed has a row or none, of which nothing is known.
    fn unknown_lines(&mut self, found: &Node) -> Vec<Line> {
        if found.access.outputs.is_empty() && found.access.tables.is_empty() {
            return Vec::new();
        }
        self.is_exact = false;
        let there = self.symbols.opaque_truth().is_true;
        let values = found.access.outputs.iter().map(|_| self.symbols.opaque()).collect();
        vec![Line { there, values, order: Vec::new() }]
    }

    fn select(&mut self, instance: usize, found: &Node, selection: &Selection, view: &View) -> Vec<Line> {
        let Some(combinations) = self.combinations(found, selection, view) else { return self.unknown_lines(found) };
        let mut chosen = Vec::new();
        for combination in &combinations {
            chosen.push((self.is_chosen(instance, found, selection, combination, view), combination));
        }
        if selection.aggregates() {
            return vec![self.aggregated(instance, found, selection, &chosen, view)];
        }
        let mut lines = Vec::new();
        for (there, combination) in chosen {
            let mut values = Vec::new();
            for column in &selection.columns {
                let Selected::Value(term) = column else { continue };
                values.push(self.term(instance, found, combination, view, term));
            }
            let order = selection.order.iter().map(|one| self.term(instance, found, combination, view, &one.term));
            let order = order.collect();
            lines.push(Line { there, values, order });
        }
        if !selection.order.is_empty() || selection.limit.is_some() {
            answer::sort(self.symbols, &mut lines, &selection.order);
        }
        match selection.limit.as_ref().map(limit_of) {
            Some(Some(limit)) => lines.truncate(limit),
            Some(None) => self.is_exact = false,
            None => {}
        }
        lines
    }

    fn aggregated(
        &mut self,
        instance: usize,
        found: &Node,
        selection: &Selection,
        chosen: &[(Bool, &Combination)],
        view: &View,
    ) -> Line {
        let mut values = Vec::new();
        for column in &selection.columns {
            values.push(match column {
                Selected::Aggregate { function, over, distinct } => {
                    let mut each = Vec::new();
                    for (there, combination) in chosen {
                        let term = over.as_ref().map(|over| self.term(instance, found, combination, view, over));
                        each.push((*there, term));
                    }
                    answer::aggregate(self.symbols, *function, *distinct, &each)
                }
                Selected::Value(Term::Constant(value)) => self.symbols.constant(value),
                Selected::Value(_) => self.symbols.opaque(),
            });
        }
        Line { there: self.symbols.always, values, order: Vec::new() }
    }

    /// All combinations of rows of a statement's tables; `None` if one of them is not known.
    fn combinations(&self, found: &Node, selection: &Selection, view: &View) -> Option<Vec<Combination>> {
        let mut combinations = vec![Combination::new()];
        for access in selection.from.clone() {
            let table = self.world.table(&found.access.tables.get(access)?.table)?;
            let slots = 0..view.get(&table)?.len();
            let longer = combinations.iter().flat_map(|combination| {
                let with = move |slot: usize| combination.iter().copied().chain([(access, table, slot)]).collect();
                slots.clone().map(with)
            });
            combinations = longer.collect();
        }
        Some(combinations)
    }

    /// Whether rows are all there and meet the condition.
    fn is_chosen(
        &mut self,
        instance: usize,
        found: &Node,
        selection: &Selection,
        combination: &Combination,
        view: &View,
    ) -> Bool {
        let there = combination.iter().map(|(_, table, slot)| view[table][*slot].present);
        let there = self.symbols.problem.all_of(there);
        if self.symbols.problem.as_truth(there) == Some(false) {
            return there;
        }
        let place = self.place(instance, found.operation.span);
        let rows: Vec<(usize, usize, &Row)> =
            combination.iter().map(|(access, table, slot)| (*access, *table, &view[table][*slot])).collect();
        let mut scene = Scene::of_rows(self.symbols, &self.locals[instance].variables, self.world, &rows);
        let matches = scene.predicate(&selection.condition, &place).is_true;
        self.symbols.problem.and(there, matches)
    }

    fn term(
        &mut self,
        instance: usize,
        found: &Node,
        combination: &Combination,
        view: &View,
        term: &Term,
    ) -> Symbol {
        let place = self.place(instance, found.operation.span);
        let rows: Vec<(usize, usize, &Row)> =
            combination.iter().map(|(access, table, slot)| (*access, *table, &view[table][*slot])).collect();
        Scene::of_rows(self.symbols, &self.locals[instance].variables, self.world, &rows).term(term, &place)
    }

    // What becomes of an answer.

    fn assign(
        &mut self,
        instance: usize,
        node: usize,
        found: &Node,
        into: &IntoClause,
        count: Int,
        lines: &[Line],
    ) {
        let span = found.operation.span;
        let (zero, one) = (self.symbols.problem.constant(0), self.symbols.problem.constant(1));
        let none = self.symbols.problem.at_most(count, zero);
        let several = self.symbols.problem.less(one, count);
        if into.rule == IntoRule::Strict && self.fails_if(none, instance, node, span) {
            return;
        }
        if into.rule != IntoRule::First && self.fails_if(several, instance, node, span) {
            return;
        }
        let row = answer::first(self.symbols, lines);
        for (at, variable) in into.variables.iter().enumerate() {
            let value = row.get(at).copied().unwrap_or_else(|| self.symbols.opaque());
            let without = match into.rule {
                IntoRule::Keep => self.variable(instance, variable),
                _ => self.symbols.null(),
            };
            let value = self.symbols.choose(none, &without, &value);
            self.locals[instance].variables.insert(variable.name.clone(), value);
        }
    }

    fn variable(&self, instance: usize, variable: &Variable) -> Symbol {
        self.locals[instance].variables.get(&variable.name).copied().unwrap_or_else(|| self.symbols.null())
    }

    /// The next row of a cursor.
    pub(super) fn fetch(&mut self, instance: usize, cursor: &str, variables: &[Variable]) {
        let Some(mut open) = self.locals[instance].cursors.remove(cursor) else { return };
        let line = open.lines.get(open.next).cloned();
        let there = line.as_ref().map_or(self.symbols.never, |line| line.there);
        for (at, variable) in variables.iter().enumerate() {
            let old = self.variable(instance, variable);
            let value = line.as_ref().and_then(|line| line.values.get(at)).copied();
            let value = value.map_or(old, |value| self.symbols.choose(there, &value, &old));
            self.locals[instance].variables.insert(variable.name.clone(), value);
        }
        open.next += 1;
        open.fetched.push(there);
        let count = answer::count(self.symbols, [there]);
        self.counted(instance, count);
        self.locals[instance].cursors.insert(cursor.to_string(), open);
    }

    /// Behind a loop over rows, `FOUND()` is whether there was one.
    pub(super) fn close(&mut self, instance: usize, cursor: &str, ends_loop: bool) {
        let closed = self.locals[instance].cursors.remove(cursor);
        if let Some(closed) = closed.filter(|_| ends_loop) {
            let count = answer::count(self.symbols, closed.fetched);
            self.counted(instance, count);
        }
    }

    // Writes.

    /// UPDATE and DELETE.
    fn change(&mut self, instance: usize, node: usize, found: &Node, at: usize, view: &View) -> Option<Done> {
        let access = &found.access.tables[at];
        let nothing = |run: &mut Self| Done { count: run.symbols.problem.constant(0), lines: Vec::new(), effects: Vec::new() };
        let (Some(table), Some(selection)) = (self.world.table(&access.table), &found.access.selection) else {
            self.is_exact = false;
            return Some(nothing(self));
        };
        self.is_exact &= selection.is_exact;
        let Some(combinations) = self.combinations(found, selection, view) else {
            self.is_exact = false;
            return Some(nothing(self));
        };
        let mut effects = Vec::new();
        for slot in 0..view[&table].len() {
            let own: Vec<Combination> =
                combinations.iter().filter(|one| one.contains(&(at, table, slot))).cloned().collect();
            let effect = match access.effect {
                Deed::Delete => self.delete(instance, found, selection, &own, view, (table, slot)),
                _ => self.update(instance, node, found, access, &own, view, (table, slot))?,
            };
            if self.symbols.problem.as_truth(effect.guard) != Some(false) {
                effects.push(effect);
            }
        }
        let count = answer::count(self.symbols, effects.iter().map(|effect| effect.guard));
        Some(Done { count, lines: Vec::new(), effects })
    }

    fn delete(
        &mut self,
        instance: usize,
        found: &Node,
        selection: &Selection,
        own: &[Combination],
        view: &View,
        (table, slot): (usize, usize),
    ) -> Effect {
        let mut guard = self.symbols.never;
        for combination in own {
            let chosen = self.is_chosen(instance, found, selection, combination, view);
            guard = self.symbols.problem.or(guard, chosen);
        }
        Effect { table, slot, guard, alive: Some(false), columns: Vec::new() }
    }

    #[allow(clippy::too_many_arguments)]
    fn update(
        &mut self,
        instance: usize,
        node: usize,
        found: &Node,
        access: &TableAccess,
        own: &[Combination],
        view: &View,
        (table, slot): (usize, usize),
    ) -> Option<Effect> {
        let selection = found.access.selection.as_ref()?;
        let world = self.world;
        let slots = &world.tables[table];
        let old = &view[&table][slot];
        let mut row = old.clone();
        let mut guard = self.symbols.never;
        for combination in own {
            let chosen = self.is_chosen(instance, found, selection, combination, view);
            if self.symbols.problem.as_truth(chosen) == Some(false) {
                continue;
            }
            guard = self.symbols.problem.or(guard, chosen);
            for assigned in &access.assigned {
                let Some(column) = position(&slots.columns, &assigned.column) else { continue };
                let value = self.term(instance, found, combination, view, &assigned.value);
                row.columns[column] = self.symbols.choose(chosen, &value, &row.columns[column]);
            }
        }
        let written: Vec<usize> = (0..slots.columns.len())
            .filter(|at| access.assigned.iter().any(|assigned| assigned.column == slots.columns[*at]))
            .collect();
        if written.iter().any(|at| slots.key.contains(at)) {
            // Rows keep their slots: a change of a key is not looked at.
            self.is_exact = false;
            let stays = self.symbols.problem.not(guard);
            self.needs(stays, instance, access.span);
        }
        let refused = self.refused(instance, access, table, &row, Some(slot), guard, view);
        if self.fails_if(refused, instance, node, access.span) {
            return None;
        }
        let columns = written.into_iter().map(|at| (at, row.columns[at])).collect();
        Some(Effect { table, slot, guard, alive: None, columns })
    }

    /// Whether a constraint refuses a row; `slot` is where it stands already.
    #[allow(clippy::too_many_arguments)]
    fn refused(
        &mut self,
        instance: usize,
        access: &TableAccess,
        table: usize,
        row: &Row,
        slot: Option<usize>,
        guard: Bool,
        view: &View,
    ) -> Bool {
        let world = self.world;
        let slots = &world.tables[table];
        let writes = |column: &str| access.assigned.iter().any(|assigned| assigned.column == column);
        let mut refused = self.symbols.never;
        for (column, value) in slots.columns.iter().zip(&row.columns) {
            let known = slots.definition.column(column);
            if known.is_some_and(|known| !known.nullable && !known.numbered) && writes(column) {
                refused = self.symbols.problem.or(refused, value.null);
            }
        }
        let place = self.place(instance, access.span);
        let broken = slots.breaks_checks(row, self.symbols, &place);
        refused = self.symbols.problem.or(refused, broken);
        for key in slots.definition.unique_keys.iter().filter(|key| key.columns.iter().any(|column| writes(column))) {
            let others: Vec<Row> = view[&table].iter().enumerate().filter(|(at, _)| Some(*at) != slot).map(|(_, row)| row.clone()).collect();
            let taken = slots.is_taken(&key.columns, row, &others, self.symbols);
            refused = self.symbols.problem.or(refused, taken);
        }
        if self.ground.references {
            for key in slots.definition.foreign_keys.iter().filter(|key| key.columns.iter().any(|column| writes(column))) {
                let Some(parent) = self.world.table(&key.table) else { continue };
                let parents = self.rows_seen(instance, parent);
                let refers = world.refers(slots, row, key, &parents, self.symbols);
                let lost = self.symbols.problem.not(refers);
                refused = self.symbols.problem.or(refused, lost);
            }
        }
        self.symbols.problem.and(guard, refused)
    }

    fn insert(&mut self, instance: usize, node: usize, found: &Node, at: usize, view: &View) -> Option<Done> {
        let access = &found.access.tables[at];
        let Some(table) = self.world.table(&access.table) else {
            self.is_exact = false;
            let count = self.symbols.problem.constant(1);
            return Some(Done { count, lines: Vec::new(), effects: Vec::new() });
        };
        let mut effects = Vec::new();
        let mut guards = Vec::new();
        for (guard, row) in self.new_rows(instance, found, at, table, view) {
            let refused = self.refused(instance, access, table, &row, None, guard, view);
            if self.fails_if(refused, instance, node, access.span) {
                return None;
            }
            let placed = self.placed(instance, node, access, table, &row, guard, view)?;
            effects.extend(placed);
            guards.push(guard);
        }
        let count = answer::count(self.symbols, guards);
        Some(Done { count, lines: Vec::new(), effects })
    }

    /// The rows that an INSERT adds, each if a condition is true.
    fn new_rows(&mut self, instance: usize, found: &Node, at: usize, table: usize, view: &View) -> Vec<(Bool, Row)> {
        let access = &found.access.tables[at];
        let Some(selection) = found.access.selection.as_ref() else {
            let rows = rows_of(access);
            return rows.iter().map(|row| (self.symbols.always, self.new_row(instance, found, table, row, view))).collect();
        };
        let combinations = self.combinations(found, selection, view).filter(|_| selection.is_exact);
        let Some(combinations) = combinations else {
            self.is_exact = false;
            return Vec::new();
        };
        let mut rows = Vec::new();
        for combination in combinations {
            let guard = self.is_chosen(instance, found, selection, &combination, view);
            let mut row = self.new_row(instance, found, table, &[], view);
            for (assigned, column) in access.assigned.iter().zip(&selection.columns) {
                let Some(at) = position(&self.world.tables[table].columns, &assigned.column) else { continue };
                row.columns[at] = match column {
                    Selected::Value(term) => self.term(instance, found, &combination, view, term),
                    Selected::Aggregate { .. } => self.symbols.opaque(),
                };
            }
            rows.push((guard, row));
        }
        rows
    }

    fn new_row(
        &mut self,
        instance: usize,
        found: &Node,
        table: usize,
        values: &[(&String, &Term)],
        view: &View,
    ) -> Row {
        let world = self.world;
        let slots = &world.tables[table];
        let mut columns = Vec::new();
        for column in &slots.columns {
            let assigned = values.iter().find(|(name, _)| name == column);
            let known = slots.definition.column(column);
            let default = known.and_then(|known| known.default.as_ref()).map(|default| default.value.clone());
            columns.push(match (assigned, default) {
                (Some((_, term)), _) => self.term(instance, found, &Combination::new(), view, term),
                (None, Some(Some(constant))) => self.symbols.constant(&constant),
                (None, None) if known.is_some_and(|known| known.nullable) => self.symbols.null(),
                (None, _) => self.symbols.opaque(),
            });
        }
        Row { present: self.symbols.always, columns }
    }

    /// Puts a new row into the slot with its key. `None` if the key is taken, and the call has failed.
    #[allow(clippy::too_many_arguments)]
    fn placed(
        &mut self,
        instance: usize,
        node: usize,
        access: &TableAccess,
        table: usize,
        row: &Row,
        guard: Bool,
        view: &View,
    ) -> Option<Vec<Effect>> {
        let world = self.world;
        let slots = &world.tables[table];
        let all: Vec<(usize, Symbol)> = row.columns.iter().copied().enumerate().collect();
        if slots.key.is_empty() {
            let ordinal = self.locals[instance].inserted.entry(table).or_insert(0);
            let owner = slots.owners.iter().position(|owner| *owner == (instance, *ordinal));
            *ordinal += 1;
            let Some(slot) = owner.map(|at| slots.owned + at) else {
                self.needs(self.symbols.never, instance, access.span);
                return None;
            };
            return Some(vec![Effect { table, slot, guard, alive: Some(true), columns: all }]);
        }
        let key = slots.key_of(row);
        let (mut any, mut taken) = (self.symbols.never, self.symbols.never);
        let mut effects = Vec::new();
        for (slot, known) in slots.rows.iter().enumerate() {
            let same = same(self.symbols, &key, &slots.key_of(known));
            any = self.symbols.problem.or(any, same);
            let both = self.symbols.problem.and(same, view[&table][slot].present);
            taken = self.symbols.problem.or(taken, both);
            let guard = self.symbols.problem.and(guard, same);
            if self.symbols.problem.as_truth(guard) != Some(false) {
                let columns = all.iter().filter(|(at, _)| !slots.key.contains(at)).copied().collect();
                effects.push(Effect { table, slot, guard, alive: Some(true), columns });
            }
        }
        let fits = implies(self.symbols, guard, any);
        if !self.needs(fits, instance, access.span) {
            return None;
        }
        match access.effect {
            Deed::Upsert => self.upserted(table, taken, &mut effects),
            _ => {
                let taken = self.symbols.problem.and(guard, taken);
                if self.fails_if(taken, instance, node, access.span) {
                    return None;
                }
            }
        }
        Some(effects)
    }

    /// A row that is there may have changed in any way.
    fn upserted(&mut self, table: usize, taken: Bool, effects: &mut [Effect]) {
        self.is_exact = false;
        let world = self.world;
        for effect in effects {
            for (at, value) in &mut effect.columns {
                let column = world.tables[table].definition.column(world.tables[table].columns[*at]);
                if let Some(column) = column {
                    let changed = self.symbols.stand_in(&column.name, &column.column_type, taken);
                    *value = self.symbols.choose(taken, &changed, value);
                }
            }
        }
    }

    /// Whether a statement looks at a row, if it is as given: of a table, in a slot.
    pub(super) fn looks_at(&mut self, number: usize, table: usize, slot: usize, row: &Row) -> Bool {
        let executed = &self.executed[number];
        let Some(found) = super::run::node_of(self.ground, executed) else { return self.symbols.never };
        let (instance, mut view) = (executed.instance, executed.view.clone());
        let variables = executed.variables.clone();
        let now = std::mem::replace(&mut self.locals[instance].variables, variables);
        if let Some(rows) = view.get_mut(&table) {
            rows[slot] = row.clone();
        }
        let mut looks = self.symbols.never;
        for (at, access) in found.access.tables.iter().enumerate() {
            if self.world.table(&access.table) != Some(table) {
                continue;
            }
            let one = self.looks_through(instance, found, at, access, (table, slot), &view);
            looks = self.symbols.problem.or(looks, one);
        }
        self.locals[instance].variables = now;
        looks
    }

    fn looks_through(
        &mut self,
        instance: usize,
        found: &Node,
        at: usize,
        access: &TableAccess,
        (table, slot): (usize, usize),
        view: &View,
    ) -> Bool {
        let row = &view[&table][slot];
        if access.effect == Deed::Insert {
            // It looks whether its key is taken.
            let slots = &self.world.tables[table];
            let keys = rows_of(access).iter().map(|values| self.new_row(instance, found, table, values, view)).collect::<Vec<_>>();
            let mut looks = self.symbols.never;
            for new in keys.iter().filter(|_| !slots.key.is_empty()) {
                let same = same(self.symbols, &slots.key_of(new), &slots.key_of(row));
                looks = self.symbols.problem.or(looks, same);
            }
            return looks;
        }
        let selection = found.access.selection.as_ref().filter(|selection| selection.from.contains(&at));
        let combinations = selection.and_then(|selection| self.combinations(found, selection, view));
        let (Some(selection), Some(combinations)) = (selection, combinations) else {
            let place = self.place(instance, access.span);
            let rows = [(at, table, row)];
            let mut scene = Scene::of_rows(self.symbols, &self.locals[instance].variables, self.world, &rows);
            let matches = scene.predicate(&access.predicate, &place).is_true;
            return self.symbols.problem.and(row.present, matches);
        };
        let mut looks = self.symbols.never;
        for combination in combinations.iter().filter(|one| one.contains(&(at, table, slot))) {
            let chosen = self.is_chosen(instance, found, selection, combination, view);
            looks = self.symbols.problem.or(looks, chosen);
        }
        looks
    }
}

fn limit_of(term: &Term) -> Option<usize> {
    match term {
        Term::Constant(Value::Number(number)) => number.as_str().parse().ok(),
        _ => None,
    }
}

/// The rows of an INSERT, each as columns with values.
fn rows_of(access: &TableAccess) -> Vec<Vec<(&String, &Term)>> {
    let mut rows: Vec<Vec<_>> = Vec::new();
    for assigned in &access.assigned {
        match rows.last_mut() {
            Some(row) if row.iter().all(|(name, _)| *name != &assigned.column) => {
                row.push((&assigned.column, &assigned.value));
            }
            _ => rows.push(vec![(&assigned.column, &assigned.value)]),
        }
    }
    rows
}
