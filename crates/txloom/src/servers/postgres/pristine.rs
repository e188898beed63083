//! The data directory of a PostgreSQL in which nothing has happened yet, made once and copied from then on.
//!
//! `initdb` takes half a second, a copy of its result a twentieth of that. So the first private server of this process
//! makes a pristine data directory, and every server of the same installation copies it: when it is started, and when
//! it is to forget everything. It goes away with the last server that uses it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::super::process::command;
use super::super::user::ServerUser;
use super::super::{ScratchDir, ServerError, failed};
use super::install::Installation;

/// A data directory as `initdb` left it.
#[derive(Debug)]
pub(super) struct Pristine {
    installation: Installation,
    user: Option<ServerUser>,
    scratch: ScratchDir,
}

impl Pristine {
    /// The pristine directory of that installation: the one that a server of this process uses already, or a new one.
    pub(super) fn of(installation: &Installation, user: Option<&ServerUser>) -> Result<Arc<Pristine>, ServerError> {
        static KNOWN: Mutex<Vec<Weak<Pristine>>> = Mutex::new(Vec::new());
        // Kept locked while one is made: who comes second had better wait for it than make another one.
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|pristine| pristine.strong_count() > 0);
        if let Some(found) = known.iter().filter_map(Weak::upgrade).find(|found| found.installation == *installation) {
            return Ok(found);
        }
        let pristine = Arc::new(Pristine::make(installation, user)?);
        known.push(Arc::downgrade(&pristine));
        Ok(pristine)
    }

    fn make(installation: &Installation, user: Option<&ServerUser>) -> Result<Pristine, ServerError> {
        let scratch = ScratchDir::create(user).map_err(failed("make a scratch directory for PostgreSQL"))?;
        let pristine = Pristine { installation: installation.clone(), user: user.cloned(), scratch };
        let program = installation.bin.join("initdb");
        let mut initdb = command(&program, user, pristine.scratch.path());
        initdb.arg("-D").arg(pristine.data()).args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]);
        let output = initdb.output().map_err(failed(format_args!("run {}", program.display())))?;
        if output.status.success() {
            return Ok(pristine);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(ServerError::Failed(format!("{} failed ({}): {}", program.display(), output.status, said.trim())))
    }

    /// A file of it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.data().join(name)
    }

    fn data(&self) -> PathBuf {
        self.scratch.path().join("data")
    }

    /// Copies it to a directory that does not exist yet.
    pub(super) fn copy_to(&self, target: &Path) -> Result<(), ServerError> {
        copy_tree(&self.data(), target, self.user.as_ref())
            .map_err(failed(format_args!("copy the pristine data directory to {}", target.display())))
    }
}

/// Copies a directory with its permissions; what is copied belongs to the user.
fn copy_tree(from: &Path, to: &Path, user: Option<&ServerUser>) -> io::Result<()> {
    fs::create_dir(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target, user)?;
        } else {
            fs::copy(entry.path(), &target)?;
            user.map_or(Ok(()), |user| user.own(&target))?;
        }
    }
    user.map_or(Ok(()), |user| user.own(to))
}
