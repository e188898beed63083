//! Where scratch directories may be: a list that does not depend on the environment.
//!
//! Who starts txloom with another `TMPDIR` than the time before would never look where the last one left something. So
//! every directory that scratch directories are made in is noted in a place that is the same for all processes of a user:
//! a link in `/run/txloom`, or in the user's own directory below `/run/user`, or else in `/tmp`.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// Notes a directory, given without links.
pub(super) fn remember(root: &Path) -> io::Result<()> {
    let list = list()?;
    match symlink(root, list.join(name_of(root))) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// The directories that were noted and still exist.
pub(super) fn all() -> Vec<PathBuf> {
    let Ok(entries) = list().and_then(fs::read_dir) else { return Vec::new() };
    let noted = entries.flatten().filter_map(|entry| Some((entry.path(), fs::read_link(entry.path()).ok()?)));
    let exists = |(link, root): (PathBuf, PathBuf)| {
        if root.is_dir() {
            return Some(root);
        }
        // Somebody else may have removed it as well.
        let _ = fs::remove_file(link);
        None
    };
    noted.filter_map(exists).collect()
}

/// The directory of the list: the first place where we have one to ourselves.
fn list() -> io::Result<PathBuf> {
    let user = geteuid().as_raw();
    let places = match user {
        0 => vec![PathBuf::from("/run/txloom")],
        _ => vec![PathBuf::from(format!("/run/user/{user}/txloom"))],
    };
    let places = places.into_iter().chain([PathBuf::from(format!("/tmp/txloom-roots-{user}"))]);
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for place in places {
        match own_dir(&place) {
            Ok(()) => return Ok(place),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Makes a directory that nobody but us can enter, or sees that it is one.
fn own_dir(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(path)?;
    let is_ours = found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o077 == 0;
    if is_ours { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// A name for a path: the same path, the same name (FNV-1a).
fn name_of(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::super::ScratchDir;
    use super::*;

    #[test]
    fn a_root_is_remembered_as_long_as_it_exists() {
        let scratch = ScratchDir::create().unwrap();
        let root = scratch.path().join("root");
        fs::create_dir(&root).unwrap();
        remember(&root).unwrap();
        remember(&root).unwrap();
        assert_eq!(all().iter().filter(|found| **found == root).count(), 1);
        fs::remove_dir(&root).unwrap();
        assert!(!all().contains(&root));
        assert!(fs::symlink_metadata(list().unwrap().join(name_of(&root))).is_err());
    }

    #[test]
    fn a_list_that_somebody_else_can_write_to_is_none() {
        let scratch = ScratchDir::create().unwrap();
        let open = scratch.path().join("open");
        DirBuilder::new().create(&open).unwrap();
        fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert!(own_dir(&open).is_err());
        let link = scratch.path().join("link");
        symlink(scratch.path(), &link).unwrap();
        assert!(own_dir(&link).is_err());
        assert!(own_dir(&scratch.path().join("new")).is_ok());
    }
}
