//! Line charts as SVG: a few series over a few points.

use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
/// Room for labels, at the left and right, at the top and at the bottom.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 48.0;
/// Colours that people with any kind of sight can tell apart (after Okabe and Ito).
const COLOURS: [&str; 5] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"];

/// A chart.
pub(crate) struct Chart<'a> {
    /// What it shows.
    pub(crate) title: &'a str,
    /// What stands below and beside it.
    pub(crate) axes: (&'a str, &'a str),
    /// The names of the points, at equal distances.
    pub(crate) points: &'a [String],
    /// The range of values.
    pub(crate) range: (f64, f64),
    /// The series, by name.
    pub(crate) series: &'a [(&'a str, Vec<f64>)],
}

impl Chart<'_> {
    /// The chart as a file.
    pub(crate) fn svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        self.text(&mut svg, (LEFT, 22.0), "start", 15, self.title);
        self.text(&mut svg, ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10.0), "middle", 12, self.axes.0);
        self.text(&mut svg, (8.0, TOP - 10.0), "start", 12, self.axes.1);
        for step in 0..=4 {
            let value = self.range.0 + (self.range.1 - self.range.0) * f64::from(step) / 4.0;
            let y = self.y(value);
            let end = WIDTH - RIGHT;
            let _ = writeln!(svg, "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{end}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>");
            self.text(&mut svg, (LEFT - 6.0, y + 4.0), "end", 12, &label(value));
        }
        for (at, name) in self.points.iter().enumerate() {
            self.text(&mut svg, (self.x(at), HEIGHT - BOTTOM + 18.0), "middle", 12, name);
        }
        let mut last_label = f64::MIN;
        for (at, (name, values)) in self.series.iter().enumerate() {
            let colour = COLOURS[at % COLOURS.len()];
            let point = |(at, value): (usize, &f64)| format!("{:.1},{:.1}", self.x(at), self.y(*value));
            let points: Vec<String> = values.iter().enumerate().map(point).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                points.join(" ")
            );
            for (at, value) in values.iter().enumerate() {
                let (x, y) = (self.x(at), self.y(*value));
                let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
            }
            // Labels must not cover one another.
            let wanted = values.last().map_or(TOP, |value| self.y(*value)) + 4.0;
            let y = if (wanted - last_label).abs() < 14.0 { last_label + 14.0 } else { wanted };
            last_label = y;
            let x = WIDTH - RIGHT + 8.0;
            let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y:.1}\" fill=\"{colour}\">{name}</text>");
        }
        svg + "</svg>\n"
    }

    fn x(&self, at: usize) -> f64 {
        let gaps = self.points.len().saturating_sub(1).max(1) as f64;
        LEFT + 12.0 + (WIDTH - LEFT - RIGHT - 24.0) * at as f64 / gaps
    }

    fn y(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        let share = ((value - low) / (high - low).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share
    }

    fn text(&self, svg: &mut String, (x, y): (f64, f64), anchor: &str, size: u32, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"#333\">{text}</text>"
        );
    }
}

/// As few digits as tell the values of a chart apart.
fn label(value: f64) -> String {
    match value.abs() {
        large if large >= 10.0 => format!("{value:.0}"),
        _ => format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').to_string(),
    }
}
