//! Files below a directory that a server's user owns, and in which a case may have put anything: links, pipes, directories
//! that cannot be entered.
//!
//! The functions of this module are called with the rights of that user ([`ServerUser::act`]), so a link leads nowhere
//! where the server itself could not go. What is left to see to is that they neither hang nor grow nor miss anything.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::Stdio;

use rustix::fs::OFlags;

use super::process;
use super::user::{ServerUser, act_as};

/// More than any file has that is read whole.
const SMALL_MAX: u64 = 64 * 1024;

/// Empties a directory in which names are too long, directories too deep or permissions withdrawn.
const CLEAR: &str = "chmod -R u+rwx . ; find . -mindepth 1 -delete";

/// Opens what must be a regular file: links are not followed, and pipes are not waited for.
pub(super) fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no regular file")),
    }
}

/// The text of a small file; empty if there is none.
pub(super) fn read_small(path: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open_regular(File::options().read(true), path)?.take(SMALL_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// Removes whatever has that name; a link, and not what it leads to.
pub(super) fn remove_any(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Removes everything in a directory of the user but what has the name `spared`.
pub(super) fn clear(dir: &Path, user: Option<&ServerUser>, spared: Option<&str>) -> io::Result<()> {
    let remove = || -> io::Result<()> {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if spared.is_none_or(|spared| entry.file_name() != spared) {
                remove_any(&entry.path())?;
            }
        }
        Ok(())
    };
    let removed = act_as(user, remove);
    if removed.is_ok() || spared.is_some() {
        return removed;
    }
    let mut shell = process::command(Path::new("sh"), user, dir);
    shell.args(["-c", CLEAR]).stdout(Stdio::null()).stderr(Stdio::null());
    match shell.status()?.success() {
        true => Ok(()),
        false => removed,
    }
}

/// Writes a file in a directory of ours that the user may read, nobody else may, and the user cannot change.
pub(super) fn write_for_server(path: &Path, text: &str, user: Option<&ServerUser>) -> io::Result<()> {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    let mut file =
        OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).custom_flags(flags).open(path)?;
    file.write_all(text.as_bytes())?;
    if let Some(user) = user {
        user.share(path)?;
        file.set_permissions(fs::Permissions::from_mode(0o640))?;
    }
    Ok(())
}

/// Lets everybody read what is in a directory of ours, and nobody but us write to it.
pub(super) fn open_to_readers(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let (path, kind) = entry.map(|entry| Ok::<_, io::Error>((entry.path(), entry.file_type()?)))??;
        if kind.is_dir() {
            open_to_readers(&path)?;
        } else if kind.is_file() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
        }
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755))
}

/// Copies a directory to one that does not exist yet, and which only its owner may enter.
pub(super) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    make_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() {
            copy_file(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Makes a directory that only its owner may enter.
pub(super) fn make_dir(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// Copies a file to one that only its owner may read. One that is there is overwritten; anything else of that name is
/// replaced.
pub(super) fn copy_file(from: &Path, to: &Path) -> io::Result<File> {
    let existing = open_regular(File::options().write(true).truncate(true), to);
    let mut target = match existing {
        Ok(file) => file,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                remove_any(to)?;
            }
            File::options().write(true).create_new(true).mode(0o600).open(to)?
        }
    };
    io::copy(&mut File::open(from)?, &mut target)?;
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::super::ScratchDir;
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_no_file_is_not_read_and_not_waited_for() {
        let scratch = ScratchDir::create().unwrap();
        let path = scratch.path().join("file");
        assert_eq!(read_small(&path), "");
        fs::write(&path, "text").unwrap();
        assert_eq!(read_small(&path), "text");
        symlink(&path, scratch.path().join("link")).unwrap();
        assert_eq!(read_small(&scratch.path().join("link")), "");
        let pipe = scratch.path().join("pipe");
        std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert_eq!(read_small(&pipe), "");
        assert_eq!(read_small(scratch.path()), "");
        copy_file(&path, &pipe).unwrap();
        assert_eq!(read_small(&pipe), "text", "the pipe was replaced");
        File::options().write(true).open(&path).unwrap().set_len(SMALL_MAX * 2).unwrap();
        assert_eq!(read_small(&path).len() as u64, SMALL_MAX);
    }

    #[test]
    fn a_directory_is_emptied_whatever_was_done_to_it() {
        let scratch = ScratchDir::create().unwrap();
        let dir = scratch.path().join("dir");
        fs::create_dir(&dir).unwrap();
        fs::write(scratch.path().join("outside"), "precious").unwrap();
        symlink(scratch.path(), dir.join("link")).unwrap();
        fs::create_dir_all(dir.join("closed/inner")).unwrap();
        fs::write(dir.join("spared"), "").unwrap();
        fs::set_permissions(dir.join("closed/inner"), fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(dir.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
        if rustix::process::geteuid().is_root() {
            clear(&dir, None, Some("spared")).unwrap();
            assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        }
        // Longer than any name that the system takes, and deeper than it allows files to be open.
        let deep = "deep-directory/".repeat(1_500);
        let mut mkdir = std::process::Command::new("mkdir");
        assert!(mkdir.args(["-p", &deep]).current_dir(&dir).status().unwrap().success());
        clear(&dir, None, None).unwrap();
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        assert_eq!(fs::read_to_string(scratch.path().join("outside")).unwrap(), "precious");
    }
}
