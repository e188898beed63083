//! Where PostgreSQL's programs are on this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use txloom_core::engine::Version;

use super::super::{Programs, ServerError};

/// Where Debian and its relatives put one directory per major version.
const VERSIONED_DIRS: &str = "/usr/lib/postgresql";

/// A PostgreSQL that can be started.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Installation {
    /// The directory that holds `initdb` and `postgres`.
    pub bin: PathBuf,
}

impl Installation {
    /// Finds the programs, or says which package brings them.
    pub fn find(wanted: &Programs) -> Result<Installation, ServerError> {
        match wanted {
            Programs::Dir(dir) => [dir.join("bin"), dir.clone()].into_iter().find_map(complete).ok_or_else(|| {
                let (dir, why) = (dir.display(), "neither it nor its bin/ holds the programs `initdb` and `postgres`");
                ServerError::Missing(format!("cannot find PostgreSQL in {dir}: {why}"))
            }),
            Programs::Version(numbers) => {
                let matches = |found: &Installation| found.version().is_some_and(|v| v.numbers.starts_with(numbers));
                Installation::all().into_iter().find(matches).ok_or_else(|| {
                    let version = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
                    let major = numbers.first().copied().unwrap_or_default();
                    missing(&format!("PostgreSQL {version}"), &format!("postgresql-{major}"))
                })
            }
            Programs::Newest => versioned()
                .into_iter()
                .next()
                .or_else(|| elsewhere().into_iter().next())
                .ok_or_else(|| missing("PostgreSQL", "postgresql")),
        }
    }

    /// Everything that is installed where it is expected, newest first.
    pub fn all() -> Vec<Installation> {
        let mut found = versioned();
        for other in elsewhere() {
            if !found.contains(&other) {
                found.push(other);
            }
        }
        found
    }

    /// The version that the program says it has.
    pub fn version(&self) -> Option<Version> {
        let text = output(Command::new(self.bin.join("postgres")).arg("--version"))?;
        Some(Version::parse(text.trim()))
    }
}

fn versioned_bin(major: u32) -> PathBuf {
    Path::new(VERSIONED_DIRS).join(major.to_string()).join("bin")
}

/// What the versioned directories hold, newest first.
fn versioned() -> Vec<Installation> {
    let entries = std::fs::read_dir(VERSIONED_DIRS).into_iter().flatten().flatten();
    let mut majors: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    majors.sort_unstable_by(|a, b| b.cmp(a));
    majors.into_iter().filter_map(|major| complete(versioned_bin(major))).collect()
}

/// The directory as an installation, if both programs are there.
fn complete(bin: PathBuf) -> Option<Installation> {
    let is_whole = |bin: &Path| bin.join("initdb").is_file() && bin.join("postgres").is_file();
    // A directory of links is not a second installation.
    let real = bin.join("postgres").canonicalize().ok().and_then(|program| Some(program.parent()?.to_path_buf()));
    is_whole(&bin).then(|| Installation { bin: real.filter(|real| is_whole(real)).unwrap_or(bin) })
}

/// What `pg_config` and the search path know.
fn elsewhere() -> Vec<Installation> {
    let configured = output(Command::new("pg_config").arg("--bindir")).map(|dir| PathBuf::from(dir.trim()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    configured.into_iter().chain(std::env::split_paths(&path)).filter_map(complete).collect()
}

/// What a program prints, if it is there and succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

fn missing(what: &str, package: &str) -> ServerError {
    ServerError::Missing(format!(
        "{what} is not installed on this machine: install the package `{package}` (apt install {package}), or name a \
         directory that holds bin/postgres (postgres@DIR)"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::super::ScratchDir;
    use super::*;

    #[test]
    fn a_missing_version_names_its_package() {
        let error = Installation::find(&Programs::Version(vec![7])).unwrap_err().to_string();
        assert!(error.contains("PostgreSQL 7 is not installed") && error.contains("postgresql-7"), "{error}");
    }

    #[test]
    fn a_directory_without_programs_is_said_to_have_none() {
        let scratch = ScratchDir::create().unwrap();
        let error = Installation::find(&Programs::Dir(scratch.path().into())).unwrap_err().to_string();
        assert!(error.contains("cannot find PostgreSQL in ") && error.contains("initdb"), "{error}");
    }

    #[test]
    fn a_directory_may_be_named_with_or_without_bin() {
        let newest = Installation::find(&Programs::Newest).unwrap();
        let parent = newest.bin.parent().unwrap().to_path_buf();
        for dir in [parent, newest.bin.clone()] {
            assert_eq!(Installation::find(&Programs::Dir(dir)).unwrap(), newest);
        }
        let major = newest.version().unwrap().numbers[0];
        assert_eq!(Installation::find(&Programs::Version(vec![major])).unwrap(), newest);
    }
}
