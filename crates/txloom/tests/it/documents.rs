//! Every command in the documents is run.
//!
//! A line `$ txloom …` in a `console` block is a command; `# exit N` at its end says with which code it ends (0 without).
//! Commands run in the order in which they stand, in a directory that looks like the repository's root: what they write is
//! gone afterwards.

use std::path::Path;

use crate::support::{TestDir, limited, root, txloom};

struct Documented {
    place: String,
    command: String,
    exit: i32,
}

fn commands(file: &str) -> Vec<Documented> {
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut inside = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line.starts_with("```console");
        } else if let Some(command) = line.strip_prefix("$ txloom ").filter(|_| inside) {
            let (command, exit) = command.split_once("# exit ").unwrap_or((command, "0"));
            let exit = exit.trim().parse().expect("an exit code");
            found.push(Documented {
                place: format!("{file}:{}", number + 1),
                command: command.trim().to_string(),
                exit,
            });
        }
    }
    found
}

/// A directory with links to everything in the repository's root.
fn like_root(name: &str) -> TestDir {
    let directory = TestDir::new(name);
    for entry in std::fs::read_dir(root()).expect("the root is there") {
        let entry = entry.expect("an entry");
        let path = entry.path().canonicalize().expect("it is there");
        std::os::unix::fs::symlink(path, directory.path().join(entry.file_name())).expect("links can be made");
    }
    directory
}

fn check(file: &'static str) {
    let commands = commands(file);
    assert!(!commands.is_empty(), "{file} shows no command");
    let directory = like_root(&file.replace(['/', '.'], "-"));
    for documented in commands {
        let path = directory.path().to_path_buf();
        limited(move || check_command(&documented, &path));
    }
}

fn check_command(documented: &Documented, directory: &Path) {
    let arguments: Vec<&str> = documented.command.split_whitespace().collect();
    let output = txloom(&arguments).current_dir(directory).output().expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let place = format!("{}: txloom {}", documented.place, documented.command);
    assert_eq!(output.status.code(), Some(documented.exit), "{place}\n{stderr}");
}

#[test]
fn readme() {
    check("README.md");
}

#[test]
fn tutorial() {
    check("docs/tutorial.md");
}

#[test]
fn reference() {
    for file in [
        "docs/reference/analyze.md",
        "docs/reference/commands.md",
        "docs/reference/formats.md",
        "docs/reference/frontends.md",
        "docs/reference/targets.md",
        "docs/reference/histories.md",
        "docs/reference/levels.md",
        "docs/reference/planted-bugs.md",
        "docs/reference/oracles.md",
        "docs/reference/hunting.md",
        "docs/reference/logs.md",
    ] {
        check(file);
    }
}

#[test]
fn storms() {
    check("docs/reference/storm.md");
}
