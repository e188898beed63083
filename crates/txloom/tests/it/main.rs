//! The integration tests: one binary.
//!
//! * `walking_thread`: the architecture's test, from a program's source to a flattened, re-run finding
//! * `replicas`: the weakly consistent database: its cases, what oracles say of them, storms with partitions
//! * `ring`: the same for real, on MariaDB servers that replicate from each other
//! * `contract`: every engine keeps the promises of the `Engine` trait
//! * `guarantees`: what every level of every engine allows and prevents, by running the corpus of anomalies
//! * `bugs`: the corpus of bugs still does what its files say
//! * `planted`: every planted bug shows in its case, and nothing does without it
//! * `planted_anywhere`: the bugs that can be planted in any engine show on all of them, and only there
//! * `matrix`: which oracle sees which planted bug, with pinned seeds
//! * `oracles`: what they find on engines with planted bugs, and that they are silent on others
//! * `views`: the reads around a statement see what the statement sees
//! * `known`: known behaviours, on the engines that show them: what matches and what does not
//! * `executor`: waits, resumptions, policies, modes, time limits
//! * `commands`: the command line as a newcomer meets it
//! * `histories`: histories with known verdicts, our own and other tools'
//! * `traces`: our own traces as histories, and what the checker says of them
//! * `reduce`: cases made smaller, hand-written and imported ones
//! * `hunt`: hunts, from the command line to the replay of what they found
//! * `replays`: every command that a report prints shows the finding again
//! * `load`: many rows at once: they come back as they went in, and what is refused is told
//! * `storm`: storms, recorded and checked; what is refused
//! * `storm_faults`: storms in which the server is killed, paused, restarted, or runs out of disk
//! * `storm_fixed`: SmallBank and TPC-C: invariants that hold, and those that a level allows to break
//! * `formats`: other tools' cases and transcripts, read and written
//! * `bad_input`: errors that say what, where and what to do next
//! * `fuzzed`: texts that a small deterministic fuzzer makes; `hostile`: inputs that are meant to hurt
//! * `spellings`: what the dialects say of their languages, tried on the engines
//! * `generated_schemas`: generated schemas can be set up, and keep their promises
//! * `generated`: generated cases are accepted, and their transactions meet
//! * `deep_statements`: deep statements are accepted, most do something, and all of them end
//! * `precious`: what cases, schemas and sources say about other databases of a running server never reaches it
//! * `killed`: what an ended txloom leaves, however it ended: nothing
//! * `attacks`: cases that attack the machine through a private server of root's
//! * `programs`: the corpus's programs run on every engine, and as the servers' own procedures do
//! * `originals`: the same programs in Java, Python and C, compiled and run for real, do what the interpreter does
//! * `program_anomalies`: the small programs break and keep their invariants as they say
//! * `program_corners`: what the procedural languages do differently, the interpreter does, too
//! * `analyze`: schedules of programs that can go wrong, run on every engine
//! * `frontends`: applications in Java, from the command line; `sources`: in Python and C
//! * `agenda`: AGENDA's examples have the same schedules in every language, and as logs
//! * `same_program`: the benchmark programs in Java give the program of their SQL forms
//! * `analyze_dumps`: what dump tools write serves on every target
//! * `analyze_refusal`: constraints and locks silence what they prevent, and nothing else
//! * `analyze_fix`: what removes anomalies, searched and run again
//! * `analyze_stores`: levels of stores mean what they say, on replicas and on a ring
//! * `analyze_limits`: time, memory and signals end an analysis with its report
//! * `logs`: server logs, read, analysed, and done again on real databases
//! * `truth`: programs with known truth: no broken one is acquitted, no safe one accused
//! * `solvers`: the embedded solver and z3 agree
//! * `documents`: every command in the documents is run
//! * `tables`: tables in the documents are what the registries say

mod support;

mod walking_thread;
mod replicas;
mod ring;
mod contract;
mod graph;
mod guarantees;
mod bugs;
mod planted;
mod planted_anywhere;
mod matrix;
mod oracles;
mod verdicts;
mod views;
mod known;
mod executor;
mod commands;
mod histories;
mod traces;
mod reduce;
mod hunt;
mod replays;
mod load;
mod storm;
mod storm_faults;
mod storm_valid;
mod storm_fixed;
mod storm_planted;
mod formats;
mod bad_input;
mod fuzzed;
mod hostile;
mod spellings;
mod generated_schemas;
mod generated;
mod deep_statements;
mod precious;
mod killed;
mod attacks;
mod program_calls;
mod programs;
mod originals;
mod program_anomalies;
mod program_corners;
mod analyze;
mod frontends;
mod sources;
mod agenda;
mod same_program;
mod analyze_search;
mod analyze_dumps;
mod analyze_refusal;
mod analyze_fix;
mod analyze_limits;
mod analyze_stores;
mod logs;
mod truth;
mod solvers;
mod documents;
mod tables;
