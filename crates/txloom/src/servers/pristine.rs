//! Pristine data directories: made once, copied from then on.
//!
//! Initialising a server's data directory takes a second, a copy of the result a fiftieth of that. So the first private
//! server of this process makes a pristine one, and every server of the same programs copies it: when it is started, and
//! when it is to forget everything. It goes away with the last server that uses it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::files::{copy_tree, open_to_readers};
use super::user::act_as;
use super::{ScratchDir, ServerError, ServerOptions, failed};

/// A data directory in which nothing has happened yet. It belongs to a user of its own, as which no server runs: servers
/// may read it.
#[derive(Debug)]
pub(super) struct Pristine {
    program: PathBuf,
    scratch: ScratchDir,
}

impl Pristine {
    /// The pristine directory for that server program: the one that a server of this process uses already, or a new one.
    /// `make` is told where: a scratch directory, and the path of the data directory in its home, which does not exist yet.
    pub(super) fn of(
        program: &Path,
        make: impl FnOnce(&ScratchDir, &Path) -> Result<(), ServerError>,
    ) -> Result<Arc<Pristine>, ServerError> {
        static KNOWN: Mutex<Vec<Weak<Pristine>>> = Mutex::new(Vec::new());
        // Kept locked while one is made: who comes second had better wait for it than make another one.
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|pristine| pristine.strong_count() > 0);
        if let Some(found) = known.iter().filter_map(Weak::upgrade).find(|found| found.program == *program) {
            return Ok(found);
        }
        let scratch = ScratchDir::for_server(&ServerOptions::default());
        let scratch = scratch.map_err(failed("make a scratch directory"))?;
        let mut pristine = Pristine { program: program.to_path_buf(), scratch };
        make(&pristine.scratch, &pristine.data())?;
        seal(&mut pristine.scratch)?;
        let pristine = Arc::new(pristine);
        known.push(Arc::downgrade(&pristine));
        Ok(pristine)
    }

    /// Where it is.
    pub(super) fn data(&self) -> PathBuf {
        self.scratch.home().join("data")
    }

    /// Copies it into the home of a server, where it does not exist yet. Returns where it is.
    pub(super) fn copy_to(&self, server: &ScratchDir) -> Result<PathBuf, ServerError> {
        let target = server.home().join("data");
        act_as(server.user(), || copy_tree(&self.data(), &target))
            .map_err(failed(format_args!("copy the pristine data directory to {}", target.display())))?;
        Ok(target)
    }
}

/// Ends what has made a data directory, and lets the users of servers read it.
pub(super) fn seal(scratch: &mut ScratchDir) -> Result<(), ServerError> {
    scratch.processes().kill_all();
    scratch.leave_unguarded();
    let home = scratch.home();
    match scratch.user() {
        Some(user) => user.act(|| open_to_readers(&home)).map_err(failed(format_args!("open {}", home.display()))),
        None => Ok(()),
    }
}
