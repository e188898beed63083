//! The JSON form of a report.

use super::model::Report;

/// The report as an indented JSON document that ends with a line break.
pub fn print(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report has only string keys and finite numbers");
    text.push('\n');
    text
}

/// Reads a report; the error says where it is not one.
pub fn parse(text: &str) -> Result<Report, serde_json::Error> {
    serde_json::from_str(text)
}
