//! Pages of one file: a style, perhaps data and a script of ours, and a policy that lets nothing else in.
//!
//! Everything from a repository is text here: escaped where it stands between tags, and JSON in which no `<` stands where a script reads it.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::clean::{clean, clean_json};
use crate::svg::escape;

/// What documents to read look like: tables, folds, code.
pub(crate) const DOCUMENT_STYLE: &str = include_str!("document.css");

/// A page, by its parts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Page<'a> {
    pub title: &'a str,
    pub style: &'a str,
    /// Markup of ours, in which everything else is escaped.
    pub body: &'a str,
    /// What the script reads: JSON.
    pub data: Option<&'a str>,
    pub script: Option<&'a str>,
}

impl Page<'_> {
    pub(crate) fn text(&self) -> String {
        let mut out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n".to_owned();
        let script = self.script.map(|script| format!(" script-src '{}';", hash(script))).unwrap_or_default();
        let _ = writeln!(
            out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}';{script} base-uri 'none'; form-action 'none'\">",
            hash(self.style),
        );
        out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n");
        let title = escape(&clean(self.title));
        let _ = writeln!(out, "<title>{title} · coldstart</title>\n<style>{}</style>\n</head>\n<body>", self.style);
        out.push_str(self.body);
        if let Some(data) = self.data {
            // No text ends the script that holds it, and none begins a comment.
            let json = clean_json(data.to_owned()).replace('<', "\\u003c").replace('>', "\\u003e");
            let _ = writeln!(out, "<script type=\"application/json\" id=\"data\">{json}</script>");
        }
        if let Some(script) = self.script {
            let _ = writeln!(out, "<script>{script}</script>");
        }
        out.push_str("</body>\n</html>\n");
        out
    }
}

/// Text between tags.
pub(crate) fn text(text: &str) -> String {
    escape(&clean(text))
}

/// Words that may hold `code`.
pub(crate) fn words(words: &str) -> String {
    // An odd tick quotes nothing.
    if !words.matches('`').count().is_multiple_of(2) {
        return text(words);
    }
    let parts = words.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("<code>{}</code>", text(part)) } else { text(part) }).collect()
}

/// What a policy allows by: the SHA-256 of the text, in Base64.
fn hash(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let mut out = "sha256-".to_owned();
    for three in digest.chunks(3) {
        let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for letter in 0..4 {
            let value = (bits >> (18 - 6 * letter)) & 63;
            out.push(if letter > three.len() { '=' } else { char::from(LETTERS[value as usize]) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Page, hash, words};

    #[test]
    fn a_policy_allows_by_the_usual_digest() {
        assert_eq!(hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn a_page_without_a_script_allows_none() {
        let page = Page { title: "</title>", ..Page::default() }.text();
        assert!(page.contains("default-src 'none'") && !page.contains("script-src"), "{page}");
        assert!(page.contains("<title>&lt;/title&gt; · coldstart</title>"), "{page}");
    }

    #[test]
    fn words_are_text_whatever_they_say() {
        assert_eq!(words("`a<b>` needs <img>"), "<code>a&lt;b&gt;</code> needs &lt;img&gt;");
        assert_eq!(words("odd ` tick"), "odd ` tick");
    }
}
