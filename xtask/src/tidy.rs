//! The style that a machine can check: small files, short functions, documents that name what exists.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A file that passes this has become two things.
const FILE_LINES_MAX: usize = 800;
/// A function that passes this does not fit on a screen.
const FUNCTION_LINES_MAX: usize = 80;

/// The width of rustfmt, and a little more for comments, which it does not break.
const LINE_COLUMNS_MAX: usize = 124;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The tracked and the new files with one of these endings, with their texts.
fn files(endings: &[&str]) -> Vec<(String, String)> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    String::from_utf8(output.stdout)
        .expect("file names are UTF-8")
        .lines()
        .filter(|path| endings.iter().any(|ending| path.ends_with(ending)))
        .filter_map(|path| Some((path.to_string(), std::fs::read_to_string(root().join(path)).ok()?)))
        .collect()
}

fn report(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn files_are_about_one_thing() {
    let long = |(path, text): &(String, String)| {
        let lines = text.lines().count();
        (lines > FILE_LINES_MAX).then(|| format!("{path}: {lines} lines"))
    };
    report(&files(&[".rs"]).iter().filter_map(long).collect::<Vec<_>>());
}

#[test]
fn functions_fit_on_a_screen() {
    let mut complaints = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let mut open: Option<(usize, usize, String)> = None;
        for (number, line) in text.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            match &open {
                // rustfmt puts the closing brace under the first letter of the item.
                Some((start, depth, name)) if line.trim_end() == format!("{}}}", " ".repeat(*depth)) => {
                    let lines = number - start;
                    if lines > FUNCTION_LINES_MAX {
                        complaints.push(format!("{path}:{}: {name} has {lines} lines", start + 1));
                    }
                    open = None;
                }
                None if is_function(line) => {
                    open = Some((number, indent, line.trim().to_string()));
                }
                _ => {}
            }
        }
    }
    report(&complaints);
}

fn is_function(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let qualifiers = ["pub", "pub(crate)", "pub(super)", "const", "async"];
    words.iter().find(|word| !qualifiers.contains(word)).is_some_and(|word| *word == "fn") && !line.ends_with('}')
}

#[test]
fn lines_are_clean() {
    let mut complaints = Vec::new();
    for (path, text) in files(&[".rs", ".md", ".toml", ".sql", "Makefile"]) {
        for (number, line) in text.lines().enumerate() {
            let place = format!("{path}:{}", number + 1);
            if line.trim_end() != line {
                complaints.push(format!("{place}: trailing white space"));
            }
            if path.ends_with(".rs") && line.contains('\t') {
                complaints.push(format!("{place}: a tab"));
            }
            if path.ends_with(".rs")
                && line.chars().count() > LINE_COLUMNS_MAX
                && !line.contains('"')
                && !line.ends_with('\\')
            {
                complaints.push(format!("{place}: too long"));
            }
        }
        if !text.is_empty() && !text.ends_with('\n') {
            complaints.push(format!("{path}: no line break at the end"));
        }
    }
    report(&complaints);
}

/// True if a line asserts that something took less than some time; a deadline that only ends a loop is no such claim.
fn asserts_speed(line: &str) -> bool {
    let has = |word: &str| line.contains(word);
    let is_measured = has("elapsed") || has("as_secs") || has("as_millis") || has("Duration::from");
    has("assert") && is_measured && (has(" < ") || has(" <= ")) && !has("timed out")
}

#[test]
fn no_test_asserts_wall_clock_time() {
    assert!(asserts_speed("assert!(start.elapsed() < Duration::from_secs(2));"));
    assert!(!asserts_speed("assert!(shared.elapsed() >= Duration::from_millis(40));"));
    let mut complaints = Vec::new();
    for (path, text) in files(&[".rs"]).iter().filter(|(path, _)| !path.ends_with("tidy.rs")) {
        let lines = text.lines().enumerate().filter(|(_, line)| asserts_speed(line));
        complaints.extend(lines.map(|(number, _)| format!("{path}:{}: a busy machine is no bug", number + 1)));
    }
    report(&complaints);
}

#[test]
fn the_core_does_no_io() {
    let forbidden =
        ["std::fs", "std::net", "std::process", "std::thread", "Instant", "SystemTime", "std::env", "println!"];
    let mut complaints = Vec::new();
    for (path, text) in files(&[".rs"]).iter().filter(|(path, _)| path.starts_with("crates/core/src/")) {
        for word in forbidden.iter().filter(|word| text.contains(**word)) {
            complaints.push(format!("{path}: {word} in the core, which does no I/O"));
        }
    }
    report(&complaints);
}

/// Fields of reports and findings that hold text for people.
const REPORT_TEXTS: &[&str] = &[
    "verdict",
    "says",
    "fate",
    "reason",
    "ended",
    "severity",
    "sentence",
    "why",
    "message",
    "title",
    "promised",
    "what",
    "words",
    "remark",
    "claim",
    "failure",
    "order",
    "structure",
    "evidence",
];

/// The field or variable of a report text that a line compares or matches, if it does.
fn compared_text(line: &str) -> Option<&'static str> {
    let code = line.split("//").next().unwrap_or_default();
    REPORT_TEXTS.iter().copied().find(|name| {
        let is_place = |at: usize| {
            let before = code[..at].chars().next_back();
            before.is_none_or(|before| !before.is_alphanumeric() && before != '_' && before != '"')
        };
        code.match_indices(name).filter(|(at, _)| is_place(*at)).any(|(at, _)| {
            let rest = &code[at + name.len()..];
            let rest = rest.strip_prefix(".as_str()").or_else(|| rest.strip_prefix(".as_deref()")).unwrap_or(rest);
            let compares = [" == \"", " != \"", ".starts_with(", ".contains(\"", ".ends_with(\"", " == Some(\""];
            let is_match =
                code.trim_start().starts_with("match ") && rest.trim_start() == "{" && code.contains(".as_str()");
            compares.iter().any(|operator| rest.starts_with(operator)) || is_match
        })
    })
}

#[test]
fn nothing_is_decided_by_the_text_of_a_report() {
    assert_eq!(compared_text("if fate.verdict == \"manifest\" {"), Some("verdict"));
    assert_eq!(compared_text("Verdict::Unknown(reason) if reason.starts_with(diff::UNSTABLE) => {"), Some("reason"));
    assert_eq!(compared_text("match report.ended.as_str() {"), Some("ended"));
    assert_eq!(compared_text("if fate.verdict == TrialVerdict::Manifest {"), None);
    let mut complaints = Vec::new();
    // What servers and source languages say is input, not a report.
    let readers = ["/frontends/", "/engines/", "/servers/", "/tests"];
    let is_production = |path: &str| {
        path.starts_with("crates/")
            && path.contains("/src/")
            && !path.ends_with("tests.rs")
            && !readers.iter().any(|reader| path.contains(reader))
    };
    for (path, text) in files(&[".rs"]).iter().filter(|(path, _)| is_production(path)) {
        let production = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (number, line) in production.lines().enumerate() {
            if let Some(name) = compared_text(line) {
                complaints.push(format!("{path}:{}: a decision on the text `{name}`: use a type", number + 1));
            }
        }
    }
    report(&complaints);
}

#[test]
fn documents_name_what_exists() {
    let mut complaints = Vec::new();
    for (path, text) in files(&[".md"]) {
        let folder = Path::new(&path).parent().unwrap_or(Path::new("")).to_path_buf();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or("");
            if target.is_empty() || target.contains("://") {
                continue;
            }
            if !root().join(&folder).join(target).exists() {
                complaints.push(format!("{path}: the link to {target} leads nowhere"));
            }
        }
        for name in text.split('`').skip(1).step_by(2).filter(|name| is_repository_path(name)) {
            if !root().join(name.trim_end_matches('/')).exists() {
                complaints.push(format!("{path}: there is no {name}"));
            }
        }
    }
    report(&complaints);
}

fn is_repository_path(name: &str) -> bool {
    ["crates/", "corpus/", "docs/", "xtask/", "tools/"].iter().any(|prefix| name.starts_with(prefix))
        && !name.contains(['*', '<', '…', ' '])
}
