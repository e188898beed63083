//! The user that servers run as: they refuse to run as root, so root hands them to somebody with fewer rights.

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// A user without special rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerUser {
    uid: u32,
    gid: u32,
}

impl ServerUser {
    /// The user to run servers as: the first of these that exists, when we are root; otherwise we run them ourselves.
    pub fn needed(candidates: &[&str]) -> Option<ServerUser> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let nobody = ServerUser { uid: 65534, gid: 65534 };
        Some(candidates.iter().find_map(|name| find(&passwd, name)).unwrap_or(nobody))
    }

    /// Its numbers: user and group.
    pub(super) fn ids(&self) -> (u32, u32) {
        (self.uid, self.gid)
    }

    /// Gives a file or directory to the user.
    pub fn own(&self, path: &Path) -> io::Result<()> {
        chown(path, Some(self.uid), Some(self.gid))
    }

    /// Makes the command run as the user.
    pub fn run(&self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }
}

/// The name of the user that we are, as the system knows it.
pub fn own_name() -> Option<String> {
    let uid = rustix::process::geteuid().as_raw();
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = passwd.lines().find(|line| line.split(':').nth(2) == Some(&uid.to_string()))?;
    line.split(':').next().map(str::to_string)
}

/// Looks a name up in the text of `/etc/passwd`: `name:x:uid:gid:…`.
fn find(passwd: &str, name: &str) -> Option<ServerUser> {
    let mut fields = passwd.lines().map(|line| line.split(':')).find(|line| line.clone().next() == Some(name))?;
    Some(ServerUser { uid: fields.nth(2)?.parse().ok()?, gid: fields.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_their_whole_name() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\npostgres2:x:7:7::/:\npostgres:x:101:104:PostgreSQL,,,:/:/bin/sh\n";
        assert_eq!(find(passwd, "postgres"), Some(ServerUser { uid: 101, gid: 104 }));
        assert_eq!(find(passwd, "post"), None);
        assert_eq!(find("broken", "broken"), None);
    }
}
