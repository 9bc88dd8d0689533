//! Elements and text of XML, with their lines.

use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::lines::refused;
use gramer_base::error::{Error, Place, Result, quote, said};

/// Input that counts line ends as they are consumed.
struct LineCounter<'a> {
    input: &'a mut dyn BufRead,
    lines: u64,
}

impl Read for LineCounter<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.lines += memchr::memchr_iter(b'\n', &buffer[..count]).count() as u64;
        Ok(count)
    }
}

impl BufRead for LineCounter<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        if let Ok(buffer) = self.input.fill_buf() {
            let consumed = &buffer[..count.min(buffer.len())];
            self.lines += memchr::memchr_iter(b'\n', consumed).count() as u64;
        }
        self.input.consume(count);
    }
}

/// The start of an element.
#[derive(Debug)]
pub(super) struct Element {
    /// Name without namespace prefix.
    pub name: String,
    /// The line, from 1, on which its tag ends.
    pub line: u64,
    attributes: Vec<(String, String)>,
}

impl Element {
    /// An attribute by its name without prefix.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes.find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// A part of a document.
#[derive(Debug)]
pub(super) enum Part {
    Open(Element),
    /// The end of an element, by its name.
    Close(String),
    Text(String),
    End,
}

/// A document, part by part.
pub(super) struct Xml<'a> {
    path: &'a Path,
    reader: Reader<LineCounter<'a>>,
    buffer: Vec<u8>,
    /// Names of the elements that are open.
    open: Vec<String>,
    /// Whether any element was opened.
    begun: bool,
}

impl<'a> Xml<'a> {
    pub fn new(input: &'a mut dyn BufRead, path: &'a Path) -> Self {
        let mut reader = Reader::from_reader(LineCounter { input, lines: 0 });
        reader.config_mut().expand_empty_elements = true;
        Xml { path, reader, buffer: vec![], open: vec![], begun: false }
    }

    /// A fault at a line, from 1.
    pub fn fault(&self, line: u64, what: impl Into<String>) -> Error {
        Error::input(Place::line(self.path, line), what)
    }

    /// Returns a mandatory attribute of an element.
    ///
    /// # Errors
    /// [`Error::Input`] where it is missing.
    pub fn need<'e>(&self, element: &'e Element, name: &str) -> Result<&'e str> {
        element.get(name).ok_or_else(|| {
            let what = format!("the element `<{}>` has no attribute `{name}`", element.name);
            self.fault(element.line, what)
        })
    }

    /// The next part.
    ///
    /// # Errors
    /// [`Error::Input`] for a text that is no XML or ends within an element, [`Error::Io`].
    pub fn next(&mut self) -> Result<Part> {
        loop {
            self.buffer.clear();
            let event = self.reader.read_event_into(&mut self.buffer);
            let line = 1 + self.reader.get_ref().lines;
            return match event.map_err(|error| unread(self.path, line, error))? {
                // Empty elements come as two events.
                Event::Start(start) | Event::Empty(start) => {
                    let element = element(line, &start);
                    let element = element.map_err(|error| unread(self.path, line, error))?;
                    self.open.push(element.name.clone());
                    self.begun = true;
                    Ok(Part::Open(element))
                }
                Event::End(end) => {
                    self.open.pop();
                    Ok(Part::Close(end.local_name().as_ref().into()))
                }
                Event::Text(text) => Ok(Part::Text(text.xml10_content().into())),
                Event::CData(text) => Ok(Part::Text(text.xml10_content().into())),
                Event::GeneralRef(reference) => {
                    let number = reference.resolve_char_ref();
                    match number.map_err(|error| unread(self.path, line, error))? {
                        Some(character) => Ok(Part::Text(character.into())),
                        None => match quick_xml::escape::resolve_predefined_entity(&reference) {
                            Some(text) => Ok(Part::Text(text.into())),
                            None => {
                                let name = quote(format!("&{};", &*reference));
                                Err(self.fault(line, format!("the entity {name} is not known")))
                            }
                        },
                    }
                }
                Event::Eof => match self.open.last() {
                    Some(name) => {
                        let name = quote(format!("<{name}>"));
                        let what =
                            format!("the file ends within the element {name}: it is cut off");
                        Err(self.fault(line, what))
                    }
                    None if self.begun => Ok(Part::End),
                    None => Err(self.fault(line, "the file holds no element of XML")),
                },
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
            };
        }
    }
}

fn element(line: u64, start: &BytesStart<'_>) -> Result<Element, quick_xml::Error> {
    let mut attributes = vec![];
    for attribute in start.attributes() {
        let attribute = attribute?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
        attributes.push((attribute.key.local_name().as_ref().into(), value.into()));
    }
    Ok(Element { name: start.local_name().as_ref().into(), line, attributes })
}

/// Error of the library, with the line.
fn unread(path: &Path, line: u64, error: quick_xml::Error) -> Error {
    let error = match error {
        quick_xml::Error::Io(source) => match Arc::try_unwrap(source) {
            Ok(source) => return refused(path, source),
            Err(source) => return Error::io(path, "read", source.kind().into()),
        },
        error => error,
    };
    let what = format!("the file is no well-formed XML in UTF-8: {}", said(&error.to_string()));
    Error::input(Place::line(path, line), what)
}

/// Whether a document begins here that has an element of this name near its begin.
pub(super) fn begins(head: &[u8], element: &str) -> bool {
    let Some(start) = head.trim_ascii_start().strip_prefix(b"<") else { return false };
    if !matches!(start.first(), Some(b'?' | b'!')) && !start.starts_with(element.as_bytes()) {
        return false;
    }
    let tag = format!("<{element}");
    let mut found = memchr::memmem::find_iter(head, tag.as_bytes());
    found.any(|at| {
        let next = head.get(at + tag.len());
        next.is_none_or(|next| next.is_ascii_whitespace() || matches!(next, b'>' | b'/'))
    })
}

/// A text as the value of an attribute or the content of an element.
///
/// # Errors
/// For control characters, which XML has no way to write.
pub(super) fn escaped(text: &str) -> io::Result<String> {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '"' => escaped += "&quot;",
            '\t' | '\n' | '\r' => escaped += &format!("&#{};", c as u32),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => {
                let what = format!(
                    "the name {} has a control character, which XML can't hold: write another format",
                    quote(text)
                );
                return Err(io::Error::other(what));
            }
            _ => escaped.push(c),
        }
    }
    Ok(escaped)
}
