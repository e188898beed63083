//! The core of txloom: data, traits and algorithms. No I/O, no clock, no process, no driver.
//!
//! # The straight line
//!
//! ```text
//!  Case ──→ executor ──→ Trace ──→ oracles ──→ Finding ──→ reducer ──→ report
//!   ↑      (engine × schedule)                                │
//!   └───────────────── re-execution, smaller ─────────────────┘
//! ```
//!
//! # Words
//!
//! One word per concept, in code, command line, files and documentation alike.
//!
//! | word | meaning |
//! |---|---|
//! | *case* | setup + sessions with their items + schedule + isolation levels: everything needed to reproduce a run |
//! | *session* | exactly one connection for its whole life; may hold several transactions |
//! | *transaction* | derived from the trace (what the server says of its status), never from a label |
//! | *item* | what a session does next: a SQL text or a call of a procedure |
//! | *step* | one message to the server |
//! | *schedule* | a list of session names; each entry means "the next step of that session" |
//! | *outcome* | what the DBMS said to one step, as it came over the wire |
//! | *trace* | the ordered events of one execution, with outcomes, and the final state |
//! | *anomaly* | a proscribed pattern, with a citation |
//! | *level* | an isolation level; what an engine calls a level is another thing than what it guarantees |
//! | *oracle* | judges: holds, violated, unknown |
//! | *finding* | one violation with evidence, reduced case, explanation, replay command |
//! | *program* | an application's procedures: parameters, SQL, control flow, commit points |
//! | *planted bug* | a defect that we put into an engine, to see whether an oracle finds it |

pub mod value;
pub mod sql;
pub mod suggest;
pub mod toml_text;
pub mod budget;
pub mod varint;
pub mod program;
pub mod flow;
pub mod case;
pub mod dialect;
pub mod outcome;
pub mod engine;
pub mod bulk;
pub mod generate;
pub mod shadow;
pub mod script;
pub mod schedule;
pub mod trace;
pub mod history;
pub mod graph;
pub mod sat;
pub mod solve;
pub mod anomaly;
pub mod level;
pub mod conclusion;
pub mod oracle;
pub mod search;
pub mod finding;
pub mod reduce;
pub mod planted;
pub mod formats;
