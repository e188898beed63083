//! Pristine data directories: made once, copied from then on.
//!
//! Initialising a server's data directory takes a second, a copy of the result a fiftieth of that. So the first private
//! server of this process makes a pristine one, and every server of the same programs copies it: when it is started, and
//! when it is to forget everything. It goes away with the last server that uses it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::user::ServerUser;
use super::{ScratchDir, ServerError, failed};

/// A data directory in which nothing has happened yet.
#[derive(Debug)]
pub(super) struct Pristine {
    program: PathBuf,
    user: Option<ServerUser>,
    scratch: ScratchDir,
}

impl Pristine {
    /// The pristine directory for that server program: the one that a server of this process uses already, or a new one.
    /// `make` is told where: a scratch directory, and the path of the data directory in it, which does not exist yet.
    pub(super) fn of(
        program: &Path,
        user: Option<&ServerUser>,
        make: impl FnOnce(&Path, &Path) -> Result<(), ServerError>,
    ) -> Result<Arc<Pristine>, ServerError> {
        static KNOWN: Mutex<Vec<Weak<Pristine>>> = Mutex::new(Vec::new());
        // Kept locked while one is made: who comes second had better wait for it than make another one.
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|pristine| pristine.strong_count() > 0);
        if let Some(found) = known.iter().filter_map(Weak::upgrade).find(|found| found.program == *program) {
            return Ok(found);
        }
        let scratch = ScratchDir::create(user).map_err(failed("make a scratch directory"))?;
        let pristine = Arc::new(Pristine { program: program.to_path_buf(), user: user.cloned(), scratch });
        make(pristine.scratch.path(), &pristine.data())?;
        known.push(Arc::downgrade(&pristine));
        Ok(pristine)
    }

    /// Where it is.
    pub(super) fn data(&self) -> PathBuf {
        self.scratch.path().join("data")
    }

    /// Copies it to a directory that does not exist yet.
    pub(super) fn copy_to(&self, target: &Path) -> Result<(), ServerError> {
        copy_tree(&self.data(), target, self.user.as_ref())
            .map_err(failed(format_args!("copy the pristine data directory to {}", target.display())))
    }
}

/// Copies a directory with its permissions; what is copied belongs to the user.
pub(super) fn copy_tree(from: &Path, to: &Path, user: Option<&ServerUser>) -> io::Result<()> {
    fs::create_dir(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&entry.path(), &target, user)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
            user.map_or(Ok(()), |user| user.own(&target))?;
        }
    }
    user.map_or(Ok(()), |user| user.own(to))
}
