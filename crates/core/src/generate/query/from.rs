//! FROM clauses: tables and queries, joined.

use std::rc::Rc;

use crate::dialect::Construct;
use crate::generate::expression::print::{print, print_relation};
use crate::generate::expression::{Comparison, Expression};
use crate::generate::features;
use crate::generate::maker::{Maker, Scope, Source, can_group};
use crate::generate::schema::Kind;

use super::{PRODUCT_MAX, WORK_MAX};

/// Which kinds a query must offer.
pub(super) type Wanted<'w> = &'w dyn Fn(Kind) -> bool;

/// A FROM clause.
pub(super) struct Joined {
    /// What conditions and values may speak of.
    pub(super) scope: Scope,
    /// The text, without FROM.
    pub(super) text: String,
    /// The queries that must stand in a WITH clause before it.
    pub(super) with: Vec<String>,
    /// How many combinations of rows there are, at most.
    pub(super) size: usize,
}

/// Something that can stand in a FROM clause.
struct Item {
    source: Source,
    text: String,
    /// The query in a WITH clause that it names.
    with: Option<String>,
}

impl Maker<'_> {
    /// A FROM clause in a scope that has no sources yet. The first source has a column of a wanted kind.
    pub(super) fn joined(&mut self, scope: Scope, wanted: Wanted<'_>) -> Option<Joined> {
        self.budget.queries = self.budget.queries.saturating_sub(1);
        let around = scope.rows.unwrap_or(1);
        let count = self.model.count(&features::QUERY_TABLES, &mut self.random).max(1);
        let first = self.item(&scope, wanted)?;
        let size = self.size_of(&first.source);
        if around.saturating_mul(size) > WORK_MAX {
            return None;
        }
        let mut from =
            Joined { scope: Scope { sources: vec![first.source], ..scope }, text: first.text, with: Vec::new(), size };
        from.with.extend(first.with);
        for _ in 1..count {
            self.join_one_more(&mut from, around);
        }
        from.scope.rows = Some(around.saturating_mul(from.size));
        Some(from)
    }

    fn size_of(&self, source: &Source) -> usize {
        self.relations[source.table].size.max(1)
    }

    /// Joins one more table or query, unless the rows become too many, or nothing in it can be compared.
    fn join_one_more(&mut self, from: &mut Joined, around: usize) {
        let alone = Scope { sources: Vec::new(), ..from.scope.clone() };
        let Some(mut item) = self.again(from).or_else(|| self.item(&alone, &can_group)) else { return };
        let size = from.size.saturating_mul(self.size_of(&item.source));
        if size > PRODUCT_MAX || around.saturating_mul(size) > WORK_MAX {
            return;
        }
        let left = self.model.word(&features::QUERY_JOIN, &mut self.random, |_| true) == Some("left");
        let Some(on) = self.join_of(from, &item.source) else { return };
        let word = if left { "LEFT JOIN" } else { "JOIN" };
        from.text.push_str(&format!(" {word} {} ON {}", item.text, print(&on, self.language)));
        item.source.nullable = left;
        from.scope.sources.push(item.source);
        from.with.extend(item.with);
        from.size = size;
    }

    /// The query in the WITH clause a second time.
    fn again(&mut self, from: &Joined) -> Option<Item> {
        let named = from.scope.sources.iter().find(|source| {
            let name = source.qualifier.as_deref().unwrap_or_default();
            from.with.iter().any(|query| query.starts_with(&format!("{name} AS (")))
        });
        let source = named.filter(|_| self.random.chance(1, 3))?.clone();
        let (name, alias) = (source.qualifier.clone().unwrap_or_default(), self.name('r'));
        let text = format!("{name} AS {alias}");
        Some(Item { source: Source { qualifier: Some(alias), ..source }, text, with: None })
    }

    /// A table or a query with a column of a wanted kind.
    fn item(&mut self, scope: &Scope, wanted: Wanted<'_>) -> Option<Item> {
        let (nests, with) = (self.may_nest(scope), self.has_with());
        let allowed = |word: &str| match word {
            "derived" => nests,
            "common" => nests && with,
            _ => true,
        };
        let word = self.model.word(&features::QUERY_SOURCE, &mut self.random, allowed);
        if let Some(word @ ("derived" | "common")) = word
            && let Some(item) = self.query_item(scope, wanted, word == "common")
        {
            return Some(item);
        }
        let table = match scope.level {
            0 => Some(self.table()).filter(|table| self.relation(*table).columns.iter().any(|c| wanted(c.kind))),
            _ => self.subquery_table(scope, wanted),
        }?;
        let alias = self.name('r');
        let text = format!("{} AS {alias}", self.schema.tables[table].name);
        Some(Item { source: Source { table, qualifier: Some(alias), nullable: false }, text, with: None })
    }

    fn query_item(&mut self, scope: &Scope, wanted: Wanted<'_>, common: bool) -> Option<Item> {
        // It is evaluated as often as the query around it.
        let inside = Scope { rows: scope.rows.or(Some(1)), ..self.inside_of(scope) };
        let made = self.query(inside, wanted, false)?;
        let relation = self.relation_of(&made);
        let body = print_relation(&made.query, self.language);
        self.relations.push(relation);
        let alias = self.name(if common { 'w' } else { 'q' });
        let (text, with) = match common {
            true => (alias.clone(), Some(format!("{alias} AS ({body})"))),
            false => (format!("({body}) AS {alias}"), None),
        };
        let source = Source { table: self.relations.len() - 1, qualifier: Some(alias), nullable: false };
        Some(Item { source, text, with })
    }

    /// A condition for a join: one equality at least.
    fn join_of(&mut self, from: &Joined, new: &Source) -> Option<Expression> {
        let others: Vec<Source> = from.scope.sources.clone();
        let other = self.random.pick(&others)?.clone();
        let pairs = match self.reference(&other, new) {
            Some(pairs) => Some(pairs),
            None => self.reference(new, &other).map(|pairs| pairs.into_iter().map(|(a, b)| (b, a)).collect()),
        };
        let pairs: Vec<(usize, usize)> = pairs.or_else(|| self.comparable(&other, new).map(|pair| vec![pair]))?;
        let mut parts: Vec<Expression> = Vec::new();
        for (one, two) in pairs {
            let sides = [self.column_use(&other, one), self.column_use(new, two)].map(Expression::Column);
            parts.push(Expression::Compare(Comparison::Equal, Box::new(sides)));
        }
        if self.random.chance(1, 5) {
            let both = Scope { sources: vec![other, new.clone()], ..from.scope.clone() };
            parts.push(self.atom(&both.flat()));
        }
        if parts.len() > 1 { Some(Expression::And(parts)) } else { parts.pop() }
    }

    /// Two columns of one kind, one of each; often one of them is a key.
    fn comparable(&mut self, one: &Source, two: &Source) -> Option<(usize, usize)> {
        let alone = |source: &Source| Scope { sources: vec![source.clone()], ..Scope::EMPTY };
        let key: Rc<_> = self.relation(two.table);
        if let ([key_column], true) = (&key.primary_key[..], self.random.chance(1, 2)) {
            let kind = key.columns[*key_column].kind;
            let found = self.pick_column(&alone(one), |other| other == kind);
            // A table joined with itself by its key says nothing new.
            if let Some((_, column)) = found.filter(|(_, column)| one.table != two.table || column != key_column) {
                return Some((column, *key_column));
            }
        }
        let kinds: Vec<Kind> = key.columns.iter().map(|column| column.kind).filter(|kind| can_group(*kind)).collect();
        let (_, column) = self.pick_column(&alone(one), |kind| kinds.contains(&kind))?;
        let kind = self.kind_of(one, column);
        let (_, other) = self.pick_column(&alone(two), |other| other == kind)?;
        Some((column, other)).filter(|_| one.table != two.table || column != other)
    }

    /// The keys of all sources: an order of all combinations of rows in which no two are equal.
    pub(super) fn keys_of(&self, scope: &Scope) -> Option<Vec<Expression>> {
        let mut keys = Vec::new();
        for source in &scope.sources {
            let relation = self.relation(source.table);
            if relation.primary_key.is_empty() {
                return None;
            }
            keys.extend(relation.primary_key.iter().map(|at| Expression::Column(self.column_use(source, *at))));
        }
        Some(keys)
    }

    /// A construct of set operations that all targets have; `None` for those that need none.
    pub(super) fn set_operation(&mut self) -> Option<&'static str> {
        let language = self.language;
        let construct = |word: &str| match word {
            "except" => Some(Construct::Except),
            "intersect" => Some(Construct::Intersect),
            _ => None,
        };
        let allowed = |word: &str| construct(word).is_none_or(|construct| language.has(construct));
        let word = self.model.word(&features::QUERY_SET, &mut self.random, allowed)?;
        let spelling = construct(word).and_then(|construct| language.spelling(construct));
        Some(spelling.unwrap_or(if word == "union" { "UNION" } else { "UNION ALL" }))
    }
}
