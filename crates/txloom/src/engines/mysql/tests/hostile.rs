//! Servers that mean harm: each is met with an error in time, and none fills the memory.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use super::super::super::wire::limits::LOGIN_TIME;
use super::super::super::wire::security::Security;
use super::super::super::wire::stream::{Address, Stream};
use super::super::super::wire::tls::{TlsMode, TlsOptions};
use super::super::super::wire::url::Password;
use super::super::connection::{Connection, Login};
use super::super::packet::Packets;
use super::fake::{OK, greeting};

/// What a server does with one connection; when it returns, the connection ends.
type Behaviour = fn(TcpStream);

/// Meets a server that behaves so, and asks it something if it lets us in; returns what went wrong.
#[track_caller]
fn trouble_with(tls: TlsMode, behave: Behaviour) -> String {
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
        security: Security { tls: TlsOptions::default().with_mode(tls), ..Security::default() },
        database: None,
        patience: Some(LOGIN_TIME),
        gives_files: false,
    };
    match Connection::open(&login) {
        Err(error) => format!("{error:?}"),
        Ok(mut connection) => match connection.execute("SELECT 1") {
            Err(error) => error.to_string(),
            Ok(outcome) => outcome.error.map(|error| error.message).expect("an error"),
        },
    }
}

/// Lets the client in, and reads its first command.
fn let_in(stream: TcpStream) -> Packets {
    let mut packets = Packets::new(Stream::tcp(stream));
    packets.send(&greeting("mysql_native_password")).unwrap();
    packets.receive().unwrap();
    packets.send(OK).unwrap();
    let _ = packets.receive_command();
    packets
}

/// Sends the same payload for as long as it is taken.
fn send_for_ever(packets: &mut Packets, payload: &[u8]) {
    while packets.send(payload).is_ok() {}
}

#[test]
fn before_the_login() {
    let silent: Behaviour = |mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    };
    let dripping: Behaviour = |mut stream| {
        // Nothing comes from the client: each read is a pause.
        stream.set_read_timeout(Some(LOGIN_TIME / 20)).unwrap();
        while stream.write_all(&[1]).is_ok() {
            let _ = stream.read(&mut [0]);
        }
    };
    let huge: Behaviour = |mut stream| {
        let _ = stream.write_all(&[0xff, 0xff, 0xff, 0]);
        while stream.write_all(&[b'x'; 65536]).is_ok() {}
    };
    let endless_methods: Behaviour = |stream| {
        let mut packets = Packets::new(Stream::tcp(stream));
        packets.send(&greeting("mysql_native_password")).unwrap();
        while packets.receive().is_ok() && packets.send(b"\xfemysql_native_password\0abcdefghijklmnopqrst\0").is_ok() {}
    };
    let endless_questions: Behaviour = |stream| {
        let mut packets = Packets::new(Stream::tcp(stream));
        packets.send(&greeting("caching_sha2_password")).unwrap();
        packets.receive().unwrap();
        send_for_ever(&mut packets, &[1, 3]);
    };
    let clear_text: Behaviour = |stream| {
        let mut packets = Packets::new(Stream::tcp(stream));
        packets.send(&greeting("mysql_native_password")).unwrap();
        packets.receive().unwrap();
        packets.send(b"\xfemysql_clear_password\0").unwrap();
        assert!(packets.receive().is_err(), "no password");
    };
    let wrong_sequence: Behaviour = |mut stream| {
        let _ = stream.write_all(&[1, 0, 0, 9, 10]);
        let _ = stream.read(&mut [0; 64]);
    };
    for (behave, expected) in [
        (silent, "Io("),
        (dripping, "Io("),
        (huge, "more than 64 kB"),
        (endless_methods, "one method of logging in after another"),
        (endless_questions, "more than 64 kB"),
        (clear_text, "ClearText"),
        (wrong_sequence, "out of sequence"),
    ] {
        let trouble = trouble_with(TlsMode::Disable, behave);
        assert!(trouble.contains(expected), "{expected}: {trouble}");
    }
    let no_tls: Behaviour = |stream| {
        let mut packets = Packets::new(Stream::tcp(stream));
        packets.send(&greeting("mysql_native_password")).unwrap();
        assert!(packets.receive().unwrap().len() <= 32, "no user, no password");
        let _ = packets.send(b"this is no handshake");
    };
    assert!(trouble_with(TlsMode::Require, no_tls).contains("Tls("));
}

#[test]
fn in_answers() {
    let endless_rows: Behaviour = |stream| {
        let mut packets = let_in(stream);
        packets.send(&[1]).unwrap();
        packets.send(b"\x03def\0\0\0\x01a\0\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0\0").unwrap();
        packets.send(&[0xfe, 0, 0, 0, 0]).unwrap();
        send_for_ever(&mut packets, &[&[0xfc, 0, 0x20][..], &[b'x'; 0x2000]].concat());
    };
    let endless_results: Behaviour = |stream| {
        let mut packets = let_in(stream);
        send_for_ever(&mut packets, &[&[0, 0, 0, 8, 0, 0, 0][..], &[b'x'; 0x2000]].concat());
    };
    let many_columns: Behaviour = |stream| {
        let mut packets = let_in(stream);
        packets.send(&[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).unwrap();
        send_for_ever(&mut packets, b"\x03def\0\0\0\x01a\0\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0\0");
    };
    let wrong_sequence: Behaviour = |stream| {
        // As a command, it has the number of a first packet.
        let_in(stream).command(OK[0], &OK[1..]).unwrap();
    };
    let big_row: Behaviour = |stream| {
        let mut packets = let_in(stream);
        packets.send(&[1]).unwrap();
        packets.send(b"\x03def\0\0\0\x01a\0\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0\0").unwrap();
        packets.send(&[0xfe, 0, 0, 0, 0]).unwrap();
        send_for_ever(&mut packets, &vec![b'x'; 0xff_ffff * 3]);
    };
    for (behave, expected) in [
        (endless_rows, "longer than 256 MB"),
        (endless_results, "longer than 256 MB"),
        (many_columns, "more than 65535 columns"),
        (big_row, "256 MB"),
        (wrong_sequence, "out of sequence"),
    ] {
        let trouble = trouble_with(TlsMode::Disable, behave);
        assert!(trouble.contains(expected), "{expected}: {trouble}");
    }
}
