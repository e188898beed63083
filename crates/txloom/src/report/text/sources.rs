//! The sources that pictures are drawn of.
//!
//! Of a log only some lines are kept, in runs of neighbours. Each run is a source of its own, whose first line has the
//! number that it has in the file. The picture's headings know that; its margin does not, and gets its numbers here.

use std::collections::HashMap;
use std::fmt;

use ariadne::{Cache, Source};

use crate::analyze::SourceFile;

/// A run of lines of a file, by where it begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Lines {
    pub(super) file: String,
    pub(super) start: usize,
}

/// What is drawn from.
pub(super) struct Sources<'a> {
    files: &'a [SourceFile],
    drawn: HashMap<Lines, Source<String>>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(files: &'a [SourceFile]) -> Sources<'a> {
        Sources { files, drawn: HashMap::new() }
    }
}

impl Cache<Lines> for Sources<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &Lines) -> Result<&Source<String>, impl fmt::Debug> {
        let files = self.files;
        let source = self.drawn.entry(id.clone()).or_insert_with(|| {
            let file = files.iter().find(|file| file.name == id.file);
            let (start, end, line) = file.map_or((0, 0, 1), |file| file.block(id.start));
            let text = file.and_then(|file| file.text.get(start..end)).unwrap_or_default();
            Source::from(text.to_string()).with_display_line_offset(line.saturating_sub(1))
        });
        Ok::<_, fmt::Error>(source)
    }

    fn display<'i>(&self, id: &'i Lines) -> Option<impl fmt::Display + 'i> {
        Some(id.file.clone())
    }
}

/// Gives the margins of a picture the numbers that its lines have in their files.
pub(super) fn renumbered(picture: &str, files: &[SourceFile]) -> String {
    if files.iter().all(|file| file.log.is_none()) {
        return picture.to_string();
    }
    let mut offset = 0;
    let mut lines: Vec<(&str, Option<Margin<'_>>)> = Vec::new();
    for line in picture.lines() {
        offset = heading_offset(line, files).unwrap_or(offset);
        let margin = Margin::of(line).map(|margin| Margin { number: margin.number + offset, ..margin });
        lines.push((line, margin));
    }
    let widths = lines.iter().filter_map(|(_, margin)| margin.as_ref());
    let wider = widths.map(|margin| margin.number.to_string().len().saturating_sub(margin.width)).max().unwrap_or(0);
    let mut text = String::new();
    for (line, margin) in lines {
        match margin {
            Some(margin) => {
                let number = margin.number.to_string();
                let blanks = (margin.width + wider).saturating_sub(number.len());
                text += &format!("{}{:blanks$}{number}{}\n", margin.before, "", margin.after);
            }
            None if starts_box(line) => text += &format!("{:wider$}{line}\n", ""),
            None if plain(line).starts_with('─') => text += &format!("{}{line}\n", "─".repeat(wider)),
            None => text += &format!("{line}\n"),
        }
    }
    text
}

/// The margin of a line of source: what is before it, its number and how much room that has.
struct Margin<'l> {
    before: &'l str,
    number: usize,
    width: usize,
    after: &'l str,
}

impl<'l> Margin<'l> {
    fn of(line: &'l str) -> Option<Margin<'l>> {
        let start = skip_escapes(line);
        let rest = &line[start..];
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let number = &rest[blanks..];
        let length = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        let after = &number[length..];
        let value = number[..length].parse().ok()?;
        after.starts_with(" │").then(|| Margin { before: &line[..start], number: value, width: blanks + length, after })
    }
}

/// The length of the colour codes that a line begins with.
fn skip_escapes(line: &str) -> usize {
    let mut at = 0;
    while line[at..].starts_with('\u{1b}') {
        at += line[at..].find('m').map_or(line.len() - at, |end| end + 1);
    }
    at
}

fn plain(line: &str) -> &str {
    &line[skip_escapes(line)..]
}

/// Whether a line of the picture begins with the room of the margin.
fn starts_box(line: &str) -> bool {
    let rest = plain(line);
    rest.starts_with(' ') && rest.trim_start().starts_with(['│', '╭', '├', '┆', '╰', '\u{1b}'])
}

/// How much is to be added to the numbers below a heading: `╭─[ app.log:1234:5 ]`.
fn heading_offset(line: &str, files: &[SourceFile]) -> Option<usize> {
    let inside = &line[line.find("─[ ")?..];
    let file = files.iter().find(|file| inside.contains(&format!("{}:", file.name)))?;
    let Some(log) = &file.log else { return Some(0) };
    let rest = &inside[inside.find(&file.name)? + file.name.len() + 1..];
    let line: usize = rest[..rest.find(|c: char| !c.is_ascii_digit())?].parse().ok()?;
    let at = log.excerpt.blocks.iter().rposition(|(start, first)| {
        let (_, end, _) = log.excerpt.block(*start).unwrap_or_default();
        let count = log.excerpt.text.get(*start..end).unwrap_or_default().matches('\n').count();
        (*first..first + count.max(1)).contains(&line)
    })?;
    Some(log.excerpt.blocks[at].1.saturating_sub(1))
}
