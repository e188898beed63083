//! The data directory of a PostgreSQL in which nothing has happened yet, made once and copied from then on.
//!
//! `initdb` takes half a second, a copy of its result a twentieth of that. So the first private server of this process
//! makes a pristine data directory, and every server of the same installation copies it: when it is started, and when
//! it is to forget everything. It goes away with the last server that uses it.
//!
//! To forget, a server need not copy everything again: every copied file gets the same old time of modification, so
//! that a file which has it still was never written to. A server that has run a case has written to some dozens of its
//! thousand files. (Making new files is what costs: some file systems search long for a number that was not in use a
//! moment ago.)

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use super::super::files::{copy_file, make_dir, remove_any};
use super::super::pristine::seal;
use super::super::user::act_as;
use super::super::{ScratchDir, ServerError, ServerOptions, confinement, failed};
use super::install::Installation;

/// A data directory as `initdb` left it. It belongs to a user of its own, as which no server runs: servers may read it.
#[derive(Debug)]
pub(super) struct Pristine {
    installation: Installation,
    scratch: ScratchDir,
}

impl Pristine {
    /// The pristine directory of that installation: the one that a server of this process uses already, or a new one.
    pub(super) fn of(installation: &Installation) -> Result<Arc<Pristine>, ServerError> {
        static KNOWN: Mutex<Vec<Weak<Pristine>>> = Mutex::new(Vec::new());
        // Kept locked while one is made: who comes second had better wait for it than make another one.
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|pristine| pristine.strong_count() > 0);
        if let Some(found) = known.iter().filter_map(Weak::upgrade).find(|found| found.installation == *installation) {
            return Ok(found);
        }
        let pristine = Arc::new(Pristine::make(installation)?);
        known.push(Arc::downgrade(&pristine));
        Ok(pristine)
    }

    fn make(installation: &Installation) -> Result<Pristine, ServerError> {
        let scratch =
            ScratchDir::for_server(&ServerOptions { user: confinement::named_user(), ..ServerOptions::default() });
        let scratch = scratch.map_err(failed("make a scratch directory for PostgreSQL"))?;
        let mut pristine = Pristine { installation: installation.clone(), scratch };
        let program = installation.bin.join("initdb");
        let (user, home) = (pristine.scratch.user(), pristine.scratch.home());
        let list = pristine.scratch.path().join("passwd");
        let mut initdb = confinement::named_command(&program, user, &home, &list)
            .map_err(failed(format_args!("write {}", list.display())))?;
        initdb.arg("-D").arg(pristine.data()).args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]);
        let output = initdb.output().map_err(|error| cannot_run(&program, user.is_some(), &error))?;
        if output.status.success() {
            return seal(&mut pristine.scratch).map(|()| pristine);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(ServerError::Failed(format!("{} failed ({}): {}", program.display(), output.status, said.trim())))
    }

    /// A file of it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.data().join(name)
    }

    pub(super) fn data(&self) -> PathBuf {
        self.scratch.home().join("data")
    }

    /// Makes the data directory of a server, whether it exists or not, a copy.
    pub(super) fn restore_to(&self, server: &ScratchDir) -> Result<(), ServerError> {
        let target = server.home().join("data");
        act_as(server.user(), || restore(&self.data(), &target))
            .map_err(failed(format_args!("make {} a copy of the pristine data directory", target.display())))
    }
}

/// The error of a program that does not start.
fn cannot_run(program: &Path, as_other_user: bool, error: &io::Error) -> ServerError {
    let hint = if as_other_user && error.kind() == io::ErrorKind::PermissionDenied {
        "; we are root, so it runs as another user, who must be able to read and execute it"
    } else {
        ""
    };
    ServerError::Failed(format!("cannot run {}: {error}{hint}", program.display()))
}

/// The time of modification of a copied file that nobody has written to: long ago.
fn untouched_time() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
}

/// Makes `to` a copy of `from`; what has not changed is left alone.
fn restore(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(to) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => {
            remove_any(to)?;
            make_dir(to)?;
        }
        Err(_) => make_dir(to)?,
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            restore(&entry.path(), &target)?;
        } else if !is_untouched(&target, &entry.metadata()?) {
            copy_file(&entry.path(), &target)?.set_modified(untouched_time())?;
        }
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if !from.join(entry.file_name()).exists() {
            remove_any(&entry.path())?;
        }
    }
    Ok(())
}

fn is_untouched(copy: &Path, original: &Metadata) -> bool {
    let same =
        |copy: Metadata| Ok(copy.is_file() && copy.len() == original.len() && copy.modified()? == untouched_time());
    fs::symlink_metadata(copy).and_then(same).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_restored_whatever_was_done_to_it() {
        let scratch = ScratchDir::create().unwrap();
        let (from, to) = (scratch.path().join("from"), scratch.path().join("to"));
        fs::create_dir_all(from.join("base")).unwrap();
        for (name, content) in [("a", "one"), ("base/b", "two"), ("base/c", "three")] {
            fs::write(from.join(name), content).unwrap();
        }
        restore(&from, &to).unwrap();
        fs::write(to.join("a"), "ONE").unwrap();
        fs::remove_file(to.join("base/b")).unwrap();
        fs::create_dir_all(to.join("new/deep")).unwrap();
        std::os::unix::fs::symlink(&from, to.join("link")).unwrap();
        fs::remove_file(to.join("base/c")).unwrap();
        fs::write(scratch.path().join("outside"), "precious").unwrap();
        std::os::unix::fs::symlink(scratch.path().join("outside"), to.join("base/c")).unwrap();
        fs::write(to.join("base/d"), "four").unwrap();
        restore(&from, &to).unwrap();
        let mut found: Vec<_> = fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        found.sort();
        assert_eq!(found, ["a", "base"]);
        assert_eq!(fs::read_dir(to.join("base")).unwrap().count(), 2);
        assert_eq!(fs::read_to_string(to.join("a")).unwrap(), "one");
        assert_eq!(fs::read_to_string(to.join("base/b")).unwrap(), "two");
        assert!(from.join("base/c").exists(), "a link is removed, not what it leads to");
        assert_eq!(fs::read_to_string(to.join("base/c")).unwrap(), "three");
        assert_eq!(fs::read_to_string(scratch.path().join("outside")).unwrap(), "precious");
    }
}
