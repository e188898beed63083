//! A violation as a picture: the cycle, and below it the same in words.
//!
//! ```text
//!   G-single, read skew                          transactions of the cycle stand on a circle, clockwise; of two, one
//!   a cycle with exactly one rw                  stands beside the other
//!
//!             wr x                               arrows bend outwards, so that there and back are two; their colours
//!          ╭────────╮                            say why one is before the other, and labels stand outside of them
//!         T1        T2
//!          ╰────────╯                            whoever is only a witness is told of below, and stands on no circle
//!             rw y
//!
//!   Let: …   Then: …   However: …                nothing is cut: long lines are wrapped
//! ```
//!
//! Plain SVG, which every browser shows; no script, no style sheet from elsewhere.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use super::model::check::{EdgeReport, ViolationReport};
use super::text::wrapped;

/// Half the width of a box, at least.
const BOX_WIDTH: f64 = 34.0;
/// Half the height of a box.
const BOX_HEIGHT: f64 = 16.0;
/// The height of a line of text.
const LINE: f64 = 18.0;
/// Left and right of everything.
const MARGIN: f64 = 24.0;
/// The width of the picture, at least.
const WIDTH: f64 = 720.0;
/// How wide a character is in most fonts, at most.
const CHARACTER: f64 = 7.3;
/// The same, in the title.
const TITLE_CHARACTER: f64 = 10.5;
/// Longer labels are cut; the words below have them in full.
const LABEL_MAX: usize = 24;

/// What the kinds of edges look like, and what they say.
const KINDS: &[(&str, &str, &str)] = &[
    ("ww", "#b35900", "writes the next version"),
    ("wr", "#1a7f37", "reads what the other wrote"),
    ("rw", "#b3001e", "overwrites what the other read"),
    ("so", "#57606a", "comes later in the same session"),
    ("rt", "#0b5394", "begins after the other has ended"),
    ("co", "#6f42c1", "must have been committed later"),
];

/// A place, or a way.
type Point = (f64, f64);

/// The picture of a violation.
pub fn print(violation: &ViolationReport) -> String {
    let mut names: Vec<&str> = Vec::new();
    for edge in &violation.cycle {
        if !names.contains(&edge.from.as_str()) {
            names.push(&edge.from);
        }
    }
    let radius = if names.len() == 2 { 110.0 } else { 26.0 * (names.len() as f64).max(3.2) };
    let label_width = LABEL_MAX as f64 * CHARACTER;
    let width = WIDTH.max(2.0 * (radius + BOX_WIDTH + label_width + MARGIN));
    let mut sheet = Sheet { body: String::new(), y: 32.0, width };
    sheet.title(violation);
    if !names.is_empty() {
        sheet.circle(violation, &names, radius);
    }
    sheet.words(violation);
    whole(&format!("{}: {}", violation.anomaly, violation.what), &sheet)
}

/// A picture that grows downwards.
struct Sheet {
    body: String,
    /// The base line of the next text.
    y: f64,
    width: f64,
}

impl Sheet {
    fn line(&mut self, x: f64, style: &str, text: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.body, "<text x=\"{x:.0}\" y=\"{:.0}\" {style}>{}</text>", self.y, escaped(text));
        self.y += LINE;
    }

    /// A text of as many lines as it takes.
    fn paragraph(&mut self, indent: f64, text: &str) {
        let columns = ((self.width - 2.0 * MARGIN - indent) / CHARACTER) as usize;
        for (at, line) in wrapped(text, columns).iter().enumerate() {
            let hanging = if at == 0 || indent == 0.0 { 0.0 } else { 16.0 };
            self.line(MARGIN + indent + hanging, "class=\"words\"", line);
        }
    }

    fn title(&mut self, violation: &ViolationReport) {
        let columns = ((self.width - 2.0 * MARGIN) / TITLE_CHARACTER) as usize;
        for line in wrapped(&violation.title(), columns) {
            self.line(MARGIN, "class=\"words\" font-size=\"16\" font-weight=\"bold\"", &line);
            self.y += 2.0;
        }
        self.paragraph(0.0, &violation.what);
    }

    fn circle(&mut self, violation: &ViolationReport, names: &[&str], radius: f64) {
        let is_pair = names.len() == 2;
        let height = if is_pair { 44.0 } else { radius };
        let middle = (self.width / 2.0, self.y + 30.0 + height);
        // Of two, the first stands on the left; of more, it stands on top.
        let first = if is_pair { TAU / 2.0 } else { -TAU / 4.0 };
        let place = |name: &str| {
            let at = names.iter().position(|other| *other == name).unwrap_or(0);
            let angle = TAU * at as f64 / names.len() as f64 + first;
            (middle.0 + radius * angle.cos(), middle.1 + radius * angle.sin())
        };
        for edge in &violation.cycle {
            draw_edge(&mut self.body, edge, place(&edge.from), place(&edge.to));
        }
        for name in names {
            draw_box(&mut self.body, name, place(name));
        }
        self.y = middle.1 + height + 56.0;
        let is_drawn = |kind: &str| violation.cycle.iter().any(|edge| edge.kind == kind);
        for (kind, color, meaning) in KINDS.iter().filter(|(kind, ..)| is_drawn(kind)) {
            let (from, to) = (MARGIN, MARGIN + 28.0);
            let y = self.y - 4.0;
            let arrow = format!("stroke=\"{color}\" stroke-width=\"2\" marker-end=\"url(#{kind})\"");
            let _ = writeln!(self.body, "<path d=\"M {from:.0} {y:.0} H {to:.0}\" {arrow}/>");
            self.line(to + 10.0, &format!("class=\"{kind}\""), &format!("{kind}: the one it points to {meaning}"));
        }
        self.y += LINE / 2.0;
    }

    /// Let, Then, However.
    fn words(&mut self, violation: &ViolationReport) {
        let explanation = &violation.explanation;
        let parts = [("Let", &explanation.lets), ("Then", &explanation.thens), ("However", &explanation.however)];
        for (heading, lines) in parts.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            self.y += 6.0;
            self.line(MARGIN, "class=\"words\" font-weight=\"bold\"", heading);
            lines.iter().for_each(|line| self.paragraph(16.0, line));
        }
    }
}

fn whole(title: &str, sheet: &Sheet) -> String {
    let Sheet { body, y, width } = sheet;
    let height = y + 6.0;
    let markers: String = KINDS
        .iter()
        .map(|(kind, color, _)| {
            format!(
                "<marker id=\"{kind}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"6\" markerHeight=\"6\" \
                 orient=\"auto\"><path d=\"M 0 1 L 10 5 L 0 9 z\" fill=\"{color}\"/></marker>\n"
            )
        })
        .collect();
    let colors: String = KINDS.iter().map(|(kind, color, _)| format!(".{kind} {{ fill: {color} }}\n")).collect();
    let title = escaped(title);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>{title}</title>\n<style>\n.words {{ fill: #1f2328 }}\n{colors}</style>\n<defs>\n{markers}</defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
}

fn draw_box(body: &mut String, name: &str, (x, y): Point) {
    let half = BOX_WIDTH.max(name.chars().count() as f64 * 4.5 + 10.0);
    let _ = writeln!(
        body,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{}\" rx=\"8\" fill=\"#f6f8fa\" stroke=\"#1f2328\"/>\n\
         <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-weight=\"bold\" class=\"words\">{}</text>",
        x - half,
        y - BOX_HEIGHT,
        2.0 * half,
        2.0 * BOX_HEIGHT,
        y + 5.0,
        escaped(name)
    );
}

/// An arrow, bent to its left: whoever goes round clockwise has the outside there.
fn draw_edge(body: &mut String, edge: &EdgeReport, from: Point, to: Point) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    let outside = (dy / length, -dx / length);
    let bend = (0.24 * length).max(48.0);
    let half = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
    let control = (half.0 + outside.0 * bend, half.1 + outside.1 * bend);
    let (start, end) = (border(from, control), border(to, control));
    let color = KINDS.iter().find(|(kind, ..)| *kind == edge.kind).map_or("#1f2328", |(_, color, _)| color);
    let kind = escaped(&edge.kind);
    let _ = writeln!(
        body,
        "<path d=\"M {:.1} {:.1} Q {:.1} {:.1} {:.1} {:.1}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" \
         marker-end=\"url(#{kind})\"/>",
        start.0, start.1, control.0, control.1, end.0, end.1,
    );
    // The top of the bow, where the label stands outside.
    let top = ((start.0 + 2.0 * control.0 + end.0) / 4.0, (start.1 + 2.0 * control.1 + end.1) / 4.0);
    let at = (top.0 + 9.0 * outside.0, top.1 + 5.0 + 11.0 * outside.1);
    let anchor = match outside.0 {
        x if x > 0.3 => "start",
        x if x < -0.3 => "end",
        _ => "middle",
    };
    let _ = writeln!(
        body,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" class=\"{kind}\">{}</text>",
        at.0,
        at.1,
        escaped(&label(edge))
    );
}

fn label(edge: &EdgeReport) -> String {
    let label = edge.key.as_ref().map_or(edge.kind.clone(), |key| format!("{} {key}", edge.kind));
    match label.chars().count() {
        0..=LABEL_MAX => label,
        _ => label.chars().take(LABEL_MAX - 1).chain(['…']).collect(),
    }
}

/// Where the way from a box's middle to a point leaves the box, and a little further.
fn border((x, y): Point, (to_x, to_y): Point) -> Point {
    let (dx, dy) = (to_x - x, to_y - y);
    let scale = ((BOX_WIDTH + 3.0) / dx.abs().max(0.001)).min((BOX_HEIGHT + 3.0) / dy.abs().max(0.001)).min(1.0);
    (x + dx * scale, y + dy * scale)
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            // No part of any XML document.
            '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::ExplanationReport;
    use crate::report::model::check::TransactionReport;

    fn violation(count: usize) -> ViolationReport {
        let name = |at: usize| format!("T{}", at % count + 1);
        let transaction =
            |at| TransactionReport { name: name(at), what: "append \"<x>\" 1 & more".to_string(), line: 7 };
        let kind = |at: usize| KINDS[at % KINDS.len()].0.to_string();
        let edge =
            |at: usize| EdgeReport { from: name(at), to: name(at + 1), kind: kind(at), key: Some("<x>".to_string()) };
        ViolationReport {
            anomaly: "G2-item".to_string(),
            name: "cycle".to_string(),
            what: "a cycle".to_string(),
            citation: String::new(),
            count: 1,
            explanation: ExplanationReport {
                lets: (0..count)
                    .map(|at| format!("{}: {}", name(at), "append \"<x>\" 1 & more, ".repeat(20)))
                    .collect(),
                thens: vec!["this & that".to_string()],
                however: Vec::new(),
            },
            transactions: (0..count).map(transaction).collect(),
            cycle: (0..count).map(edge).collect(),
        }
    }

    /// Opens and closes of all elements match, and nothing is left unescaped.
    fn is_well_formed(svg: &str) -> bool {
        let mut open: Vec<String> = Vec::new();
        for part in svg.split('<').skip(1) {
            let Some((tag, text)) = part.split_once('>') else { return false };
            if text.contains('&') && !text.contains(';') {
                return false;
            }
            let name = tag.split_whitespace().next().unwrap_or("").trim_end_matches('/').to_string();
            match tag {
                _ if tag.starts_with('?') || tag.ends_with('/') => {}
                _ if tag.starts_with('/') => {
                    if open.pop().as_deref() != Some(&name[1..]) {
                        return false;
                    }
                }
                _ => open.push(name),
            }
        }
        open.is_empty()
    }

    #[test]
    fn every_cycle_is_a_well_formed_picture() {
        for count in [1, 2, 3, 5, 9] {
            let svg = print(&violation(count));
            assert!(is_well_formed(&svg), "{svg}");
            assert_eq!(svg.matches(" Q ").count(), count);
            assert!(!svg.contains("<x>"), "{svg}");
            assert_eq!(svg.matches("&lt;x&gt;").count(), count * 21, "nothing is cut: {svg}");
            assert!(svg.contains(">Then<") && !svg.contains(">However<"), "{svg}");
        }
        assert!(!is_well_formed("<a><b></a>"));
    }

    /// Where the labels of the arrows stand.
    fn labels(svg: &str) -> Vec<&str> {
        svg.lines().filter(|line| line.contains(">ww ") || line.contains(">wr ")).map(|line| &line[..28]).collect()
    }

    #[test]
    fn there_and_back_are_two_arrows_with_a_label_each() {
        let mut two = violation(2);
        // A witness who is not on the cycle does not push the others together.
        let witness = TransactionReport { name: "T9".to_string(), what: String::new(), line: 9 };
        two.transactions.push(witness);
        let svg = print(&two);
        let labels = labels(&svg);
        assert_eq!(labels.len(), 2, "{svg}");
        assert_ne!(labels[0], labels[1]);
        assert!(!svg.contains(">T9<"), "{svg}");
    }

    #[test]
    fn what_has_no_cycle_is_told_in_words() {
        let mut odd = violation(2);
        odd.cycle.clear();
        let svg = print(&odd);
        assert!(is_well_formed(&svg) && !svg.contains("marker-end") && svg.contains(">Let<"), "{svg}");
    }

    #[test]
    fn long_labels_are_cut() {
        let edge = |key: &str| {
            let mut cycle = violation(2).cycle;
            EdgeReport { kind: "rw".to_string(), key: Some(key.to_string()), ..cycle.remove(0) }
        };
        assert_eq!(label(&edge("x")), "rw x");
        assert_eq!(label(&edge(&"y".repeat(30))), format!("rw {}…", "y".repeat(20)));
    }
}
