//! SQL as tokens of bytes. (The lexer of `core` makes tokens of text, each with its own string slice; a log has too many
//! for that, and its bytes may be no text.)

/// Which strings and comments there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// `"a"` is a name, `'\'` a string, `$$ … $$` another.
    Postgres,
    /// `"a"` is a string, `'\''` too; `#` begins a comment.
    MySql,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Name,
    Literal,
    Number,
    Parameter(u16),
    Symbol(u8),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The tokens of a text; keeps its memory.
pub(super) struct Tokens {
    quoting: Quoting,
    pub(super) tokens: Vec<Token>,
}

impl Tokens {
    pub(super) fn new(quoting: Quoting) -> Tokens {
        Tokens { quoting, tokens: Vec::new() }
    }

    /// Makes tokens of a text; those of the last one are gone.
    pub(super) fn read(&mut self, text: &[u8]) {
        self.tokens.clear();
        self.tokenize(text);
    }

    fn tokenize(&mut self, text: &[u8]) {
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            let (kind, end) = match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => (None, at + 1),
                b'-' if text.get(at + 1) == Some(&b'-') => (None, line_end(text, at)),
                b'#' if self.quoting == Quoting::MySql => (None, line_end(text, at)),
                b'/' if text.get(at + 1) == Some(&b'*') => (None, comment_end(text, at)),
                b'\'' => (Some(Kind::Literal), self.quoted_end(text, at)),
                b'"' if self.quoting == Quoting::MySql => (Some(Kind::Literal), self.quoted_end(text, at)),
                b'"' | b'`' => (Some(Kind::Name), self.quoted_end(text, at)),
                b'$' => dollar(text, at),
                b'0'..=b'9' => (Some(Kind::Number), number_end(text, at)),
                b'.' if text.get(at + 1).is_some_and(u8::is_ascii_digit) && !self.follows_name(at) => {
                    (Some(Kind::Number), number_end(text, at))
                }
                byte if is_word_byte(*byte) => (Some(Kind::Word), word_end(text, at)),
                byte => (Some(Kind::Symbol(*byte)), at + 1),
            };
            if let Some(kind) = kind {
                self.push(text, kind, at, end);
            }
            at = end;
        }
    }

    /// A string grows together with the prefix or type name before it, and a number with its sign.
    fn push(&mut self, text: &[u8], kind: Kind, start: usize, end: usize) {
        let mut token = Token { kind, start: start as u32, end: end as u32 };
        let before = self.tokens.last().copied();
        let joins = match (kind, before.map(|before| before.kind)) {
            (Kind::Literal, Some(Kind::Word)) => before.is_some_and(|word| introduces(text, word, start)),
            (Kind::Number, Some(Kind::Symbol(b'-'))) => {
                is_sign(text, self.tokens.len().checked_sub(2).map(|at| self.tokens[at]))
            }
            _ => false,
        };
        if let Some(before) = before.filter(|_| joins) {
            token.start = before.start;
            self.tokens.pop();
        }
        self.tokens.push(token);
    }

    fn follows_name(&self, at: usize) -> bool {
        self.tokens.last().is_some_and(|token| token.end as usize == at)
    }

    /// The end of a string or quoted name; without an end, that of the text.
    fn quoted_end(&self, text: &[u8], start: usize) -> usize {
        let quote = text[start];
        let is_escaping = || match self.quoting {
            Quoting::MySql => quote != b'`',
            Quoting::Postgres => {
                quote == b'\''
                    && start > 0
                    && matches!(text[start - 1], b'E' | b'e')
                    && !(start > 1 && is_word_byte(text[start - 2]))
            }
        };
        let escapes = is_escaping();
        let mut at = start + 1;
        while let Some(byte) = text.get(at) {
            match *byte {
                b'\\' if escapes => at += 2,
                byte if byte == quote && text.get(at + 1) == Some(&quote) => at += 2,
                byte if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        text.len()
    }
}

/// Whether a token is this word, in any case.
pub(super) fn is_word(text: &[u8], token: Option<&Token>, word: &[u8]) -> bool {
    token.is_some_and(|token| {
        token.kind == Kind::Word && text[token.start as usize..token.end as usize].eq_ignore_ascii_case(word)
    })
}

/// Whether a word before a string belongs to it: `E'…'`, `_utf8'…'`, `DATE '…'`.
fn introduces(text: &[u8], word: Token, start: usize) -> bool {
    let bytes = &text[word.start as usize..word.end as usize];
    let is_near = word.end as usize == start;
    let is_prefix = bytes.len() == 1 && b"eEnNxXbB".contains(&bytes[0]) || bytes.first() == Some(&b'_');
    let types = [&b"DATE"[..], b"TIME", b"TIMESTAMP", b"TIMESTAMPTZ"];
    (is_near && is_prefix) || types.iter().any(|name| bytes.eq_ignore_ascii_case(name))
}

/// Whether a minus behind this token is a sign: it follows an operator, a comma, or a word of the language.
fn is_sign(text: &[u8], before: Option<Token>) -> bool {
    let Some(before) = before else { return true };
    let words = [
        &b"SELECT"[..],
        b"AND",
        b"OR",
        b"NOT",
        b"THEN",
        b"ELSE",
        b"WHEN",
        b"BETWEEN",
        b"WHERE",
        b"LIMIT",
        b"BY",
        b"SET",
    ];
    match before.kind {
        Kind::Symbol(byte) => byte != b')' && byte != b']',
        Kind::Word => words.iter().any(|word| is_word(text, Some(&before), word)),
        _ => false,
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'@' || byte >= 0x80
}

fn word_end(text: &[u8], start: usize) -> usize {
    let rest = text[start..].iter().position(|byte| !is_word_byte(*byte) && *byte != b'$');
    rest.map_or(text.len(), |length| start + length)
}

fn number_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = text.get(at) {
        let is_exponent_sign = (*byte == b'-' || *byte == b'+')
            && at > start
            && matches!(text[at - 1], b'e' | b'E')
            && !text[start..].starts_with(b"0x");
        if !byte.is_ascii_alphanumeric() && *byte != b'.' && !is_exponent_sign {
            break;
        }
        at += 1;
    }
    at
}

fn line_end(text: &[u8], start: usize) -> usize {
    text[start..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |length| start + length)
}

fn comment_end(text: &[u8], start: usize) -> usize {
    let inside = &text[start + 2..];
    inside.windows(2).position(|pair| pair == b"*/").map_or(text.len(), |length| start + length + 4)
}

/// `$1`, `$tag$ … $tag$`, or a dollar.
fn dollar(text: &[u8], start: usize) -> (Option<Kind>, usize) {
    let digits = text[start + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 {
        let number = std::str::from_utf8(&text[start + 1..start + 1 + digits]).ok().and_then(|text| text.parse().ok());
        return (Some(number.map_or(Kind::Symbol(b'$'), Kind::Parameter)), start + 1 + digits);
    }
    let tag = text[start + 1..].iter().take_while(|byte| is_word_byte(**byte)).count();
    if text.get(start + 1 + tag) != Some(&b'$') {
        return (Some(Kind::Symbol(b'$')), start + 1);
    }
    let tag = &text[start..start + tag + 2];
    let inside = &text[start + tag.len()..];
    let end = inside.windows(tag.len()).position(|window| window == tag);
    (Some(Kind::Literal), end.map_or(text.len(), |end| start + end + 2 * tag.len()))
}
