//! Rows as pg_dump writes them.
//!
//! ```text
//!   COPY public.t (id, name) FROM stdin;        INSERT INTO public.t (id, name) VALUES ('1', 'it''s'), ('2', NULL)
//!   1       it's
//!   2       \N
//!   \.
//! ```

/// So many rows make one statement.
const ROWS: usize = 100;

/// The rows behind a statement, if it is a COPY, as statements that insert them.
pub(super) fn inserts(statement: &str, behind: &str) -> Vec<String> {
    let Some(target) = target(statement) else { return Vec::new() };
    // Behind the semicolon, on the next line.
    let Some((_, data)) = behind.split_once('\n') else { return Vec::new() };
    let rows: Vec<String> = data.lines().take_while(|line| *line != "\\.").map(row).collect();
    rows.chunks(ROWS).map(|rows| format!("INSERT INTO {target} VALUES {}", rows.join(", "))).collect()
}

/// `public.t (id, name)`
fn target(statement: &str) -> Option<&str> {
    let (verb, rest) = statement.split_once(char::is_whitespace)?;
    let end = rest.to_lowercase().rfind(" from stdin")?;
    verb.eq_ignore_ascii_case("COPY").then(|| rest.get(..end)).flatten()
}

fn row(line: &str) -> String {
    let values: Vec<String> = line.split('\t').map(value).collect();
    format!("({})", values.join(", "))
}

fn value(field: &str) -> String {
    if field == "\\N" {
        return "NULL".to_string();
    }
    let mut text = String::new();
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.extend(chars.next().map(|c| match c {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            })),
            '\'' => text.push_str("''"),
            other => text.push(other),
        }
    }
    format!("'{text}'")
}

#[cfg(test)]
mod tests {
    use crate::program::front::Definitions;

    #[test]
    fn rows_of_a_dump_are_inserts() {
        let dump = "CREATE TABLE t (id INT, name TEXT);\nCOPY public.t (id, name) FROM stdin;\n1\tit's; \\\\\n2\t\\N\n\\.\n\n\
                    COPY u (id) FROM stdin;\n\\.\n\nSELECT 1;\n";
        let found = Definitions::read(dump);
        assert_eq!(found.copied, ["INSERT INTO public.t (id, name) VALUES ('1', 'it''s; \\'), ('2', NULL)"]);
        assert_eq!(found.setup.last().map(String::as_str), Some("SELECT 1"));
    }
}
