//! What tests need: servers that end with the test program, however it ends.
//!
//! Tests share a server, for speed; so it lives in a static, and statics are never dropped. A helper process holds the
//! other end of a pipe: when the test program is gone, the pipe closes, and the helper does what the next txloom would
//! have done anyway: it sweeps. The helper is this very test program, told by a variable to run one "test" only.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use super::{PrivatePostgres, Programs, ServerOptions, process, sweep};

/// The variable that makes a helper of the test program, and says which.
const ROLE: &str = "TXLOOM_TEST_HELPER";

/// The variable that tells a helper who started it.
const PARENT: &str = "TXLOOM_TEST_HELPER_PARENT";

/// Has whatever this process leaves behind swept up when it has ended.
pub(crate) fn sweep_up_after_us() {
    static SWEEPER: OnceLock<Child> = OnceLock::new();
    SWEEPER.get_or_init(|| helper("sweeper", Stdio::null()));
}

/// Starts this test program again, as a helper.
fn helper(role: &str, output: Stdio) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "servers::testing::helpers_do_their_duty", "--nocapture"]).env(ROLE, role);
    command.env(PARENT, std::process::id().to_string());
    command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::null()).process_group(0).spawn().unwrap()
}

/// Not a test, unless this process is a helper.
#[test]
fn helpers_do_their_duty() {
    let wait_for_parent = || std::io::stdin().read_to_end(&mut Vec::new());
    match std::env::var(ROLE).as_deref() {
        Ok("sweeper") => {
            wait_for_parent().unwrap();
            // The pipe is closed a moment before the locks are.
            let parent = std::env::var(PARENT).unwrap().parse().unwrap();
            assert!(process::is_gone_within(parent, Duration::from_secs(120)));
            sweep();
        }
        Ok("owner") => {
            let server = PrivatePostgres::start(&Programs::Newest, ServerOptions::default()).unwrap();
            // Standard output is a pipe to the test that started us; a line of its own, whatever came before.
            std::io::Write::write_fmt(
                &mut std::io::stdout(),
                format_args!("\nserver {} {}\n", server.id(), server.socket_dir().display()),
            )
            .unwrap();
            wait_for_parent().unwrap();
        }
        _ => {}
    }
}

/// A process that has started a server: itself, its server's process number, and its server's directory.
pub(crate) fn owner_of_a_server() -> (Child, i32, std::path::PathBuf) {
    let mut owner = helper("owner", Stdio::piped());
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.into_iter().find(|line| line.starts_with("server ")).unwrap();
    let mut words = line.split(' ').skip(1);
    let (pid, dir) = (words.next().unwrap().parse().unwrap(), words.next().unwrap().into());
    (owner, pid, dir)
}
