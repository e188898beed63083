//! Why something is wrong, as data that is rendered afterwards: Let … Then … However … a contradiction.
//!
//! ```text
//!   Let:
//!     a = withdraw(account=1, amount=80)
//!     b = withdraw(account=1, amount=80)
//!   Then:
//!     both committed, so one of their 2 orders should give what was seen
//!   However:
//!     if a ran before b: step b2 (SELECT …) would have returned (20), but it returned (100)
//!     if b ran before a: step a2 (SELECT …) would have returned (20), but it returned (100)
//!   A contradiction.
//! ```

use std::fmt;

/// Why something is wrong. Each element is a clause without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Explanation {
    /// The names that the rest uses.
    pub lets: Vec<String>,
    /// What follows from what was observed.
    pub thens: Vec<String>,
    /// Why that cannot be.
    pub however: Vec<String>,
}

impl Explanation {
    /// The explanation as lines of text; none if there is nothing to explain.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (title, clauses) in [("Let:", &self.lets), ("Then:", &self.thens), ("However:", &self.however)] {
            if !clauses.is_empty() {
                lines.push(title.to_string());
                lines.extend(clauses.iter().map(|clause| format!("  {clause}")));
            }
        }
        if !self.however.is_empty() {
            lines.push("A contradiction.".to_string());
        }
        lines
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_as_a_proof() {
        let clauses = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        let proof = Explanation {
            lets: clauses(&["a = x", "b = y"]),
            thens: clauses(&["a is before b"]),
            however: clauses(&["b is before a"]),
        };
        assert_eq!(
            proof.to_string(),
            "Let:\n  a = x\n  b = y\nThen:\n  a is before b\nHowever:\n  b is before a\nA contradiction.\n"
        );
        assert!(Explanation::default().lines().is_empty());
    }
}
