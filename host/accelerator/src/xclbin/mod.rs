//! The container of a programmed device, `.xclbin`: reading, writing, and making those for
//! hardware emulation.
//!
//! A file is a head of 304 bytes, a header of 152, headers of 40 bytes for each section, and the
//! sections' data at multiples of 8 bytes; all numbers are little endian. The layouts are those of
//! `xclbin.h` of the Xilinx Runtime.
//!
//! | module | what it holds |
//! |---|---|
//! | [`layout`] | memories, connections and instances as sections hold them |
//! | [`metadata`] | kernels and clocks from the XML |
//! | [`build`] | the container of an emulated machine |
//! | [`fit`] | whether a machine fits a card |

pub mod build;
pub mod fit;
pub mod layout;
pub mod metadata;

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use gramer_machine::Accelerator;

use gramer_base::error::{Error, Place, Result};

/// The first bytes of a file.
pub const MAGIC: &[u8; 8] = b"xclbin2\0";
/// Most bytes of a file that is read: several times the size of the largest card's.
pub const MOST_BYTES: u64 = 1 << 30;
/// Offset of the header, and of the headers of sections.
const HEADER: usize = 304;
const SECTIONS: usize = 456;
const SECTION_HEADER: usize = 40;
/// Most sections that a file may have.
const MOST_SECTIONS: u32 = 0x1_0000;

/// Kinds of sections that are used here.
pub mod kind {
    #![allow(missing_docs)]
    pub const BITSTREAM: u32 = 0;
    pub const EMBEDDED_METADATA: u32 = 2;
    pub const MEM_TOPOLOGY: u32 = 6;
    pub const CONNECTIVITY: u32 = 7;
    pub const IP_LAYOUT: u32 = 8;
    pub const CLOCK_FREQ_TOPOLOGY: u32 = 11;
    pub const USER_METADATA: u32 = 16;

    /// The name of a kind in `xclbin.h`; `None` for those that it doesn't know.
    pub fn name(kind: u32) -> Option<&'static str> {
        const NAMES: [&str; 32] = [
            "BITSTREAM",
            "CLEARING_BITSTREAM",
            "EMBEDDED_METADATA",
            "FIRMWARE",
            "DEBUG_DATA",
            "SCHED_FIRMWARE",
            "MEM_TOPOLOGY",
            "CONNECTIVITY",
            "IP_LAYOUT",
            "DEBUG_IP_LAYOUT",
            "DESIGN_CHECK_POINT",
            "CLOCK_FREQ_TOPOLOGY",
            "MCS",
            "BMC",
            "BUILD_METADATA",
            "KEYVALUE_METADATA",
            "USER_METADATA",
            "DNA_CERTIFICATE",
            "PDI",
            "BITSTREAM_PARTIAL_PDI",
            "PARTITION_METADATA",
            "EMULATION_DATA",
            "SYSTEM_METADATA",
            "SOFT_KERNEL",
            "ASK_FLASH",
            "AIE_METADATA",
            "ASK_GROUP_TOPOLOGY",
            "ASK_GROUP_CONNECTIVITY",
            "SMARTNIC",
            "AIE_RESOURCES",
            "OVERLAY",
            "VENDER_METADATA",
        ];
        NAMES.get(kind as usize).copied()
    }
}

/// What the file programs: a card or an emulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode(pub u16);

impl Mode {
    /// Hardware emulation.
    pub const HW_EMU: Mode = Mode(4);

    /// Whether a simulator answers rather than a card.
    pub fn is_emulation(self) -> bool {
        matches!(self.0, 4..=6)
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            0 => f.write_str("card"),
            1 => f.write_str("card, partial reconfiguration"),
            2 | 3 => f.write_str("card, tandem"),
            4 => f.write_str("hardware emulation"),
            5 => f.write_str("software emulation"),
            6 => f.write_str("hardware emulation, partial reconfiguration"),
            other => write!(f, "mode {other}"),
        }
    }
}

/// One section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Kind; see [`kind`].
    pub kind: u32,
    /// Name, often empty; at most 15 bytes.
    pub name: String,
    /// Its bytes.
    pub data: Vec<u8>,
}

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Xclbin {
    /// Where it came from, for messages.
    pub path: PathBuf,
    /// Seconds since 1970 at which it was made; 0 where that isn't said.
    pub time_stamp: u64,
    /// Major, minor and patch version of the tool that made it.
    pub version: (u8, u8, u16),
    /// Card or emulation.
    pub mode: Mode,
    /// The platform that it is for, vendor, board, name and version; at most 63 bytes.
    pub platform: String,
    /// Identity of this file.
    pub uuid: [u8; 16],
    /// The sections, in the order of their headers.
    pub sections: Vec<Section>,
}

impl Xclbin {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Input`] for what is not an xclbin or ends too early.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&Self::bytes(path)?, path)
    }

    /// The bytes of a file: all of them if it begins as an xclbin does and has at most
    /// [`MOST_BYTES`], else those that tell [`Xclbin::parse`] that it is none. A device or a pipe
    /// without an end is not read to it.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Input`] for a file that is too large.
    pub fn bytes(path: &Path) -> Result<Vec<u8>> {
        let io = |e| Error::io(path, "read", e);
        let too_large = || {
            let most = MOST_BYTES >> 20;
            let what =
                format!("the file exceeds {most} MiB, the most that gramer reads as an xclbin");
            Error::input(Place::file(path), what)
        };
        let mut file = File::open(path).map_err(io)?;
        let mut bytes = vec![];
        file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut bytes).map_err(io)?;
        if bytes == MAGIC {
            if file.metadata().map_err(io)?.len() > MOST_BYTES {
                return Err(too_large());
            }
            file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(io)?;
        }
        if bytes.len() as u64 > MOST_BYTES { Err(too_large()) } else { Ok(bytes) }
    }

    /// Reads a file that is in memory; `path` is for messages.
    ///
    /// # Errors
    /// [`Error::Input`] as [`Xclbin::read`].
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        let wrong = |what: String| Error::input(Place::file(path), what);
        if bytes.len() < MAGIC.len() || &bytes[..MAGIC.len()] != MAGIC {
            let hint = match bytes.starts_with(b"xclbin") {
                true => {
                    "; it has another version of the format, of which only `xclbin2` can be \
                     read"
                }
                false => "",
            };
            return Err(wrong(format!(
                "this is not an xclbin: it doesn't begin with `xclbin2`{hint}"
            )));
        }
        if bytes.len() < SECTIONS {
            let size = bytes.len();
            return Err(wrong(format!(
                "truncated: {size} bytes, but the head alone has {SECTIONS}"
            )));
        }
        let head = Fields(bytes);
        let length = head.u64(HEADER);
        if length > bytes.len() as u64 {
            return Err(wrong(format!(
                "truncated: {} bytes, but the header says {length}; copy or build it again",
                bytes.len()
            )));
        }
        let count = head.u32(HEADER + 144);
        if count > MOST_SECTIONS {
            return Err(wrong(format!("the header says {count} sections, more than there can be")));
        }
        let end = SECTIONS + SECTION_HEADER * count as usize;
        if end > bytes.len() {
            return Err(wrong(format!("truncated: no room for the headers of {count} sections")));
        }
        let mut sections = Vec::with_capacity(count as usize);
        for i in 0..count as usize {
            let at = SECTIONS + SECTION_HEADER * i;
            let kind = head.u32(at);
            let (offset, size) = (head.u64(at + 24), head.u64(at + 32));
            let data = usize::try_from(offset)
                .ok()
                .zip(usize::try_from(size).ok())
                .and_then(|(offset, size)| bytes.get(offset..offset.checked_add(size)?))
                .ok_or_else(|| {
                    wrong(format!(
                        "section {i} ({}) lies outside the file: {size} bytes from {offset}, but \
                         the file has {}",
                        describe(kind),
                        bytes.len()
                    ))
                })?;
            sections.push(Section { kind, name: text(&bytes[at + 4..at + 20]), data: data.into() });
        }
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&bytes[HEADER + 112..HEADER + 128]);
        Ok(Xclbin {
            path: path.to_path_buf(),
            time_stamp: head.u64(HEADER + 8),
            version: (bytes[HEADER + 26], bytes[HEADER + 27], head.u16(HEADER + 24)),
            mode: Mode(head.u16(HEADER + 28)),
            platform: text(&bytes[HEADER + 48..HEADER + 112]),
            uuid,
            sections,
        })
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; SECTIONS + SECTION_HEADER * self.sections.len()];
        bytes[..8].copy_from_slice(MAGIC);
        // No signature.
        bytes[8..12].copy_from_slice(&(-1i32).to_le_bytes());
        bytes[12..40].fill(0xff);
        bytes[296..304].copy_from_slice(&self.uuid[..8]);
        for (i, section) in self.sections.iter().enumerate() {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            let (at, offset) = (SECTIONS + SECTION_HEADER * i, bytes.len() as u64);
            bytes[at..at + 4].copy_from_slice(&section.kind.to_le_bytes());
            put_text(&mut bytes[at + 4..at + 20], &section.name);
            bytes[at + 24..at + 32].copy_from_slice(&offset.to_le_bytes());
            bytes[at + 32..at + 40].copy_from_slice(&(section.data.len() as u64).to_le_bytes());
            bytes.extend_from_slice(&section.data);
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let length = bytes.len() as u64;
        let header = &mut bytes[HEADER..SECTIONS];
        header[..8].copy_from_slice(&length.to_le_bytes());
        header[8..16].copy_from_slice(&self.time_stamp.to_le_bytes());
        header[24..26].copy_from_slice(&self.version.2.to_le_bytes());
        (header[26], header[27]) = (self.version.0, self.version.1);
        header[28..30].copy_from_slice(&self.mode.0.to_le_bytes());
        put_text(&mut header[48..112], &self.platform);
        header[112..128].copy_from_slice(&self.uuid);
        header[144..148].copy_from_slice(&(self.sections.len() as u32).to_le_bytes());
        bytes
    }

    /// The first section of a kind.
    pub fn section(&self, kind: u32) -> Option<&[u8]> {
        self.sections.iter().find(|s| s.kind == kind).map(|s| s.data.as_slice())
    }

    /// The first section of a kind, which must be there.
    ///
    /// # Errors
    /// [`Error::Input`] that names the section.
    pub fn required(&self, kind: u32) -> Result<&[u8]> {
        self.section(kind).ok_or_else(|| {
            self.wrong(format!("the section {} is missing: build it again", describe(kind)))
        })
    }

    /// The description of the machine that is in it, in USER_METADATA; `None` without that section.
    ///
    /// # Errors
    /// [`Error::Input`] if it can't be read.
    pub fn machine(&self) -> Result<Option<Accelerator>> {
        let Some(data) = self.section(kind::USER_METADATA) else { return Ok(None) };
        let what = |e: &dyn std::fmt::Display| {
            self.wrong(format!("the section USER_METADATA holds no description of a machine: {e}"))
        };
        let text = std::str::from_utf8(data).map_err(|e| what(&e))?;
        let text = text.trim_end_matches('\0');
        Accelerator::parse(text, Path::new("machine")).map(Some).map_err(|e| what(&e))
    }

    /// That there is no description of a machine in it.
    pub fn no_machine(&self) -> Error {
        self.wrong(
            "the section USER_METADATA is missing, which describes the machine. `make xclbin` and \
             `gramer xclbin build` write it; to a file that Vitis has linked by itself it is added \
             with `xclbinutil --input FILE --add-section USER_METADATA:RAW:machine.yaml --output \
             NEW.xclbin`, where machine.yaml is of `make generate`. Or is the file of another design?",
        )
    }

    /// Names of the files in the program that stands for an emulated device; empty where the
    /// bitstream is that of a card, or missing.
    ///
    /// # Errors
    /// [`Error::Input`] if it is emulated and the program can't be read.
    pub fn program(&self) -> Result<Vec<String>> {
        let data = self.section(kind::BITSTREAM).filter(|_| self.mode.is_emulation());
        let Some(data) = data else { return Ok(vec![]) };
        let zip = zip::ZipArchive::new(std::io::Cursor::new(data)).map_err(|e| {
            self.wrong(format!("the section BITSTREAM is not a zip with a simulator: {e}"))
        })?;
        Ok(zip.file_names().map(str::to_string).collect())
    }

    /// Checks that an emulated device can be started from it: that there is a script to start, and
    /// that all of its files stay in their folder.
    ///
    /// # Errors
    /// [`Error::Input`] that names the file.
    pub fn check_program(&self) -> Result<()> {
        self.required(kind::BITSTREAM)?;
        let names = self.program()?;
        let leaves = |name: &&String| {
            let parts = Path::new(name.as_str()).components();
            name.contains('\\') || parts.into_iter().any(|p| !matches!(p, Component::Normal(_)))
        };
        if let Some(name) = names.iter().find(leaves) {
            return Err(self.wrong(format!(
                "the program in the section BITSTREAM has the file {name:?}, which is outside of its \
                 folder: it isn't started"
            )));
        }
        match names.iter().any(|name| name.ends_with(&format!("/{}", build::SCRIPT))) {
            true => Ok(()),
            false => Err(self.wrong(format!(
                "the program in the section BITSTREAM has no {}: there is nothing to start",
                build::SCRIPT
            ))),
        }
    }

    /// An error of this file.
    pub(crate) fn wrong(&self, what: impl Into<String>) -> Error {
        Error::input(Place::file(&self.path), what)
    }
}

/// Name of a kind of section, or its number.
pub fn describe(kind: u32) -> String {
    kind::name(kind).map_or_else(|| format!("kind {kind}"), str::to_string)
}

/// Numbers at places of a slice that is known to be long enough.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[at..at + N]);
        bytes
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.bytes(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes(at))
    }

    fn i32(&self, at: usize) -> i32 {
        i32::from_le_bytes(self.bytes(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes(at))
    }
}

/// Text up to the first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Writes as much of a text as leaves room for a zero.
fn put_text(field: &mut [u8], text: &str) {
    let room = field.len() - 1;
    let bytes = text.as_bytes();
    let length = bytes.len().min(room);
    field[..length].copy_from_slice(&bytes[..length]);
}
