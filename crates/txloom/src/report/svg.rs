//! A cycle as a picture: transactions on a circle, arrows in colours that say why one is before the other.
//!
//! Plain SVG, which every browser shows; no script, no style sheet from elsewhere.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use super::model::check::{EdgeReport, ViolationReport};

/// Half the width of a box.
const BOX_WIDTH: f64 = 34.0;
/// Half the height of a box.
const BOX_HEIGHT: f64 = 16.0;
/// Lines below the picture.
const LINE: f64 = 18.0;
/// How many characters of a line fit.
const CHARACTERS_MAX: usize = 96;
/// The width of the picture.
const WIDTH: f64 = 720.0;

/// What the kinds of edges look like, and what they say.
const KINDS: &[(&str, &str, &str)] = &[
    ("ww", "#b35900", "writes the next version"),
    ("wr", "#1a7f37", "reads what the other wrote"),
    ("rw", "#b3001e", "reads what the other overwrites"),
    ("so", "#57606a", "comes later in the same session"),
    ("rt", "#0b5394", "begins after the other has ended"),
    ("co", "#6f42c1", "must have been committed later"),
];

/// The picture of a violation.
pub fn print(violation: &ViolationReport) -> String {
    let names: Vec<&str> = violation.transactions.iter().map(|transaction| transaction.name.as_str()).collect();
    let radius = 70.0 + 22.0 * names.len() as f64;
    let (middle_x, middle_y) = (WIDTH / 2.0, 70.0 + radius);
    let place = |name: &str| {
        let at = names.iter().position(|other| *other == name).unwrap_or(0);
        let angle = TAU * at as f64 / names.len().max(1) as f64 - TAU / 4.0;
        (middle_x + radius * angle.cos(), middle_y + radius * angle.sin())
    };
    let mut body = String::new();
    for edge in &violation.cycle {
        draw_edge(&mut body, edge, place(&edge.from), place(&edge.to), (middle_x, middle_y));
    }
    for name in &names {
        draw_box(&mut body, name, place(name));
    }
    let mut y = middle_y + radius + 60.0;
    let mut line = |body: &mut String, class: &str, text: &str| {
        let short: String = text.chars().take(CHARACTERS_MAX).collect();
        let more = if short.len() < text.len() { "…" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(body, "<text x=\"24\" y=\"{y:.0}\" class=\"{class}\">{}{more}</text>", escaped(&short));
        y += LINE;
    };
    for transaction in &violation.transactions {
        let text = format!("{} (line {}): {}", transaction.name, transaction.line, transaction.what);
        line(&mut body, "words", &text);
    }
    for (kind, _, meaning) in KINDS.iter().filter(|(kind, ..)| violation.cycle.iter().any(|edge| edge.kind == *kind)) {
        line(&mut body, kind, &format!("{kind}: {meaning}"));
    }
    whole(&format!("{}: {}", violation.anomaly, violation.what), &body, y)
}

fn whole(title: &str, body: &str, height: f64) -> String {
    let markers: String = KINDS
        .iter()
        .map(|(kind, color, _)| {
            format!(
                "<marker id=\"{kind}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
                 orient=\"auto\"><path d=\"M 0 1 L 10 5 L 0 9 z\" fill=\"{color}\"/></marker>\n"
            )
        })
        .collect();
    let colors: String = KINDS.iter().map(|(kind, color, _)| format!(".{kind} {{ fill: {color} }}\n")).collect();
    let title = escaped(title);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {WIDTH:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>{title}</title>\n<style>\n.words {{ fill: #1f2328 }}\n{colors}</style>\n<defs>\n{markers}</defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"24\" y=\"30\" font-size=\"16\" font-weight=\"bold\" class=\"words\">{title}</text>\n{body}</svg>\n"
    )
}

fn draw_box(body: &mut String, name: &str, (x, y): (f64, f64)) {
    let _ = writeln!(
        body,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"#f6f8fa\" stroke=\"#1f2328\"/>\n\
         <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-weight=\"bold\" class=\"words\">{}</text>",
        x - BOX_WIDTH,
        y - BOX_HEIGHT,
        2.0 * BOX_WIDTH,
        2.0 * BOX_HEIGHT,
        y + 5.0,
        escaped(name)
    );
}

/// An arrow, bent away from the middle so that there and back are two.
fn draw_edge(body: &mut String, edge: &EdgeReport, from: (f64, f64), to: (f64, f64), middle: (f64, f64)) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    let bend = 0.22 * length;
    let (px, py) = (-dy / length, dx / length);
    let half = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
    let outward = (half.0 - middle.0) * px + (half.1 - middle.1) * py;
    // Between opposite boxes there is no outward: there and back bend to different sides by themselves.
    let sign = if outward.abs() < 1.0 { -1.0 } else { outward.signum() };
    let control = (half.0 + sign * px * bend, half.1 + sign * py * bend);
    let start = border(from, control);
    let end = border(to, control);
    let label = edge.key.as_ref().map_or(edge.kind.clone(), |key| format!("{} {key}", edge.kind));
    let color = KINDS.iter().find(|(kind, ..)| *kind == edge.kind).map_or("#1f2328", |(_, color, _)| color);
    let at = ((half.0 + control.0) / 2.0 + sign * px * 12.0, (half.1 + control.1) / 2.0 + sign * py * 12.0);
    let _ = writeln!(
        body,
        "<path d=\"M {:.1} {:.1} Q {:.1} {:.1} {:.1} {:.1}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" \
         marker-end=\"url(#{kind})\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" class=\"{kind}\">{}</text>",
        start.0,
        start.1,
        control.0,
        control.1,
        end.0,
        end.1,
        at.0,
        at.1 + 4.0,
        escaped(&label),
        kind = escaped(&edge.kind),
    );
}

/// Where the way from a box's middle to a point leaves the box, and a little further.
fn border((x, y): (f64, f64), (to_x, to_y): (f64, f64)) -> (f64, f64) {
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
            explanation: ExplanationReport::default(),
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
            assert_eq!(svg.matches("marker-end").count(), count);
            assert!(!svg.contains("<x>"), "{svg}");
        }
        assert!(!is_well_formed("<a><b></a>"));
    }
}
