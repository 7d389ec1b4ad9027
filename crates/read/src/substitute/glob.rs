//! Shell patterns as `${v#p}` and its kin know them: `*` any text (slashes too), `?` one character, `[a-z]` and `[^a-z]`
//! one of a class, `\` before a character taken as it is. Works on bytes, as prefixes of a value may end inside of a
//! character. A malformed class is found only when the match gets to it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadPattern;

/// Whether `pattern` matches all of `name`. A `*` takes as little as it can, and is not tried again later.
pub(super) fn matches(mut pattern: &[u8], mut name: &[u8]) -> Result<bool, BadPattern> {
    while !pattern.is_empty() {
        let stars = pattern.iter().take_while(|byte| **byte == b'*').count();
        let (chunk, rest) = pattern[stars..].split_at(chunk_length(&pattern[stars..]));
        pattern = rest;
        if stars > 0 && chunk.is_empty() {
            return Ok(true);
        }
        let last = pattern.is_empty();
        let mut found = None;
        let furthest = if stars > 0 { name.len() } else { 0 };
        for skipped in 0..=furthest {
            if let Some(after) = match_chunk(chunk, &name[skipped..])?
                && (after.is_empty() || !last)
            {
                found = Some(after);
                break;
            }
        }
        match found {
            Some(after) => name = after,
            None => return Ok(false),
        }
    }
    Ok(name.is_empty())
}

/// The bytes up to the next `*` outside of a class.
fn chunk_length(pattern: &[u8]) -> usize {
    let mut in_class = false;
    let mut at = 0;
    while at < pattern.len() {
        match pattern[at] {
            b'\\' if at + 1 < pattern.len() => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'*' if !in_class => break,
            _ => {}
        }
        at += 1;
    }
    at
}

/// What is left of `name` after `chunk`, if it begins with it.
fn match_chunk<'name>(mut chunk: &[u8], mut name: &'name [u8]) -> Result<Option<&'name [u8]>, BadPattern> {
    while let [sign, after @ ..] = chunk {
        if name.is_empty() {
            return Ok(None);
        }
        let literal = match sign {
            b'[' => {
                let (character, bytes) = first_character(name);
                name = &name[bytes..];
                let (hit, rest) = match_class(after, character)?;
                if !hit {
                    return Ok(None);
                }
                chunk = rest;
                continue;
            }
            b'?' => {
                name = &name[first_character(name).1..];
                chunk = after;
                continue;
            }
            b'\\' => after,
            _ => chunk,
        };
        match (literal.first(), name.first()) {
            (None, _) => return Err(BadPattern),
            (Some(wanted), Some(found)) if wanted == found => {}
            _ => return Ok(None),
        }
        chunk = &literal[1..];
        name = &name[1..];
    }
    Ok(Some(name))
}

/// Whether the class that `chunk` is in has `character`, and what follows its `]`.
fn match_class(mut chunk: &[u8], character: u32) -> Result<(bool, &[u8]), BadPattern> {
    let negated = chunk.first() == Some(&b'^');
    if negated {
        chunk = &chunk[1..];
    }
    let mut hit = false;
    let mut ranges = 0;
    loop {
        if ranges > 0
            && let [b']', rest @ ..] = chunk
        {
            return Ok((hit != negated, rest));
        }
        let (low, rest) = class_character(chunk)?;
        let (high, rest) = match rest {
            [b'-', rest @ ..] => class_character(rest)?,
            _ => (low, rest),
        };
        chunk = rest;
        hit |= (low..=high).contains(&character);
        ranges += 1;
    }
}

/// One character of a class, and what follows it; something must.
fn class_character(chunk: &[u8]) -> Result<(u32, &[u8]), BadPattern> {
    let chunk = match chunk {
        [] | [b'-' | b']', ..] => return Err(BadPattern),
        [b'\\', rest @ ..] => rest,
        _ => chunk,
    };
    if chunk.is_empty() {
        return Err(BadPattern);
    }
    let (character, bytes) = first_character(chunk);
    let rest = &chunk[bytes..];
    let is_broken = character == u32::from(char::REPLACEMENT_CHARACTER) && bytes == 1;
    if is_broken || rest.is_empty() { Err(BadPattern) } else { Ok((character, rest)) }
}

/// The first character with its length in bytes; one byte that begins none is a replacement character.
fn first_character(bytes: &[u8]) -> (u32, usize) {
    let window = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(window) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default(),
    };
    valid.chars().next().map_or((u32::from(char::REPLACEMENT_CHARACTER), 1), |first| (first.into(), first.len_utf8()))
}
