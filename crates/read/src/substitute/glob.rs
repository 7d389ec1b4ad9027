//! Shell patterns as `${v#p}` and its kin know them: `*` any text (slashes too), `?` one character, `[a-z]` and `[^a-z]`
//! one of a class, `\` before a character taken as it is. Works on bytes, as prefixes of a value may end inside of a
//! character. A malformed class is found only when the match gets to it.
//!
//! The original matches every prefix anew, which takes the cube of the length. Here a prefix is matched anew only where
//! that can make a difference, and what all of it may take has a limit.

/// Why a pattern has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unmatched {
    BadPattern,
    /// More comparisons than there were left.
    TooMuch,
}

/// A pattern, cut at its stars. A `*` takes as little as it can, and is not tried again later.
pub(super) struct Pattern {
    chunks: Vec<Chunk>,
}

/// What stands between two stars.
struct Chunk {
    /// Whether a star is before it.
    starred: bool,
    signs: Vec<Sign>,
}

enum Sign {
    Byte(u8),
    Any,
    Class { negated: bool, ranges: Vec<(u32, u32)> },
    Malformed,
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Self {
        let mut rest = pattern.as_bytes();
        let mut chunks = Vec::new();
        while !rest.is_empty() {
            let stars = rest.iter().take_while(|byte| **byte == b'*').count();
            let (chunk, after) = rest[stars..].split_at(chunk_length(&rest[stars..]));
            chunks.push(Chunk { starred: stars > 0, signs: signs(chunk) });
            rest = after;
        }
        Self { chunks }
    }

    /// How long the shortest or the longest prefix of `value` is that the pattern matches; an empty one never counts.
    /// Takes from `left` one for every comparison.
    pub(super) fn prefix(&self, value: &str, longest: bool, left: &mut usize) -> Result<Option<usize>, Unmatched> {
        let name = value.as_bytes();
        let Some((last, before)) = self.chunks.split_last().filter(|_| !name.is_empty()) else { return Ok(None) };
        if !value.is_ascii() && self.chunks.iter().any(Chunk::has_characters) {
            return cut(last, before, name, longest, left);
        }
        // Every sign takes one byte, wherever the prefix ends. So all prefixes agree on where the last chunk may begin.
        let Some(from) = place(before, name, left)? else { return Ok(None) };
        if last.signs.is_empty() {
            return Ok(Some(if longest { name.len() } else { from.max(1) }));
        }
        let furthest = if last.starred { name.len() } else { from };
        let mut starts = from..=furthest;
        while let Some(start) = if longest { starts.next_back() } else { starts.next() } {
            if let Some(end) = last.matches(name, start, left)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }
}

/// Tries every prefix. Where one ends inside of a character, the bytes of it count as characters of their own, so each
/// may be matched in another way.
fn cut(
    last: &Chunk,
    before: &[Chunk],
    name: &[u8],
    longest: bool,
    left: &mut usize,
) -> Result<Option<usize>, Unmatched> {
    let mut found = None;
    for end in (1..=name.len()).rev() {
        let prefix = &name[..end];
        if let Some(from) = place(before, prefix, left)?
            && last.ends(prefix, from, left)?
        {
            found = Some(end);
            if longest {
                break;
            }
        }
    }
    Ok(found)
}

/// Where `name` goes on after all of `chunks`, each as far to the front as it goes.
fn place(chunks: &[Chunk], name: &[u8], left: &mut usize) -> Result<Option<usize>, Unmatched> {
    let mut at = 0;
    for chunk in chunks {
        let furthest = if chunk.starred { name.len() } else { at };
        let mut found = None;
        for start in at..=furthest {
            found = chunk.matches(name, start, left)?;
            if found.is_some() {
                break;
            }
        }
        match found {
            Some(end) => at = end,
            None => return Ok(None),
        }
    }
    Ok(Some(at))
}

impl Chunk {
    /// Whether anything but bytes is asked for.
    fn has_characters(&self) -> bool {
        self.signs.iter().any(|sign| matches!(sign, Sign::Any | Sign::Class { .. }))
    }

    fn is_malformed(&self) -> bool {
        matches!(self.signs.last(), Some(Sign::Malformed))
    }

    fn bytes_max(&self) -> usize {
        self.signs.len() * char::MAX.len_utf8()
    }

    /// Where `name` goes on after this, if this is what it has at `start`.
    fn matches(&self, name: &[u8], start: usize, left: &mut usize) -> Result<Option<usize>, Unmatched> {
        let mut at = start;
        for sign in &self.signs {
            *left = left.checked_sub(sign.comparisons()).ok_or(Unmatched::TooMuch)?;
            if at == name.len() {
                return Ok(None);
            }
            let bytes = match sign {
                Sign::Byte(wanted) => usize::from(name[at] == *wanted),
                Sign::Any => first_character(&name[at..]).1,
                Sign::Class { negated, ranges } => {
                    let (character, bytes) = first_character(&name[at..]);
                    let hit = ranges.iter().any(|(low, high)| (*low..=*high).contains(&character));
                    if hit == *negated { 0 } else { bytes }
                }
                Sign::Malformed => return Err(Unmatched::BadPattern),
            };
            if bytes == 0 {
                return Ok(None);
            }
            at += bytes;
        }
        Ok(Some(at))
    }

    /// Whether this, the last chunk, takes `name` to its end.
    fn ends(&self, name: &[u8], from: usize, left: &mut usize) -> Result<bool, Unmatched> {
        if self.signs.is_empty() {
            return Ok(true);
        }
        let furthest = if self.starred { name.len() } else { from };
        let nearest = if self.is_malformed() { from } else { from.max(name.len().saturating_sub(self.bytes_max())) };
        for start in nearest..=furthest {
            if self.matches(name, start, left)? == Some(name.len()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Sign {
    fn comparisons(&self) -> usize {
        match self {
            Self::Class { ranges, .. } => ranges.len(),
            Self::Byte(_) | Self::Any | Self::Malformed => 1,
        }
    }
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

/// Nothing is read past the first malformed sign.
fn signs(mut chunk: &[u8]) -> Vec<Sign> {
    let mut signs = Vec::with_capacity(chunk.len());
    while let [first, after @ ..] = chunk {
        let (sign, rest) = match (first, after) {
            (b'[', _) => class(after).unwrap_or((Sign::Malformed, &[])),
            (b'?', _) => (Sign::Any, after),
            (b'\\', [literal, rest @ ..]) => (Sign::Byte(*literal), rest),
            (b'\\', []) => (Sign::Malformed, after),
            _ => (Sign::Byte(*first), after),
        };
        signs.push(sign);
        chunk = rest;
    }
    signs
}

/// The class that `chunk` is in, and what follows its `]`.
fn class(mut chunk: &[u8]) -> Option<(Sign, &[u8])> {
    let negated = chunk.first() == Some(&b'^');
    if negated {
        chunk = &chunk[1..];
    }
    let mut ranges = Vec::new();
    loop {
        if !ranges.is_empty()
            && let [b']', rest @ ..] = chunk
        {
            return Some((Sign::Class { negated, ranges }, rest));
        }
        let (low, rest) = class_character(chunk)?;
        let (high, rest) = match rest {
            [b'-', rest @ ..] => class_character(rest)?,
            _ => (low, rest),
        };
        chunk = rest;
        ranges.push((low, high));
    }
}

/// One character of a class, and what follows it; something must.
fn class_character(chunk: &[u8]) -> Option<(u32, &[u8])> {
    let chunk = match chunk {
        [] | [b'-' | b']', ..] => return None,
        [b'\\', rest @ ..] => rest,
        _ => chunk,
    };
    if chunk.is_empty() {
        return None;
    }
    let (character, bytes) = first_character(chunk);
    let rest = &chunk[bytes..];
    let is_broken = character == u32::from(char::REPLACEMENT_CHARACTER) && bytes == 1;
    if is_broken || rest.is_empty() { None } else { Some((character, rest)) }
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
