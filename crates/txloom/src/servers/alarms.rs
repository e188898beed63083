//! What a server complains of in its log: assertions that failed, and what sanitizers found.
//!
//! Most of these end the server, and then its death says enough. But a build for tests may be told to go on after an
//! undefined shift or a data race, and then the log is the only witness.
//!
//! **Problem.** The same words may be there because a client wrote them: `ERROR:  relation "AddressSanitizer" does not
//! exist`. **Idea.** The whole beginning of the line is compared. Servers begin what they say about clients with a time or
//! a process of their own, and PostgreSQL indents what goes on in the next line, so no client can begin a line as an alarm
//! begins.
//!
//! **Limits.** A case that has MariaDB or MySQL write statements to the log (`innodb_print_all_deadlocks`) can forge an
//! alarm. What the server says while it removes the tables of a case is of no case, and is not told.

use std::io;
use std::path::Path;

use super::log::LogReader;

/// How lines with which an alarm begins do begin. `#` stands for digits, `@` for a piece of a word, `*` for anything, a
/// space for one or more.
const ALARMS: &[&str] = &[
    // AddressSanitizer, LeakSanitizer; the others, too, of a bad signal.
    "==#==ERROR: @Sanitizer: ",
    "==#==WARNING: MemorySanitizer: ",
    "WARNING: ThreadSanitizer: ",
    // UndefinedBehaviorSanitizer: `file.c:12:3: runtime error: signed integer overflow`.
    "@: runtime error: ",
    // `assert` of the C library, and that of the C++ library.
    "@: @:#: *: Assertion `*' failed.",
    "@:#: *: Assertion '*' failed.",
    // PostgreSQL: `Assert`, in words that depend on the version.
    "TRAP: ",
    "# @ PANIC: ",
    // InnoDB of MariaDB and of older MySQL, after date, time and thread; then that of MySQL.
    "@ @ @ InnoDB: Assertion failure in ",
    "@ @ @ [ERROR] [FATAL] InnoDB: ",
    "InnoDB: Assertion failure",
    "@ @ [ERROR] [MY-#] [InnoDB] Assertion failure: ",
    "@ @ [ERROR] [MY-#] [InnoDB] [FATAL] ",
];

/// How many alarms are kept, how many lines of each, and how much of a line: a server may complain without end.
const ALARMS_MAX: usize = 8;
const LINES_MAX: usize = 12;
const LINE_MAX: usize = 400;

/// Finds the alarms in a growing log.
#[derive(Debug)]
pub struct AlarmReader {
    log: LogReader,
    /// The lines of each alarm.
    found: Vec<Vec<String>>,
}

impl AlarmReader {
    /// Begins at the present end of the log.
    pub fn at_end(path: &Path) -> io::Result<AlarmReader> {
        Ok(AlarmReader { log: LogReader::at_end(path)?, found: Vec::new() })
    }

    /// Begins anew at the present end of the log.
    pub fn forget(&mut self) {
        self.found.clear();
        // A log that cannot be read has no alarms in it either.
        let _ = self.log.skip_to_end();
    }

    /// The alarms, each with the lines that follow it. If nothing was written, this costs a look at the size of the log.
    pub fn read(&mut self) -> Vec<String> {
        for line in self.log.new_lines().unwrap_or_default() {
            let is_full = self.found.len() == ALARMS_MAX;
            let line: String = line.chars().take(LINE_MAX).collect();
            match self.found.last_mut() {
                _ if is_alarm(&line) && !is_full => self.found.push(vec![line]),
                Some(alarm) if alarm.len() < LINES_MAX => alarm.push(line),
                _ => {}
            }
        }
        self.found.iter().map(|lines| lines.join("\n")).collect()
    }
}

fn is_alarm(line: &str) -> bool {
    ALARMS.iter().any(|alarm| begins(line.as_bytes(), alarm.as_bytes()))
}

/// Whether a line begins as a pattern says.
fn begins(line: &[u8], pattern: &[u8]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return true };
    let count = |is: fn(&u8) -> bool| line.iter().take_while(|byte| is(byte)).count();
    // What is repeated ends where something else begins; only `@` and `*` may end earlier.
    let (least, most) = match first {
        b'#' => (count(u8::is_ascii_digit).max(1), count(u8::is_ascii_digit)),
        b' ' => (count(u8::is_ascii_whitespace).max(1), count(u8::is_ascii_whitespace)),
        b'@' => (1, count(|byte| !byte.is_ascii_whitespace())),
        b'*' => (0, line.len()),
        byte => (1, usize::from(line.first() == Some(byte))),
    };
    (least..=most).any(|end| begins(&line[end..], rest))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::super::{ScratchDir, log};
    use super::*;

    #[test]
    fn complaints_are_alarms() {
        for line in [
            "==71==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x55 bp 0x7f sp 0x7f",
            "==71==ERROR: LeakSanitizer: detected memory leaks",
            "==71==ERROR: UndefinedBehaviorSanitizer: SEGV on unknown address 0x000000000000",
            "==71==WARNING: MemorySanitizer: use-of-uninitialized-value",
            "WARNING: ThreadSanitizer: data race (pid=71)",
            "/src/sql/item_func.cc:1234:21: runtime error: signed integer overflow: 1 + 2 cannot be represented",
            "mariadbd: /src/sql/handler.cc:12: int f(THD*, bool): Assertion `m_lock_type == 2' failed.",
            "/usr/include/c++/12/bits/stl_vector.h:1123: T& operator[](n): Assertion '__n < this->size()' failed.",
            "TRAP: failed Assert(\"a > b\"), File: \"heapam.c\", Line: 12, PID: 71",
            "TRAP: FailedAssertion(\"a > b\", File: \"heapam.c\", Line: 12, PID: 71)",
            "71 1700000000.123 PANIC:  could not write to file \"x\"",
            "2024-01-31 12:00:00 0x7f11  InnoDB: Assertion failure in file /src/row0sel.cc line 12",
            "2024-01-31  9:00:00 7 [ERROR] [FATAL] InnoDB: Unknown error 7",
            "InnoDB: Assertion failure: row0sel.cc:12:a > b",
            "2024-01-31T12:00:00.123456Z 7 [ERROR] [MY-013183] [InnoDB] Assertion failure: row0sel.cc:12:a > b",
            "2024-01-31T12:00:00.123456Z 7 [ERROR] [MY-012872] [InnoDB] [FATAL] Semaphore wait has lasted",
        ] {
            assert!(is_alarm(line), "{line}");
        }
    }

    #[test]
    fn what_clients_say_is_none() {
        for line in [
            "",
            "71 1700000000.123 ERROR:  relation \"==71==ERROR: AddressSanitizer: x\" does not exist at character 15",
            "71 1700000000.123 ERROR:  f.c:1:2: runtime error: overflow",
            "71 1700000000.123 STATEMENT:  SELECT 'Assertion failure'",
            "71 1700000000.123 LOG:  PANIC:  raised by a case",
            "71 1700000000.123 LOG:  process 71 still waiting for ShareLock on transaction 735 after 1.095 ms",
            // How PostgreSQL goes on with a message of several lines.
            "\tTRAP: FailedAssertion(\"a > b\")",
            "\t==71==ERROR: AddressSanitizer: x",
            "71 1700000000.123 ERROR:  a: f.c:1: g: Assertion `x' failed.",
            "2024-01-31 12:00:00 7 [Warning] Access denied for user 'InnoDB: Assertion failure in '@'localhost'",
            "2024-01-31 12:00:00 7 [ERROR] mariadbd: f.cc:1: g: Assertion `x' failed.",
            "2024-01-31T12:00:00.1Z 7 [Warning] [MY-010055] [Server] x: [InnoDB] Assertion failure: y",
            "2024-01-31 12:00:00 0 [Note] InnoDB: Buffer pool(s) load completed",
            // What sanitizers say that is no complaint of the server.
            "==71==WARNING: ASan is ignoring requested __asan_handle_no_return: stack type: default",
            "==71==ERROR: AddressSanitizer",
            "Assertion",
        ] {
            assert!(!is_alarm(line), "{line}");
        }
    }

    fn log_and_reader() -> (ScratchDir, File, AlarmReader) {
        let scratch = ScratchDir::create().unwrap();
        let path = scratch.path().join("log");
        let log = log::create(&path).unwrap();
        (scratch, log, AlarmReader::at_end(&path).unwrap())
    }

    #[test]
    fn an_alarm_is_told_with_what_follows_until_it_is_forgotten() {
        let (_scratch, mut log, mut alarms) = log_and_reader();
        assert!(alarms.read().is_empty());
        writeln!(log, "7 1.5 LOG:  ready\nTRAP: one\nfirst").unwrap();
        assert_eq!(alarms.read(), ["TRAP: one\nfirst"]);
        write!(log, "second\nTRAP: two\nunfin").unwrap();
        assert_eq!(alarms.read(), ["TRAP: one\nfirst\nsecond", "TRAP: two"]);
        alarms.forget();
        assert!(alarms.read().is_empty());
        writeln!(log, "ished\nno alarm").unwrap();
        assert!(alarms.read().is_empty());
    }

    #[test]
    fn a_server_that_complains_without_end_is_cut_short() {
        let (_scratch, mut log, mut alarms) = log_and_reader();
        for n in 0..2 * ALARMS_MAX {
            writeln!(log, "TRAP: {n} {}", "é".repeat(2 * LINE_MAX)).unwrap();
            (0..2 * LINES_MAX).for_each(|frame| writeln!(log, "    #{frame} 0x55 in f").unwrap());
        }
        let read = alarms.read();
        assert_eq!(read.len(), ALARMS_MAX);
        for alarm in read {
            assert_eq!(alarm.lines().count(), LINES_MAX);
            assert!(alarm.lines().all(|line| line.chars().count() <= LINE_MAX));
        }
    }
}
