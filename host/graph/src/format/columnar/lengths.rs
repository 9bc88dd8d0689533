//! Lengths that an Arrow file declares. The crates allocate what a file declares before they read it, and a process of
//! Python ends where an allocation fails: lengths beyond the file are refused first.

use arrow_ipc::{Block, root_as_footer, root_as_message};

use super::read::{ARROW, STREAM};

/// Largest ratio of compression. Zstandard needs four bytes for a block of 128 KiB, LZ4 a byte for 255.
const MOST: usize = 1 << 15;

/// Decompressed bytes that any buffer may have.
const SMALL: usize = 1 << 20;

/// Decompressed bytes from which on memory is asked for.
const LARGE: usize = 1 << 30;

type Checked = std::result::Result<(), String>;

/// Checks the lengths that an IPC file or stream declares. What can't be found is for the reader to refuse.
pub(super) fn check_lengths(bytes: &[u8]) -> Checked {
    if bytes.starts_with(ARROW) { check_file(bytes) } else { check_stream(bytes) }
}

fn check_file(bytes: &[u8]) -> Checked {
    let Some((rest, end)) = bytes.split_last_chunk::<10>() else { return Ok(()) };
    let length = i32::from_le_bytes([end[0], end[1], end[2], end[3]]);
    let Some(from) = usize::try_from(length).ok().and_then(|n| rest.len().checked_sub(n)) else {
        return Err(format!("its footer has {length} bytes, but the file has {}", bytes.len()));
    };
    let Ok(footer) = root_as_footer(&rest[from..]) else { return Ok(()) };
    let blocks = [footer.dictionaries(), footer.recordBatches()];
    blocks.into_iter().flatten().flatten().try_for_each(|block| check_block(bytes, block))
}

/// Checks a block of a file, which is a message with its body.
fn check_block(bytes: &[u8], block: &Block) -> Checked {
    let whole = || {
        let from = usize::try_from(block.offset()).ok()?;
        let head = usize::try_from(block.metaDataLength()).ok()?;
        let body = usize::try_from(block.bodyLength()).ok()?;
        let whole = bytes.get(from..from.checked_add(head)?.checked_add(body)?)?;
        Some((whole, &whole[head..]))
    };
    match whole() {
        // The reader looks for the message in all of the block.
        Some((whole, body)) => check_message(whole, body),
        None => Err(format!("a block at byte {} ends behind the file", block.offset())),
    }
}

/// Checks the messages of a stream.
fn check_stream(bytes: &[u8]) -> Checked {
    let mut rest = bytes;
    while let Some(length) = message_length(rest) {
        let Some((head, behind)) = rest.split_at_checked(length) else { break };
        let body = root_as_message(message(head)).map_or(0, |message| message.bodyLength());
        let Some((body, behind)) =
            usize::try_from(body).ok().and_then(|n| behind.split_at_checked(n))
        else {
            break;
        };
        check_message(head, body)?;
        rest = behind;
    }
    Ok(())
}

/// Bytes of the head of the message that begins here, with what stands in front of it; `None` at the end.
fn message_length(bytes: &[u8]) -> Option<usize> {
    let front = if bytes.starts_with(&STREAM) { 4 } else { 0 };
    let length = bytes.get(front..front + 4)?.try_into().map(u32::from_le_bytes).ok()?;
    (length > 0).then_some(front + 4 + length as usize)
}

/// A message without the mark and the length in front of it.
fn message(head: &[u8]) -> &[u8] {
    let front = if head.starts_with(&STREAM) { 8 } else { 4 };
    head.get(front..).unwrap_or_default()
}

/// Checks the decompressed lengths of the buffers of a message.
fn check_message(head: &[u8], body: &[u8]) -> Checked {
    let Ok(message) = root_as_message(message(head)) else { return Ok(()) };
    let dictionary = || message.header_as_dictionary_batch().and_then(|batch| batch.data());
    let Some(batch) = message.header_as_record_batch().or_else(dictionary) else { return Ok(()) };
    if batch.compression().is_none() {
        return Ok(());
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let (from, length) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()));
        let (Ok(from), Ok(length)) = (from, length) else { continue };
        let Some(data) = from.checked_add(length).and_then(|end| body.get(from..end)) else {
            return Err(format!("a buffer of {length} bytes ends behind its batch"));
        };
        let Some(declared) = data.first_chunk().map(|first| i64::from_le_bytes(*first)) else {
            continue;
        };
        // -1 marks a buffer that is not compressed; the reader refuses other negative numbers.
        let Ok(declared) = usize::try_from(declared) else { continue };
        if declared > SMALL && declared / MOST > data.len() {
            return Err(format!("{length} bytes of it can't hold {declared} bytes"));
        }
        if declared > LARGE && Vec::<u8>::new().try_reserve_exact(declared).is_err() {
            return Err(format!("it declares {declared} bytes, which memory doesn't have"));
        }
    }
    Ok(())
}
