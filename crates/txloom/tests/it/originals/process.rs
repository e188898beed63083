//! A process that runs originals: it obeys one line at a time, and answers each with one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use txloom_core::case::Call;
use txloom_core::value::Value;

use super::place::Place;
use super::tools;
use crate::program_calls::Called;
use crate::support::root;

/// One process for all calls of a test; it ends with this.
pub(crate) struct Original {
    child: Child,
    lines: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Original {
    /// Java, with a connection to the server of this place.
    pub(crate) fn java(place: &Place) -> Original {
        let mut command = Command::new("java");
        // It lives for seconds: starting fast is all that matters.
        command.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", tools::class_path()]);
        command.arg(format!("-Dsocket={}", place.socket().display())).args(["Runner", &place.jdbc_url()]);
        Original::start(command)
    }

    /// Python, with a connection to the server of this place.
    pub(crate) fn python(place: &Place) -> Original {
        let mut command = Command::new(tools::python());
        command.arg("-B").arg(tools::run_dir().join("runner.py")).arg(place.dsn());
        Original::start(command)
    }

    /// C, with a connection to the server of this place. PostgreSQL only.
    pub(crate) fn c(place: &Place) -> Original {
        let dir = place.socket().parent().expect("the socket lies in a folder");
        let mut command = Command::new(tools::c_programs().join("runner"));
        command.env("PGHOST", dir).env("PGUSER", "postgres").env("PGDATABASE", "postgres");
        Original::start(command)
    }

    fn start(mut command: Command) -> Original {
        command.current_dir(root()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let lines = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        Original { child, lines, answers }
    }

    /// From now on calls are those of this program: the names of its classes, or the path of its module.
    pub(crate) fn program(&mut self, parts: &[String]) {
        let answer = self.ask(&format!("program\t{}", parts.join("\t")));
        assert_eq!(answer, "ready", "{parts:?}");
    }

    /// The connection is closed: tables can be dropped.
    pub(crate) fn end(&mut self) {
        assert_eq!(self.ask("end"), "ready");
    }

    /// Makes a call.
    pub(crate) fn call(&mut self, call: &Call) -> Called {
        let arguments: String = call.arguments.iter().map(|(_, value)| format!("\t{}", word(value))).collect();
        let answer = self.ask(&format!("call\t{}{arguments}", call.procedure));
        let (how, values) = answer.split_once('\t').unwrap_or((&answer, ""));
        let mut values: Vec<Value> = values.split('\t').filter(|word| !word.is_empty()).map(value).collect();
        match (how, values.pop()) {
            ("done", last) => Ok(values.into_iter().chain(last).collect()),
            ("failed", Some(Value::Text(message))) => Err(message),
            _ => panic!("{call}: {answer}"),
        }
    }

    fn ask(&mut self, line: &str) -> String {
        let mut answer = String::new();
        let sent = writeln!(self.lines, "{line}").and_then(|()| self.lines.flush());
        let heard = sent.and_then(|()| self.answers.read_line(&mut answer));
        assert!(heard.is_ok_and(|count| count > 0), "the process ended at `{line}`; it says why above");
        answer.truncate(answer.trim_end_matches('\n').len());
        answer
    }
}

impl Drop for Original {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The classes of the Java files in a folder, with their package.
pub(crate) fn classes_in(dir: &Path) -> Vec<String> {
    tools::files_in(dir, "java").iter().map(class_of).collect()
}

/// The class of a Java file, with its package.
pub(crate) fn class_of(path: &PathBuf) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let package = text.lines().find_map(|line| line.strip_prefix("package ")?.strip_suffix(';'));
    let class = path.file_stem().expect("it has an ending").to_string_lossy().into_owned();
    package.map_or(class.clone(), |package| format!("{package}.{class}"))
}

fn word(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Text(text) => format!("'{}", escaped(text)),
        other => other.to_string(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn value(word: &str) -> Value {
    match word.strip_prefix('\'') {
        Some(text) => Value::Text(unescaped(text)),
        None if word == "null" => Value::Null,
        None => Value::int(word.parse().unwrap_or_else(|_| panic!("{word} is no value"))),
    }
}

fn unescaped(text: &str) -> String {
    let mut letters = text.chars();
    let mut plain = String::new();
    while let Some(letter) = letters.next() {
        match if letter == '\\' { letters.next().unwrap_or('\\') } else { '\0' } {
            '\0' => plain.push(letter),
            't' => plain.push('\t'),
            'n' => plain.push('\n'),
            'r' => plain.push('\r'),
            other => plain.push(other),
        }
    }
    plain
}

#[test]
fn values_survive_the_way() {
    for text in ["", "it's", "a\tb\nc\r", "\\t", "back\\slash", "\u{e9}t\u{e9}"] {
        assert_eq!(value(&word(&Value::text(text))), Value::text(text));
    }
    assert_eq!(value(&word(&Value::int(-7))), Value::int(-7));
    assert_eq!(value(&word(&Value::Null)), Value::Null);
}
