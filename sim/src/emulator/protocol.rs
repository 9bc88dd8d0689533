//! The wire protocol between the Xilinx Runtime's emulation shim and a device: framed protobuf
//! messages over a unix socket, one request outstanding at a time.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use prost::Message;

/// Numbers of the calls.
pub mod call {
    pub const CLOSE: u32 = 1;
    pub const ALLOCATE: u32 = 4;
    pub const FREE: u32 = 5;
    pub const TO_DEVICE: u32 = 6;
    pub const FROM_DEVICE: u32 = 7;
    pub const WRITE_MEMORY: u32 = 8;
    pub const WRITE_CONTROL: u32 = 9;
    pub const READ_MEMORY: u32 = 10;
    pub const READ_CONTROL: u32 = 11;
    pub const TRACE_COUNT: u32 = 15;
    pub const TIME: u32 = 17;
    pub const MESSAGES: u32 = 19;
    pub const ENVIRONMENT: u32 = 20;
}

/// Most bytes of a request: far more than a packet of the shim.
const MOST_BYTES: u64 = 1 << 32;

#[derive(Clone, PartialEq, Message)]
pub struct Allocate {
    #[prost(uint64, tag = "1")]
    pub address: u64,
    #[prost(uint64, tag = "2")]
    pub size: u64,
}

/// Both directions: `address` is the destination or the source.
#[derive(Clone, PartialEq, Message)]
pub struct ToDevice {
    #[prost(uint64, tag = "3")]
    pub address: u64,
    #[prost(bytes = "vec", tag = "4")]
    pub data: Vec<u8>,
    #[prost(uint64, tag = "5")]
    pub size: u64,
    #[prost(uint64, tag = "6")]
    pub seek: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct FromDevice {
    #[prost(uint64, tag = "4")]
    pub address: u64,
    #[prost(uint64, tag = "5")]
    pub size: u64,
    #[prost(uint64, tag = "6")]
    pub skip: u64,
}

/// A write to registers or memory.
#[derive(Clone, PartialEq, Message)]
pub struct WriteAt {
    #[prost(uint64, tag = "2")]
    pub address: u64,
    #[prost(uint32, tag = "3")]
    pub size: u32,
    #[prost(bytes = "vec", tag = "4")]
    pub data: Vec<u8>,
}

/// A read of registers or memory.
#[derive(Clone, PartialEq, Message)]
pub struct ReadAt {
    #[prost(uint64, tag = "2")]
    pub address: u64,
    #[prost(uint32, tag = "3")]
    pub size: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Done {
    #[prost(bool, required, tag = "1")]
    pub ok: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct Allocated {
    #[prost(bool, required, tag = "1")]
    pub ok: bool,
    #[prost(string, required, tag = "2")]
    pub file: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Size {
    #[prost(uint64, required, tag = "1")]
    pub size: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Data {
    #[prost(uint64, required, tag = "1")]
    pub size: u64,
    #[prost(bytes = "vec", required, tag = "2")]
    pub data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Value {
    #[prost(bool, required, tag = "1")]
    pub ok: bool,
    #[prost(bytes = "vec", required, tag = "2")]
    pub data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Messages {
    #[prost(bytes = "vec", required, tag = "1")]
    pub shown: Vec<u8>,
    #[prost(bytes = "vec", required, tag = "2")]
    pub log: Vec<u8>,
    #[prost(bytes = "vec", required, tag = "3")]
    pub stop: Vec<u8>,
}

/// The two sockets of a device.
pub struct Link {
    main: UnixStream,
    closing: UnixStream,
}

impl Link {
    /// Connects to a host that listens under `folder` for the device named `id`.
    pub fn connect(folder: &Path, id: &str) -> Result<Self> {
        let connect = |name: String| {
            let path = folder.join(name);
            let mut tries = 0;
            loop {
                match UnixStream::connect(&path) {
                    Ok(stream) => return Ok(stream),
                    // The host may not listen yet.
                    Err(_) if tries < 3000 => std::thread::sleep(Duration::from_millis(10)),
                    Err(e) => {
                        return Err(e)
                            .with_context(|| format!("cannot connect to {}", path.display()));
                    }
                }
                tries += 1;
            }
        };
        Ok(Link {
            main: connect(id.to_string())?,
            closing: connect(format!("D2X_unix_sock_{id}"))?,
        })
    }

    /// The next request, call and payload, or `None` when the host has gone.
    pub fn receive(&mut self) -> Result<Option<(u32, Vec<u8>)>> {
        let mut head = [0; 14];
        match self.main.read_exact(&mut head) {
            Ok(()) => {}
            Err(e) if gone(&e) => return Ok(None),
            Err(e) => return Err(e.into()),
        }
        // Protobuf fields 1 (fixed 64 bits) and 2 (fixed 32 bits).
        ensure!(head[0] == 0x09 && head[9] == 0x15, "the head of a request is {head:02x?}");
        let size = u64::from_le_bytes(head[1..9].try_into().expect("8 bytes"));
        let number = u32::from_le_bytes(head[10..].try_into().expect("4 bytes"));
        ensure!(size <= MOST_BYTES, "a request of {size} bytes");
        let mut payload = vec![0; size as usize];
        match self.main.read_exact(&mut payload) {
            Ok(()) => Ok(Some((number, payload))),
            Err(e) if gone(&e) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Answers the request.
    pub fn answer(&mut self, message: &impl Message) -> Result<()> {
        let mut bytes = vec![0x09];
        bytes.extend((message.encoded_len() as u64).to_le_bytes());
        message.encode(&mut bytes)?;
        match self.main.write_all(&bytes) {
            Err(e) if !gone(&e) => Err(e.into()),
            _ => Ok(()), // a host that has gone shows at the next request
        }
    }

    /// Tells the host that the device is closed; it waits for that some seconds.
    pub fn closed(&mut self) {
        let mut head = [0; 14];
        (head[0], head[9], head[10]) = (0x09, 0x15, 1);
        let _ = self.closing.write_all(&head);
    }
}

fn gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted
    )
}
