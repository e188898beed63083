//! txloom
fn main() {}
