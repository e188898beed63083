//! Queries whose rows are fetched in one of the two usual ways.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::program::{
    Branch, Expr, ExprKind, IntoClause, IntoRule, Span, SqlPart, SqlStatement, SqlText, Statement, StatementKind,
};

use txloom_core::value::Value;

use super::walk;

/// How often a cursor is opened and fetched.
#[derive(Default, Clone, Copy)]
struct Counts {
    opened: usize,
    fetched: usize,
}

/// Turns cursors into `SELECT … INTO` and `FOR`, where they are no more than that.
pub(super) fn tidy(body: &mut Vec<Statement>, single: &BTreeSet<String>) {
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    walk::each(body, &mut |statement| match &statement.kind {
        StatementKind::Open { cursor, .. } => counts.entry(cursor.clone()).or_default().opened += 1,
        StatementKind::Fetch { cursor, .. } => counts.entry(cursor.clone()).or_default().fetched += 1,
        _ => {}
    });
    let uses = walk::uses(body);
    walk::each_list(body, &mut |list| {
        for at in (0..list.len()).rev() {
            let StatementKind::Open { cursor, .. } = &list[at].kind else { continue };
            match counts.get(cursor).copied().unwrap_or_default() {
                Counts { fetched: 0, .. } => unfetched(&mut list[at]),
                Counts { opened: 1, fetched: 1 } => {
                    let cursor = cursor.clone();
                    combine(list, at, &cursor, &uses, single.contains(&cursor));
                }
                _ => {}
            }
        }
    });
}

/// Nobody looks at the rows.
fn unfetched(statement: &mut Statement) {
    if let StatementKind::Open { query, .. } = &mut statement.kind {
        let query = std::mem::replace(query, SqlStatement { parts: Vec::new() });
        statement.kind = StatementKind::Sql(query);
    }
}

fn combine(list: &mut Vec<Statement>, at: usize, cursor: &str, uses: &BTreeMap<String, usize>, is_single: bool) {
    let Some(query) = walk::sql(&list[at]).cloned() else { return };
    let sent: Vec<String> = query.uses().map(|variable| variable.name.clone()).collect();
    for next in at + 1..list.len() {
        match &list[next].kind {
            StatementKind::Fetch { cursor: name, variables } if name == cursor => {
                let is_unchecked = !is_checked(list, next, uses);
                let is_read = variables.iter().any(|variable| uses.contains_key(&variable.name));
                let fails = is_unchecked && is_read;
                let rule = match (is_single, fails) {
                    (true, true) => IntoRule::Strict,
                    (true, false) => IntoRule::Single,
                    (false, _) => IntoRule::First,
                };
                let into = IntoClause { variables: variables.clone(), rule };
                let span = list[at].span;
                list[next] = Statement { kind: StatementKind::Sql(with_into(query, into)), span };
                if fails && !is_single {
                    list.insert(next + 1, no_row(span));
                }
                list.remove(at);
                return;
            }
            StatementKind::Loop { .. } => {
                if let Some(kind) = as_for(&list[next], cursor, &query, uses) {
                    list[next].kind = kind;
                    list.remove(at);
                }
                return;
            }
            StatementKind::Declare { variable, .. } | StatementKind::Assign { variable, .. }
                if !sent.contains(&variable.name)
                    && !walk::expressions(&list[next]).iter().any(|e| walk::is_volatile(e)) => {}
            _ => return,
        }
    }
}

/// Whether anybody asks if there was a row.
fn is_checked(list: &[Statement], fetch: usize, uses: &BTreeMap<String, usize>) -> bool {
    match list.get(fetch + 1).map(|next| &next.kind) {
        Some(StatementKind::Assign { variable, value: Expr { kind: ExprKind::Found, .. } }) => {
            uses.contains_key(&variable.name)
        }
        _ => true,
    }
}

/// Reading a row that is not there is an error.
fn no_row(span: Span) -> Statement {
    let found = Expr { kind: ExprKind::Found, span };
    let condition = Expr { kind: ExprKind::Not(Box::new(found)), span };
    let message = Expr { kind: ExprKind::Literal(Value::text("there is no row")), span };
    let body = vec![Statement { kind: StatementKind::Raise(message), span }];
    let branches = vec![Branch { condition, body }];
    Statement { kind: StatementKind::If { branches, otherwise: Vec::new() }, span }
}

/// `LOOP FETCH c INTO …; SET found = FOUND(); IF NOT :found THEN LEAVE; END IF; … END LOOP`
fn as_for(
    statement: &Statement,
    cursor: &str,
    query: &SqlStatement,
    uses: &BTreeMap<String, usize>,
) -> Option<StatementKind> {
    let StatementKind::Loop { label, body } = &statement.kind else { return None };
    let [fetch, found, leave, rest @ ..] = body.as_slice() else { return None };
    let StatementKind::Fetch { cursor: name, variables } = &fetch.kind else { return None };
    let StatementKind::Assign { variable: flag, value: Expr { kind: ExprKind::Found, .. } } = &found.kind else {
        return None;
    };
    let StatementKind::If { branches, otherwise } = &leave.kind else { return None };
    let [branch] = branches.as_slice() else { return None };
    let asks = match &branch.condition.kind {
        ExprKind::Not(operand) => operand.kind == ExprKind::Variable(flag.name.clone()),
        _ => false,
    };
    let leaves = match branch.body.as_slice() {
        [Statement { kind: StatementKind::Leave(name), .. }] => name.is_none() || name == label,
        _ => false,
    };
    let is_only_asked_here = uses.get(&flag.name) == Some(&1);
    if name != cursor || !asks || !leaves || !otherwise.is_empty() || !is_only_asked_here {
        return None;
    }
    Some(StatementKind::ForEach {
        label: label.clone(),
        variables: variables.clone(),
        query: query.clone(),
        body: rest.to_vec(),
    })
}

/// Puts INTO before FROM, or at the end.
pub(crate) fn with_into(query: SqlStatement, into: IntoClause) -> SqlStatement {
    let mut parts = Vec::new();
    let mut into = Some(into).filter(|into| !into.variables.is_empty());
    let mut depth = 0_usize;
    let writes = writes(&query);
    for part in query.parts {
        match part {
            SqlPart::Text(text) if into.is_some() && !writes => match from(&text.text, &mut depth) {
                Some(at) => {
                    let (before, after) = cut(text, at);
                    parts.push(SqlPart::Text(before));
                    parts.extend(into.take().map(SqlPart::Into));
                    parts.push(SqlPart::Text(after));
                }
                None => parts.push(SqlPart::Text(text)),
            },
            part => parts.push(part),
        }
    }
    parts.extend(into.map(SqlPart::Into));
    SqlStatement { parts }
}

/// Whether a statement writes: what it returns is said at its end.
fn writes(query: &SqlStatement) -> bool {
    let Some(SqlPart::Text(first)) = query.parts.first() else { return false };
    let word = first.text.split_whitespace().next().unwrap_or("");
    ["INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"].iter().any(|verb| word.eq_ignore_ascii_case(verb))
}

/// Where the first FROM outside of parentheses and quotes begins, with the space before it.
fn from(text: &str, depth: &mut usize) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(') => *depth += 1,
            (None, ')') => *depth = depth.saturating_sub(1),
            (None, c) if *depth == 0 && c.is_whitespace() && at > 0 => {
                let word = text[at..].trim_start();
                let is_from = word.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("from"))
                    && word[4..].starts_with(|c: char| c.is_whitespace() || c == '(' || c == '"' || c == '`');
                if is_from {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn cut(text: SqlText, at: usize) -> (SqlText, SqlText) {
    let is_exact = text.span.end - text.span.start == text.text.len() - text.lead;
    let middle = text.span.start + at.saturating_sub(text.lead);
    let line = text.span.line + if is_exact { text.text[..at].matches('\n').count() } else { 0 };
    let (first, second) = if is_exact {
        (Span { end: middle, ..text.span }, Span { start: middle, end: text.span.end, line })
    } else {
        (text.span, text.span)
    };
    let before = SqlText { text: text.text[..at].to_string(), lead: text.lead.min(at), span: first };
    (before, SqlText { text: text.text[at..].to_string(), lead: 0, span: second })
}
