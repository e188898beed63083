//! What columns are called: the type of a column as SQL writes it, from what the protocol says of it.

/// The character set of bytes that are no text.
const BINARY: u16 = 63;

const UNSIGNED: u16 = 1 << 5;
const ENUM: u16 = 1 << 8;
const SET: u16 = 1 << 11;

/// The name of a type; empty for one that is not known.
pub(super) fn name(code: u8, flags: u16, character_set: u16) -> String {
    let is_binary = character_set == BINARY;
    let name = match code {
        1 => "tinyint",
        2 => "smallint",
        3 => "int",
        4 => "float",
        5 => "double",
        6 => "null",
        7 => "timestamp",
        8 => "bigint",
        9 => "mediumint",
        10 | 14 => "date",
        11 => "time",
        12 => "datetime",
        13 => "year",
        16 => "bit",
        242 => "vector",
        245 => "json",
        0 | 246 => "decimal",
        255 => "geometry",
        _ if flags & ENUM != 0 => "enum",
        _ if flags & SET != 0 => "set",
        249..=252 => {
            if is_binary {
                "blob"
            } else {
                "text"
            }
        }
        15 | 253 => {
            if is_binary {
                "varbinary"
            } else {
                "varchar"
            }
        }
        254 => {
            if is_binary {
                "binary"
            } else {
                "char"
            }
        }
        _ => "",
    };
    let is_number = matches!(code, 0..=5 | 8 | 9 | 246);
    if is_number && flags & UNSIGNED != 0 { format!("{name} unsigned") } else { name.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_of_the_language() {
        for (code, flags, character_set, expect) in [
            (3, 0, BINARY, "int"),
            (8, UNSIGNED, BINARY, "bigint unsigned"),
            (13, UNSIGNED, BINARY, "year"),
            (16, UNSIGNED, BINARY, "bit"),
            (253, 0, 45, "varchar"),
            (253, 0, BINARY, "varbinary"),
            (252, 0, 45, "text"),
            (252, 0, BINARY, "blob"),
            (254, ENUM, 45, "enum"),
            (254, SET, BINARY, "set"),
            (200, 0, BINARY, ""),
        ] {
            assert_eq!(name(code, flags, character_set), expect);
        }
    }
}
