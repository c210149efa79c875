//! Texts of requests. JSON escapes lone surrogates, which no Rust string holds. A
//! line is rewritten before it is parsed: each becomes one character of a private
//! plane, and later whatever its use needs.

const PLANE: u32 = 0xF0000;
const FIRST: u32 = 0xD800;
const LAST: u32 = 0xDFFF;

/// Returns the line with a private character for each escaped lone surrogate.
pub fn without_surrogates(line: &str) -> String {
    let bytes = line.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let unit = escape(bytes, at);
        let paired = |u: u32| u < 0xDC00 && matches!(escape(bytes, at + 6), Some(low) if (0xDC00..=LAST).contains(&low));
        let taken = match unit {
            Some(u) if (FIRST..=LAST).contains(&u) && paired(u) => 12,
            Some(u) if (FIRST..=LAST).contains(&u) => {
                let private = char::from_u32(PLANE + u - FIRST).expect("a character of plane 15");
                out.extend(private.to_string().bytes());
                at += 6;
                continue;
            }
            _ => 2,
        };
        out.extend(&bytes[at..(at + taken).min(bytes.len())]);
        at += taken;
    }
    String::from_utf8(out).expect("only whole characters were replaced")
}

/// Returns the code unit of the \u escape at a place, if there is one.
fn escape(bytes: &[u8], at: usize) -> Option<u32> {
    let text = bytes.get(at..at + 6)?;
    if &text[..2] != b"\\u" {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(&text[2..]).ok()?, 16).ok()
}

fn surrogate(c: char) -> Option<u32> {
    let u = (c as u32).checked_sub(PLANE)? + FIRST;
    (u <= LAST).then_some(u)
}

/// Returns the bytes of a text, with three for each lone surrogate.
pub fn bytes_of(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match surrogate(c) {
            Some(u) => out.extend([0xE0 | (u >> 12) as u8, 0x80 | (u >> 6 & 63) as u8, 0x80 | (u & 63) as u8]),
            None => out.extend(c.to_string().bytes()),
        }
    }
    out
}

/// Returns a token with U+FFFD for each lone surrogate: neither is a character of
/// any token, and both have three bytes.
pub fn token_of(text: &str) -> String {
    text.chars().map(|c| if surrogate(c).is_some() { '\u{FFFD}' } else { c }).collect()
}

#[cfg(feature = "tower")]
/// Reports whether a text holds a lone surrogate, and so is no Rust string.
pub fn has_surrogate(text: &str) -> bool {
    text.chars().any(|c| surrogate(c).is_some())
}
