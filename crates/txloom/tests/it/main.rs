//! The integration tests: one binary.
//!
//! * `walking_thread`: the architecture's test, from a program's source to a flattened, re-run finding
//! * `contract`: every engine keeps the promises of the `Engine` trait
//! * `guarantees`: what every level of every engine allows and prevents, by running the corpus of anomalies
//! * `bugs`: the corpus of bugs still does what its files say
//! * `executor`: waits, resumptions, policies, modes, time limits
//! * `commands`: the command line as a newcomer meets it
//! * `histories`: histories with known verdicts, our own and other tools'
//! * `formats`: other tools' cases and transcripts, read and written
//! * `bad_input`: errors that say what, where and what to do next
//! * `killed`: what a killed txloom leaves, and who cleans it up
//! * `documents`: every command in the documents is run

mod support;

mod walking_thread;
mod contract;
mod guarantees;
mod bugs;
mod executor;
mod commands;
mod histories;
mod formats;
mod bad_input;
mod killed;
mod documents;
