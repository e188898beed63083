//! Surroundings in which a server, and the programs that a case starts in it, can do as little as possible.
//!
//! A command is run through two programs of util-linux, each of which becomes the next, so that the process number stays:
//!
//! ```text
//!   unshare --net --ipc           a network without any device, shared memory that ends with the server
//!   setpriv --no-new-privs …      the server's user, no capabilities; `sudo` and the like give none back
//!   postgres -D …
//! ```
//!
//! An ordinary user needs a user namespace for the first (`--user`), in which the server's user is himself. Root of a
//! container that has no other user runs servers, which refuse to be root, in a user namespace as `nobody`.
//!
//! Not every kernel and container allows all of this. What it allows is tried once, from the best to the least, and
//! [`losses`] says what is missing. Servers that listen on a port ([`Network::Machine`]) keep the machine's network.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::process::{getegid, geteuid};

use super::process;
use super::user::ServerUser;

/// The network that a server sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    /// One of its own, without any device: the server is reached through a socket in the file system.
    None,
    /// That of the machine: the server is reached through a port.
    Machine,
}

/// What is kept from servers here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Walls {
    /// Namespaces can be made, those for shared memory among them.
    namespaces: bool,
    /// Among them one for the network.
    network: bool,
    /// The way back to other rights can be closed.
    privileges: bool,
}

/// The sets of walls that are tried, best first.
const ATTEMPTS: &[Walls] = &[
    Walls { namespaces: true, network: true, privileges: true },
    Walls { namespaces: true, network: false, privileges: true },
    Walls { namespaces: true, network: true, privileges: false },
    Walls { namespaces: false, network: false, privileges: true },
];

/// Without any.
const NO_WALLS: Walls = Walls { namespaces: false, network: false, privileges: false };

/// The user that a container's only user is inside a user namespace.
const INNER_USER: u32 = 65_534;

/// A command that runs as the user, in `dir`, behind the walls that are possible here.
pub(super) fn command(program: &Path, user: Option<&ServerUser>, dir: &Path, network: Network) -> Command {
    let mut words = wrapper(walls(user), user, network);
    if words.is_empty() {
        return process::command(program, user, dir);
    }
    let mut command = process::command(Path::new(&words.remove(0)), None, dir);
    command.args(words).arg(program);
    command
}

/// The user for programs that want to know the name of the user who runs them; `None`: any user, since names can be given
/// ([`named_command`]).
pub(super) fn named_user() -> Option<ServerUser> {
    let mut trial = process::command(Path::new("unshare"), None, Path::new("/"));
    trial.args(["--mount", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut can_give_names = || trial.status().is_ok_and(|status| status.success());
    if geteuid().is_root() && !can_give_names() { ServerUser::with_name() } else { None }
}

/// A command for programs that want to know the name of the user who runs them. If the user has none, they see a list of
/// users in which he has; `list` is where it is written.
pub(super) fn named_command(program: &Path, user: Option<&ServerUser>, dir: &Path, list: &Path) -> io::Result<Command> {
    /// Shows another list of users to whoever comes after.
    const BIND: &str = r#"mount --bind "$1" /etc/passwd && shift && exec "$@""#;
    let Some(user) = user.filter(|user| user.is_dedicated()) else {
        return Ok(command(program, user, dir, Network::None));
    };
    let (uid, gid) = user.ids();
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    fs::write(list, format!("{passwd}\ntxloom:x:{uid}:{gid}::/nonexistent:/bin/false\n"))?;
    fs::set_permissions(list, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    let mut command = process::command(Path::new("unshare"), None, dir);
    command.args(["--mount", "sh", "-c", BIND, "sh"]).arg(list);
    command.arg("setpriv").args(change_user(user)).arg(program);
    Ok(command)
}

/// What a server can do here that it should not be able to, one sentence each.
pub fn losses() -> Vec<String> {
    let Ok(user) = ServerUser::for_server() else { return vec!["the user of servers cannot be chosen".to_string()] };
    let walls = walls(user.as_ref());
    let is_root = geteuid().is_root();
    let mut losses = Vec::new();
    match &user {
        None if is_root => losses.push("this container has one user only: servers run as it, in a user namespace"),
        None => losses.push(
            "servers run as you: a case has your rights, and what it starts ends with the server only as long as it stays \
             in the server's directory",
        ),
        Some(user) if !user.is_dedicated() => losses.push("servers run as `nobody`, together with others who do"),
        Some(_) => {}
    }
    if !walls.network {
        losses.push("servers can reach the network (`unshare --net` fails)");
    }
    if !walls.namespaces {
        losses.push("servers share the machine's System V shared memory (`unshare --ipc` fails)");
    }
    if !walls.privileges {
        losses.push(
            "programs that a case starts may gain rights by `sudo` and the like (`setpriv --no-new-privs` fails)",
        );
    }
    losses.iter().map(ToString::to_string).collect()
}

/// The walls that this system allows.
fn walls(user: Option<&ServerUser>) -> Walls {
    static ALLOWED: OnceLock<Walls> = OnceLock::new();
    *ALLOWED.get_or_init(|| {
        let works = |walls: &Walls| {
            let words = wrapper(*walls, user, Network::None);
            let mut trial = process::command(Path::new(&words[0]), None, Path::new("/"));
            trial.args(&words[1..]).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
            trial.status().is_ok_and(|status| status.success())
        };
        ATTEMPTS.iter().copied().find(|walls| works(walls)).unwrap_or(NO_WALLS)
    })
}

/// The words that go before a command.
fn wrapper(walls: Walls, user: Option<&ServerUser>, network: Network) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let is_root = geteuid().is_root();
    let needs_mapping = user.is_none() && (walls.namespaces || is_root);
    if walls.namespaces || needs_mapping {
        words.push("unshare".to_string());
    }
    if needs_mapping {
        let (uid, gid) = match is_root {
            true => (INNER_USER, INNER_USER),
            false => (geteuid().as_raw(), getegid().as_raw()),
        };
        words.extend(["--user".to_string(), format!("--map-user={uid}"), format!("--map-group={gid}")]);
    }
    if walls.namespaces {
        words.push("--ipc".to_string());
        words.extend((walls.network && network == Network::None).then(|| "--net".to_string()));
    }
    match user {
        // Who may make namespaces as root may also change the user, in either way.
        Some(user) if walls.privileges => words.extend(["setpriv".to_string()].into_iter().chain(change_user(user))),
        Some(user) if walls.namespaces => {
            let (uid, gid) = user.ids();
            words.extend([format!("--setgid={gid}"), format!("--setuid={uid}")]);
        }
        Some(_) => {}
        None if walls.privileges => words.extend(["setpriv", "--no-new-privs"].map(str::to_string)),
        None => {}
    }
    words
}

/// How `setpriv` becomes the user, for good.
fn change_user(user: &ServerUser) -> impl Iterator<Item = String> {
    let (uid, gid) = user.ids();
    let who = [format!("--reuid={uid}"), format!("--regid={gid}")];
    let what = ["--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"];
    who.into_iter().chain(what.map(str::to_string))
}

#[cfg(test)]
mod tests {
    use super::super::ScratchDir;
    use super::super::ServerOptions;
    use super::*;

    fn output(network: Network, program: &str, argument: &str) -> String {
        let scratch = ScratchDir::for_server(&ServerOptions::default()).unwrap();
        let mut command = command(Path::new(program), scratch.user(), &scratch.home(), network);
        let output = command.arg(argument).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[test]
    fn a_server_has_no_rights_and_no_network() {
        let status = output(Network::None, "/bin/cat", "/proc/self/status");
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        let allowed = walls(ServerUser::for_server().unwrap().as_ref());
        if allowed.privileges {
            assert_eq!((field("NoNewPrivs:"), field("CapEff:")), ("1", "0000000000000000"), "{status}");
        }
        if geteuid().is_root() {
            assert_ne!(field("Uid:").split_whitespace().next(), Some("0"), "{status}");
            assert_eq!(field("Groups:").split_whitespace().next(), None, "{status}");
        }
        let devices = |network| output(network, "/bin/cat", "/proc/self/net/dev").lines().count();
        if allowed.network {
            assert_eq!(devices(Network::None), 3, "two lines of headings, and the loopback device");
            assert!(devices(Network::Machine) >= devices(Network::None));
        }
    }

    #[test]
    fn who_asks_for_a_name_is_given_one() {
        let scratch = ScratchDir::for_server(&ServerOptions::default()).unwrap();
        let list = scratch.path().join("passwd");
        let command = named_command(Path::new("/usr/bin/id"), scratch.user(), &scratch.home(), &list);
        let output = command.unwrap().arg("-un").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_ne!(String::from_utf8_lossy(&output.stdout).trim(), "root");
    }
}
