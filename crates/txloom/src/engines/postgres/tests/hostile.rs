//! Servers that mean harm: each is met with an error in time, and none fills the memory.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use super::super::super::wire::limits::LOGIN_TIME;
use super::super::super::wire::security::Security;
use super::super::super::wire::stream::Address;
use super::super::super::wire::tls::{TlsMode, TlsOptions};
use super::super::super::wire::url::Password;
use super::super::connection::{Connection, Login};

/// What a server does with one connection; when it returns, the connection ends.
type Behaviour = fn(TcpStream);

/// Meets a server that behaves so, and asks it something if it lets us in; returns what went wrong.
#[track_caller]
fn trouble_with(mode: TlsMode, behave: Behaviour) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            std::thread::spawn(move || behave(stream));
        }
    });
    let login = Login {
        address,
        user: "u".into(),
        password: Some(Password("geheim".into())),
        security: Security { tls: TlsOptions::default().with_mode(mode), ..Security::default() },
        database: "d".into(),
        settings: Vec::new(),
        patience: Some(LOGIN_TIME),
    };
    match Connection::open(&login) {
        Err(error) => format!("{error:?}"),
        Ok(mut connection) => match connection.execute("SELECT 1", |_| String::new()) {
            Err(error) => error.to_string(),
            Ok(outcome) => outcome.error.map(|error| error.message).expect("an error"),
        },
    }
}

/// One message: its letter, its length, its contents.
fn message(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut message = vec![tag];
    message.extend_from_slice(&(contents.len() as u32 + 4).to_be_bytes());
    message.extend_from_slice(contents);
    message
}

fn hear(stream: &mut TcpStream) -> Vec<u8> {
    let mut heard = vec![0; 4096];
    let count = stream.read(&mut heard).unwrap_or(0);
    heard.truncate(count);
    heard
}

fn let_in(stream: &mut TcpStream) {
    hear(stream);
    let _ = stream.write_all(&[message(b'R', &[0; 4]), message(b'Z', b"I")].concat());
    hear(stream);
}

fn send_for_ever(stream: &mut TcpStream, what: &[u8]) {
    let many = what.repeat(0x10000 / what.len() + 1);
    while stream.write_all(&many).is_ok() {}
}

#[test]
fn before_the_login() {
    let silent: Behaviour = |mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    };
    let dripping: Behaviour = |mut stream| {
        // Nothing more comes from the client: each read is a pause.
        stream.set_read_timeout(Some(LOGIN_TIME / 20)).unwrap();
        while stream.write_all(&message(b'N', &[0])).is_ok() {
            hear(&mut stream);
        }
    };
    let huge: Behaviour = |mut stream| {
        let _ = stream.write_all(&[b'N', 0x7f, 0xff, 0xff, 0xff]);
        send_for_ever(&mut stream, b"x");
    };
    let endless_notices: Behaviour = |mut stream| send_for_ever(&mut stream, &message(b'N', &[0]));
    let asks_twice: Behaviour = |mut stream| {
        hear(&mut stream);
        let _ = stream.write_all(&message(b'R', &[0, 0, 0, 5, 1, 2, 3, 4]));
        hear(&mut stream);
        let _ = stream.write_all(&message(b'R', &[0, 0, 0, 5, 1, 2, 3, 4]));
        hear(&mut stream);
    };
    let clear_text: Behaviour = |mut stream| {
        hear(&mut stream);
        let _ = stream.write_all(&message(b'R', &[0, 0, 0, 3]));
        assert!(hear(&mut stream).is_empty(), "no password");
    };
    for (behave, expected) in [
        (silent, "Io("),
        (dripping, "Io("),
        (huge, "more than 64 kB"),
        (endless_notices, "more than 64 kB"),
        (asks_twice, "a second time"),
        (clear_text, "ClearText"),
    ] {
        let trouble = trouble_with(TlsMode::Disable, behave);
        assert!(trouble.contains(expected), "{expected}: {trouble}");
    }
    let refuses_tls: Behaviour = |mut stream| {
        hear(&mut stream);
        let _ = stream.write_all(b"N");
        assert!(hear(&mut stream).is_empty(), "no user, no password");
    };
    assert!(trouble_with(TlsMode::Require, refuses_tls).contains("NotOffered"));
    let no_handshake: Behaviour = |mut stream| {
        hear(&mut stream);
        let _ = stream.write_all(b"Sthis is no handshake");
        hear(&mut stream);
    };
    assert!(trouble_with(TlsMode::Require, no_handshake).contains("Tls("));
}

#[test]
fn in_answers() {
    let endless_rows: Behaviour = |mut stream| {
        let_in(&mut stream);
        send_for_ever(&mut stream, &message(b'D', &[&[0, 1, 0, 0, 0x20, 0][..], &[b'x'; 0x2000]].concat()));
    };
    let endless_results: Behaviour = |mut stream| {
        let_in(&mut stream);
        send_for_ever(&mut stream, &message(b'C', &[&[b'x'; 0x2000][..], b"\0"].concat()));
    };
    let endless_notices: Behaviour = |mut stream| {
        let_in(&mut stream);
        send_for_ever(&mut stream, &message(b'N', &[&[b'M'; 0x2000][..], b"\0\0"].concat()));
    };
    let huge: Behaviour = |mut stream| {
        let_in(&mut stream);
        let _ = stream.write_all(&[b'D', 0x7f, 0xff, 0xff, 0xff]);
        hear(&mut stream);
    };
    let nonsense: Behaviour = |mut stream| {
        let_in(&mut stream);
        let _ = stream.write_all(&[b'D', 0, 0, 0, 1]);
        hear(&mut stream);
    };
    for (behave, expected) in [
        (endless_rows, "longer than 256 MB"),
        (endless_results, "longer than 256 MB"),
        (endless_notices, "longer than 256 MB"),
        (huge, "longer than 256 MB"),
        (nonsense, "length"),
    ] {
        let trouble = trouble_with(TlsMode::Disable, behave);
        assert!(trouble.contains(expected), "{expected}: {trouble}");
    }
}
