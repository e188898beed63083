//! The name of a table that is not known, or the end of any name: the schema may tell which it is.

use std::collections::BTreeMap;

use txloom_core::program::{Span, SqlStatement};

use super::super::super::values::{Piece, Template};
use super::super::Lowerer;
use super::super::scopes::plain_name;

/// How many tables are tried for a name that is not known.
const GUESSES_MAX: usize = 200;

impl Lowerer<'_> {
    /// A statement that makes no sense with a value where the name of a table must stand: the tables of the schema are
    /// tried, the most similar name first.
    pub(super) fn guess_tables(
        &mut self,
        template: &Template,
        binds: &BTreeMap<String, String>,
        span: Span,
    ) -> Option<SqlStatement> {
        let mut template = template.clone();
        let is_name = |at: &usize| stands_for_table(&template.pieces, *at) || prefix(&template.pieces, *at).is_some();
        let is_hole = |at: &usize| matches!(&template.pieces[*at], Piece::Hole { .. });
        let holes: Vec<usize> = (0..template.pieces.len()).filter(|at| is_hole(at) && is_name(at)).collect();
        if holes.is_empty() || holes.len() > 4 {
            return None;
        }
        let tables: Vec<String> = self.world.schema.tables.keys().take(GUESSES_MAX).cloned().collect();
        let mut taken = Vec::new();
        for hole in &holes {
            let Piece::Hole { name, span: place, .. } = template.pieces[*hole].clone() else { continue };
            let before = prefix(&template.pieces, *hole).map(|word| word.to_lowercase());
            let mut ranked = match &before {
                Some(before) => self.ends_of(before),
                // Without any tables the name itself is all that there is.
                None if tables.is_empty() => vec![own_name(&name)],
                None => tables.clone(),
            };
            if before.is_none() {
                ranked.sort_by_key(|table| std::cmp::Reverse(likeness(&name, table)));
            }
            let mut best: Option<(usize, String)> = None;
            for table in ranked {
                let piece = Piece::Text { text: table.clone(), file: usize::MAX, span: place };
                template.pieces[*hole] = piece;
                let errors = self.errors_of(&template, binds, span);
                if best.as_ref().is_none_or(|(fewest, _)| errors < *fewest) {
                    best = Some((errors, table));
                }
                if errors == 0 {
                    break;
                }
            }
            let (_, table) = best?;
            template.pieces[*hole] = Piece::Text { text: table.clone(), file: usize::MAX, span: place };
            let kind = if before.is_some() { "name" } else { "table" };
            taken.push((place, name, format!("{kind} {}{table}", before.unwrap_or_default())));
        }
        if self.errors_of(&template, binds, span) > 0 {
            return None;
        }
        for (place, name, taken) in taken {
            let what = if name.is_empty() { "this".to_string() } else { name };
            self.warn(place, format!("{what} is not known; it is taken for the {taken}"), "give its file, too");
        }
        Some(self.statement_of(&template, binds, span))
    }

    /// How the names of tables and columns go on that begin so; if none does, a number.
    fn ends_of(&self, before: &str) -> Vec<String> {
        let tables = self.world.schema.tables.iter();
        let names = tables
            .flat_map(|(name, table)| table.columns.iter().map(|column| column.name.as_str()).chain([name.as_str()]));
        let ends = names.filter_map(|name| Some(name.to_lowercase().strip_prefix(before)?.to_string()));
        let ends: std::collections::BTreeSet<String> = ends.filter(|end| !end.is_empty()).collect();
        ends.into_iter().take(GUESSES_MAX).chain(["1".to_string()]).collect()
    }
}

/// The constants right before a piece, as one text.
fn text_before(pieces: &[Piece], at: usize) -> String {
    let texts = pieces[..at].iter().rev().map_while(|piece| match piece {
        Piece::Text { text, .. } => Some(text.as_str()),
        Piece::Hole { .. } => None,
    });
    let texts: Vec<&str> = texts.collect();
    texts.into_iter().rev().collect()
}

/// The beginning of a name whose end is a hole: `data` of `"data" + column`.
fn prefix(pieces: &[Piece], at: usize) -> Option<String> {
    let quotes = |piece: &Piece| match piece {
        Piece::Text { text, .. } => text.matches('\'').count(),
        Piece::Hole { .. } => 0,
    };
    let is_quoted = pieces[..at].iter().map(quotes).sum::<usize>() % 2 == 1;
    let text = text_before(pieces, at);
    let word = text.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
    let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (!is_quoted && is_name).then(|| word.to_string())
}

/// Whether the text before a hole ends with a word that the name of a table follows.
fn stands_for_table(pieces: &[Piece], at: usize) -> bool {
    let text = text_before(pieces, at);
    let word = text.trim_end_matches(|c: char| c.is_whitespace() || c == '"' || c == '`' || c == ',');
    let word = word.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("").to_lowercase();
    ["from", "into", "update", "join", "table"].contains(&word.as_str()) || text.trim_end().ends_with(',')
}

/// What a constant may stand for, by its name: `TPCCConstants.TABLENAME_ORDERLINE` is `orderline`.
fn own_name(name: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name).to_lowercase();
    let prefixes = ["tablename_", "table_name_", "table_", "tbl_", "tab_"];
    let plain = prefixes.iter().find_map(|prefix| last.strip_prefix(prefix)).unwrap_or(&last);
    plain_name(if plain.is_empty() { "unknown" } else { plain }, "t_")
}

/// How similar the name of a constant is to that of a table.
fn likeness(name: &str, table: &str) -> usize {
    let plain = |text: &str| text.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let (name, table) = (plain(name.rsplit('.').next().unwrap_or(name)), plain(table));
    if name == table {
        return 1000;
    }
    if name.ends_with(&table) || table.ends_with(&name) {
        return 500 + table.len().min(name.len());
    }
    let shared = (1..=table.len())
        .rev()
        .find(|length| (0..=table.len() - length).any(|start| name.contains(&table[start..start + length])));
    shared.unwrap_or(0)
}
