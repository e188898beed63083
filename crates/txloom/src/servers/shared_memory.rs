//! System V shared memory that servers leave behind when they are killed.
//!
//! PostgreSQL has a small segment of it, by which it keeps other servers off its data directory. In a namespace of its own
//! (see [`confinement`](super::confinement)) the segment is gone with the server. Otherwise it is found in the system's
//! list, by its creator: no number that a server writes is used. A machine has room for some thousands of segments.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::OFlags;
use rustix::process::geteuid;

use super::files;
use super::user::ServerUser;

/// The system's list: key, number, permissions, size, process of its maker, process of its last user, attachments, user,
/// group, user of its maker, ….
const LIST: &str = "/proc/sysvipc/shm";

/// Where the numbers of the main processes of a server are noted, in a scratch directory.
const NOTED: &str = "processes";

/// Notes the main process of a server, in its scratch directory.
pub(super) fn note(scratch: &Path, process: u32) -> io::Result<()> {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    let mut file =
        OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags).open(scratch.join(NOTED))?;
    writeln!(file, "{process}")
}

/// Gives back what the servers of a scratch directory left. They have ended.
pub(super) fn free(scratch: &Path, user: Option<&ServerUser>) {
    let noted = files::read_small(&scratch.join(NOTED));
    let makers: Vec<u32> = noted.lines().filter_map(|line| line.parse().ok()).collect();
    let owner = user.map_or_else(|| geteuid().as_raw(), ServerUser::uid);
    let is_dedicated = user.is_some_and(ServerUser::is_dedicated);
    let list = fs::read_to_string(LIST).unwrap_or_default();
    for number in left_by(&list, owner, |maker| is_dedicated || makers.contains(&maker)) {
        let mut ipcrm = Command::new("ipcrm");
        ipcrm.args(["-m", &number.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(user) = user {
            user.run(&mut ipcrm);
        }
        // Without the program, or the right, it stays behind: that is no reason to fail.
        let _ = ipcrm.status();
    }
}

/// The numbers of what that user made, in one of those processes, and what nobody has attached.
fn left_by(list: &str, owner: u32, is_maker: impl Fn(u32) -> bool) -> Vec<u32> {
    let number = |line: &str| {
        let fields: Vec<u32> = line.split_whitespace().map(|field| field.parse().unwrap_or(u32::MAX)).collect();
        let (id, maker, attached, creator) = (fields.get(1)?, fields.get(4)?, fields.get(6)?, fields.get(9)?);
        (*attached == 0 && *creator == owner && is_maker(*maker)).then_some(*id)
    };
    list.lines().skip(1).filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_server_made_and_nobody_uses_is_left() {
        let list = "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid\n\
                    1234          5   600                    56    71    72      0  1000  1000  1000  1000\n\
                    1235          6   600                    56    71    72      3  1000  1000  1000  1000\n\
                    1236          7   600                    56    99    72      0  1000  1000  1000  1000\n\
                    1237          8   600                    56    71    72      0  1000  1000   101  1000\n";
        assert_eq!(left_by(list, 1000, |maker| maker == 71), [5]);
        assert_eq!(left_by(list, 1000, |_| true), [5, 7]);
        assert!(left_by("", 1000, |_| true).is_empty());
    }
}
