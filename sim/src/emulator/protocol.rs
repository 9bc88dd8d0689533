//! Wire protocol between the Xilinx Runtime's emulation shim and a device: framed protobuf messages over a unix socket,
//! with one outstanding request.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use prost::Message;
use prost::bytes::{Buf, BufMut};
use prost::encoding::{self, DecodeContext, WireType};

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

/// Maximum of bytes in a request: far more than a packet of the shim.
const MOST_BYTES: u64 = 1 << 32;

/// Defines messages by their fields: name, encoding, number. Missing fields of a request are zero or empty; a response
/// has all fields. Replaces `prost`, whose derive takes seconds to compile.
macro_rules! messages {
    ($($(#[$about:meta])* $name:ident { $($field:ident: $kind:ident $type:ty = $number:literal,)* })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $name {
            $(pub $field: $type,)*
        }

        impl Message for $name {
            fn encode_raw(&self, to: &mut impl BufMut) {
                $(encoding::$kind::encode($number, &self.$field, to);)*
            }

            fn merge_field(
                &mut self,
                number: u32,
                wire: WireType,
                from: &mut impl Buf,
                context: DecodeContext,
            ) -> Result<(), prost::DecodeError> {
                match number {
                    $($number => encoding::$kind::merge(wire, &mut self.$field, from, context),)*
                    _ => encoding::skip_field(wire, number, from, context),
                }
            }

            fn encoded_len(&self) -> usize {
                0 $(+ encoding::$kind::encoded_len($number, &self.$field))*
            }

            fn clear(&mut self) {
                *self = Self::default();
            }
        }
    )*};
}

messages! {
    Allocate { address: uint64 u64 = 1, size: uint64 u64 = 2, }

    /// `address` is the destination.
    ToDevice {
        address: uint64 u64 = 3,
        data: bytes Vec<u8> = 4,
        size: uint64 u64 = 5,
        seek: uint64 u64 = 6,
    }

    /// `address` is the source.
    FromDevice { address: uint64 u64 = 4, size: uint64 u64 = 5, skip: uint64 u64 = 6, }

    /// A write to registers or memory.
    WriteAt { address: uint64 u64 = 2, size: uint32 u32 = 3, data: bytes Vec<u8> = 4, }

    /// A read of registers or memory.
    ReadAt { address: uint64 u64 = 2, size: uint32 u32 = 3, }

    Done { ok: bool bool = 1, }

    Allocated { ok: bool bool = 1, file: string String = 2, }

    Size { size: uint64 u64 = 1, }

    Data { size: uint64 u64 = 1, data: bytes Vec<u8> = 2, }

    Value { ok: bool bool = 1, data: bytes Vec<u8> = 2, }

    Messages { shown: bytes Vec<u8> = 1, log: bytes Vec<u8> = 2, stop: bytes Vec<u8> = 3, }
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

    /// Returns the next request, as call and payload, or `None` if the host has disconnected.
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

    /// Notifies the host that the device is closed, for which it waits a few seconds.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Protocol Buffers encoding: a key is field number and wire type, numbers are varints, bytes are
    /// length-prefixed.
    #[test]
    fn messages_are_written_and_read_as_protocol_buffers() {
        let answer = Data { size: 300, data: vec![7, 8] };
        assert_eq!(answer.encode_to_vec(), [0x08, 0xac, 0x02, 0x12, 0x02, 7, 8]);
        // An answer has its fields where they are zero or empty too.
        assert_eq!(Data::default().encode_to_vec(), [0x08, 0, 0x12, 0]);
        assert_eq!(Done { ok: true }.encode_to_vec(), [0x08, 1]);
        let file = "f".to_string();
        assert_eq!(Allocated { ok: false, file }.encode_to_vec(), [0x08, 0, 0x12, 1, b'f']);
        assert_eq!(answer.encoded_len(), 7);
        // Fields in another order, one missing, and one that nobody knows.
        let bytes = [0x22, 1, 9, 0x50, 5, 0x18, 0x80, 0x01];
        let request = ToDevice { address: 128, data: vec![9], ..ToDevice::default() };
        assert_eq!(ToDevice::decode(&bytes[..]).unwrap(), request);
        assert!(ToDevice::decode(&bytes[..2]).is_err());
    }
}
