//! The lines of a log that are shown.
//!
//! A log of a gigabyte is not kept. What is kept are the lines on which each statement was first seen, one after the
//! other, with their true numbers; places of a program that was read from a log are places in this text.

use std::collections::BTreeMap;

use super::template::Template;

/// Lines of a file that is not kept as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Excerpt {
    /// The lines, each with a line break.
    pub text: String,
    /// Where runs of neighbouring lines begin in the text, with the number that their first line has in the file.
    pub blocks: Vec<(usize, usize)>,
}

impl Excerpt {
    /// Adds lines of the file; gives where they begin in the text.
    pub(super) fn push(&mut self, line: usize, lines: &str) -> usize {
        let start = self.text.len();
        if self.next_line() != Some(line) {
            self.blocks.push((start, line));
        }
        self.text.push_str(lines);
        self.text.push('\n');
        start
    }

    /// The number of the line that would follow.
    fn next_line(&self) -> Option<usize> {
        let (start, line) = self.blocks.last()?;
        Some(line + self.text[*start..].matches('\n').count())
    }

    /// Adds the first occurrence of each of these templates; gives where the text of each begins.
    pub(super) fn templates<'t>(&mut self, used: impl Iterator<Item = (u32, &'t Template)>) -> BTreeMap<u32, usize> {
        let mut sorted: Vec<(u32, &Template)> = used.collect();
        sorted.sort_by_key(|(id, template)| (template.place.line, template.head.len(), *id));
        let mut starts = BTreeMap::new();
        for (id, template) in sorted {
            let start = self.push(template.place.line, &format!("{}{}", template.head, template.text));
            starts.insert(id, start + template.head.len());
        }
        starts
    }

    /// The run of lines that holds a byte of the text: where it begins and ends, and its first line's number.
    pub fn block(&self, at: usize) -> Option<(usize, usize, usize)> {
        let next = self.blocks.partition_point(|(start, _)| *start <= at);
        let (start, line) = self.blocks.get(next.checked_sub(1)?)?;
        let end = self.blocks.get(next).map_or(self.text.len(), |(start, _)| *start);
        Some((*start, end, *line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_lines_are_shown_together() {
        let mut excerpt = Excerpt::default();
        assert_eq!(excerpt.push(7, "a\nb"), 0);
        assert_eq!(excerpt.push(9, "c"), 4);
        assert_eq!(excerpt.push(20, "d"), 6);
        assert_eq!(excerpt.block(5), Some((0, 6, 7)));
        assert_eq!(excerpt.block(6), Some((6, 8, 20)));
        assert_eq!(Excerpt::default().block(0), None);
    }
}
