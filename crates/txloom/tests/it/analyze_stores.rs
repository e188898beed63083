//! Levels of stores mean what they say: each statement may be answered by any node, or each call stays on its own.

use crate::support::{Finished, TestDir, limited, output};

/// Notes a read that goes backwards.
const BACKWARDS: &str = "CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL);
CREATE TABLE notes (id INT PRIMARY KEY);
CREATE PROCEDURE raise() BEGIN
  UPDATE counters SET n = 7 WHERE id = 1;
END;
CREATE PROCEDURE look(p_id INT) BEGIN
  DECLARE first INT;
  DECLARE second INT;
  SELECT n INTO first FROM counters WHERE id = 1;
  SELECT n INTO second FROM counters WHERE id = 1;
  IF first = 7 AND second < 7 THEN
    INSERT INTO notes VALUES (p_id);
  END IF;
END;
";

fn analyze(folder: &TestDir, text: &str, more: &[&str]) -> Finished {
    let file = folder.path().join("app.sql");
    std::fs::write(&file, text).expect("the program can be written");
    let file = file.display().to_string();
    output(&[&["analyze", file.as_str()], more].concat())
}

#[test]
fn reads_go_backwards_unless_a_call_stays_on_its_node() {
    limited(|| {
        let folder = TestDir::new("stores-backwards");
        let run = ["--run", "--on", "replicas:3", "--instances", "2"];
        let found = analyze(&folder, BACKWARDS, &[&["--level", "eventual"], &run[..]].concat());
        assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
        assert!(found.stdout.contains("each statement may be answered by any node"), "{}", found.stdout);
        assert!(found.stdout.contains("shown by running"), "{}", found.stdout);
        for level in ["linearizable", "repeatable-read"] {
            let kept = analyze(&folder, BACKWARDS, &[&["--level", &format!("store:{level}")], &run[..]].concat());
            assert_eq!(kept.code, 0, "{level}: {}{}", kept.stdout, kept.stderr);
        }
        let sticky = analyze(&folder, BACKWARDS, &[&["--level", "eventual", "--sticky"], &run[..]].concat());
        assert_eq!(sticky.code, 0, "{}{}", sticky.stdout, sticky.stderr);
        assert!(sticky.stdout.contains("store:eventual (sticky)"), "{}", sticky.stdout);
        assert!(sticky.stdout.contains("each call stays on its node"), "{}", sticky.stdout);
    });
}

/// The cases that are written run again, with a session at two nodes.
#[test]
fn cases_route_sessions_and_run_again() {
    limited(|| {
        let folder = TestDir::new("stores-cases");
        let out = folder.path().join("found").display().to_string();
        let more = ["--level", "store:eventual", "--instances", "2", "--run", "-o", out.as_str()];
        let found = analyze(&folder, BACKWARDS, &more);
        assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
        let files = std::fs::read_dir(&out).expect("there are cases").map(|entry| entry.expect("it is read").path());
        let cases: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "sql")).collect();
        let text = |path: &std::path::PathBuf| std::fs::read_to_string(path).expect("it is text");
        let routed = cases.iter().find(|path| text(path).contains("[route ")).expect("a session goes to another node");
        let again = output(&["run", &routed.display().to_string(), "--on", "replicas:2", "--oracle", "calls"]);
        assert_eq!(again.code, 1, "{}{}", again.stdout, again.stderr);
    });
}

/// A ring is a store that was not written for this: what can be delivered along it is run, and the rest is undecided.
#[test]
fn a_ring_runs_what_is_predicted_or_says_why_not() {
    limited(|| {
        let folder = TestDir::new("stores-ring");
        let update = "CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL);
            CREATE PROCEDURE deposit(p_id INT, p_amount INT) BEGIN
              DECLARE v INT;
              START TRANSACTION;
              SELECT balance INTO v FROM accounts WHERE id = p_id;
              UPDATE accounts SET balance = v + p_amount WHERE id = p_id;
              COMMIT;
            END;";
        let more = ["--level", "store:eventual", "--instances", "2", "--run", "--on", "mariadb-ring:3"];
        let found = analyze(&folder, update, &more);
        assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
        assert!(found.stdout.contains("store:eventual (sticky)"), "{}", found.stdout);
        assert!(found.stdout.contains("shown by running"), "{}", found.stdout);
        assert!(found.stderr.contains("sessions stay on their servers in a ring"), "{}", found.stderr);
    });
}
