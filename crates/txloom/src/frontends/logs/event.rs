//! What logs tell, whatever server wrote them.

use super::lines::Place;
use super::value::hash_of;

/// A session of the server, by a hash of what the log calls it.
pub(super) type SessionKey = u64;

/// The session that the log calls so.
pub(super) fn session(name: &[u8]) -> SessionKey {
    hash_of(name)
}

/// Something that happened.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event<'a> {
    /// A client connected.
    Opened(SessionKey),
    /// A client went away.
    Closed(SessionKey),
    /// A client sent something.
    Sent(Sent<'a>),
    /// What a client sent failed.
    Failed {
        /// Whose.
        session: SessionKey,
        /// What failed, if the log says so.
        statement: Option<&'a [u8]>,
    },
}

/// One or several statements that were sent together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent<'a> {
    /// By whom.
    pub(super) session: SessionKey,
    /// The text.
    pub(super) text: &'a [u8],
    /// What stands before the text on its first line.
    pub(super) head: &'a [u8],
    /// Where its first line stands.
    pub(super) place: Place,
    /// The bound parameters, as the log shows them.
    pub(super) parameters: &'a [u8],
    /// Whether it was logged before it was done, so that it may still fail.
    pub(super) may_fail: bool,
}

/// Somebody who wants to know.
pub(super) trait Sink {
    /// Takes note of an event.
    fn event(&mut self, event: Event<'_>);

    /// Takes note of a line that says nothing that we understand.
    fn unread(&mut self, place: Place, line: &[u8]);
}

/// A reader of one format, which is given one line after the other.
pub(super) trait Reader {
    /// The next line.
    fn line(&mut self, place: Place, line: &[u8], sink: &mut dyn Sink);

    /// There is no more.
    fn finish(&mut self, sink: &mut dyn Sink);
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::lines::Lines;
    use super::*;

    /// Events as text.
    #[derive(Default)]
    pub(in super::super) struct Told {
        pub(in super::super) lines: Vec<String>,
        names: Vec<SessionKey>,
    }

    impl Told {
        fn name(&mut self, key: SessionKey) -> usize {
            if !self.names.contains(&key) {
                self.names.push(key);
            }
            self.names.iter().position(|name| *name == key).unwrap_or(0) + 1
        }
    }

    impl Sink for Told {
        fn event(&mut self, event: Event<'_>) {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let line = match event {
                Event::Opened(key) => format!("{} opened", self.name(key)),
                Event::Closed(key) => format!("{} closed", self.name(key)),
                Event::Failed { session, statement } => {
                    format!("{} failed: {}", self.name(session), text(statement.unwrap_or_default()))
                }
                Event::Sent(sent) => {
                    let parameters = match sent.parameters {
                        [] => String::new(),
                        some => format!(" with {}", text(some)),
                    };
                    format!("{} {}@{}{parameters}", self.name(sent.session), text(sent.text), sent.place.line)
                }
            };
            self.lines.push(line);
        }

        fn unread(&mut self, place: Place, _: &[u8]) {
            self.lines.push(format!("? {}", place.line));
        }
    }

    /// What a reader tells of a text.
    pub(in super::super) fn told(reader: &mut dyn Reader, text: &[u8]) -> Vec<String> {
        let (mut lines, mut sink) = (Lines::new(text), Told::default());
        while let Some((place, line)) = lines.next().unwrap() {
            reader.line(place, line, &mut sink);
        }
        reader.finish(&mut sink);
        sink.lines
    }
}
