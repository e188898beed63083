//! Exit codes: what a script learns from txloom without reading its output.

use txloom_core::conclusion::{Conclusion, ConclusionKind, GapCause};

/// How a command ended. The discriminant is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything is as it should be: expectations met, nothing found.
    Clean = 0,
    /// Something was found: a violation, or an expectation that is not met.
    Found = 1,
    /// The command line or an input file is wrong: nothing can be concluded until the user changes it.
    BadInput = 2,
    /// A database system could not be started or reached, or was lost.
    Unreachable = 3,
    /// The same run came out differently the second time: no conclusion holds.
    NonDeterministic = 4,
    /// An oracle could not decide.
    Undecided = 5,
    /// A defect of txloom itself.
    Internal = 70,
    /// A file could not be read or written, and that is no matter of its name: a full disk, missing permissions.
    FileFailed = 74,
    /// The user asked to stop.
    Interrupted = 130,
}

impl Exit {
    /// All codes, least severe first: a command that ends in several ways reports the last of them.
    pub const ALL: &'static [Exit] = &[
        Exit::Clean,
        Exit::Found,
        Exit::Undecided,
        Exit::NonDeterministic,
        Exit::BadInput,
        Exit::FileFailed,
        Exit::Unreachable,
        Exit::Internal,
        Exit::Interrupted,
    ];

    /// The code.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// What the code means, for the help text and the documentation.
    pub fn meaning(self) -> &'static str {
        match self {
            Exit::Clean => "everything is as expected",
            Exit::Found => "something was found, or an expectation is not met",
            Exit::BadInput => "the command line or an input file is wrong",
            Exit::Unreachable => "a database could not be started or reached",
            Exit::NonDeterministic => "a run came out differently the second time",
            Exit::Undecided => "no conclusion could be reached",
            Exit::Internal => "txloom itself is at fault",
            Exit::FileFailed => "a file could not be read or written (full disk, permissions)",
            Exit::Interrupted => "stopped by Ctrl-C",
        }
    }

    /// The more severe of two.
    #[must_use]
    pub fn or(self, other: Exit) -> Exit {
        let severity = |exit: Exit| Exit::ALL.iter().position(|known| *known == exit);
        if severity(self) >= severity(other) { self } else { other }
    }
}

/// The only place where a conclusion becomes an exit code.
impl From<&Conclusion> for Exit {
    fn from(conclusion: &Conclusion) -> Exit {
        match conclusion.kind() {
            ConclusionKind::Holds | ConclusionKind::NothingChecked => Exit::Clean,
            ConclusionKind::Violated => Exit::Found,
            ConclusionKind::Interrupted => Exit::Interrupted,
            ConclusionKind::Unknown => conclusion.cause().map_or(Exit::Undecided, of_cause),
        }
    }
}

fn of_cause(cause: GapCause) -> Exit {
    match cause {
        GapCause::NotRead
        | GapCause::NotSearched
        | GapCause::OutOfBudget
        | GapCause::NotJudged
        | GapCause::Environment => Exit::Undecided,
        GapCause::Unstable => Exit::NonDeterministic,
        GapCause::BadInput => Exit::BadInput,
        GapCause::FileFailed => Exit::FileFailed,
        GapCause::Unreachable => Exit::Unreachable,
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> std::process::ExitCode {
        std::process::ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use txloom_core::conclusion::{Conclusion, Gap, GapCause};

    use super::Exit;

    #[test]
    fn the_more_severe_exit_wins() {
        assert_eq!(Exit::Clean.or(Exit::Found), Exit::Found);
        assert_eq!(Exit::BadInput.or(Exit::Found), Exit::BadInput);
        assert_eq!(Exit::NonDeterministic.or(Exit::Interrupted), Exit::Interrupted);
    }

    #[test]
    fn the_exit_follows_from_the_conclusion() {
        let holds = Conclusion::new("it holds");
        assert_eq!(Exit::from(&holds), Exit::Clean);
        let gap = |cause| Gap::new(cause, "not covered");
        for (cause, exit) in [
            (GapCause::NotRead, Exit::Undecided),
            (GapCause::Unstable, Exit::NonDeterministic),
            (GapCause::BadInput, Exit::BadInput),
            (GapCause::FileFailed, Exit::FileFailed),
            (GapCause::Unreachable, Exit::Unreachable),
        ] {
            let open = holds.clone().with_gaps([gap(GapCause::NotRead), gap(cause)]);
            assert_eq!(Exit::from(&open), exit);
            assert_eq!(Exit::from(&open.clone().interrupted(true)), Exit::Interrupted);
            assert_eq!(Exit::from(&open.interrupted(true).violated(1, "1 finding")), Exit::Found);
        }
    }

    #[test]
    fn codes_are_the_documented_ones() {
        let mut codes: Vec<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        codes.sort_unstable();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 70, 74, 130]);
    }
}
