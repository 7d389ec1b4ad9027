//! What people read is plain English: the words that CONTRIBUTING.md avoids are in no sentence, help text, error, manual page
//! of a rule or document. It knows words, not grammar.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, LitStr, Meta};

/// Where the words are listed.
const LIST: &str = "CONTRIBUTING.md";
/// The head of their table.
const HEAD: &str = "| avoid | write |";
/// Crates whose texts are all for people.
const SPEAKING: [&str; 2] = ["crates/draw/src", "crates/coldstart/src"];
/// Crates that are not shipped.
const WORKBENCH: [&str; 3] = ["crates/fixtures", "crates/lab", "crates/trial"];
/// Records of what was decided, judged or changed, in the words of their day.
const RECORDS: [&str; 3] = ["docs/adr/", "docs/precision", "docs/evaluation.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the workspace").to_path_buf()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files below a directory with this ending, sorted.
fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .flat_map(|path| if path.is_dir() { files(&path, ending) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .collect();
    found.sort();
    found
}

/// The first column of the table.
fn avoided() -> Vec<String> {
    let list = read(&root().join(LIST));
    let rows = list.lines().skip_while(|line| *line != HEAD).skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    cells.flat_map(|cell| cell.split(',')).map(|word| word.trim().to_owned()).collect()
}

/// The avoided words of a text, as whole words and outside of `code`.
fn found<'a>(text: &str, avoided: &'a [String]) -> Vec<&'a str> {
    let words = plain(text);
    let padded = format!(" {} ", words.join(" "));
    avoided.iter().map(String::as_str).filter(|word| padded.contains(&format!(" {word} "))).collect()
}

/// Words in small letters, without what stands in backticks.
fn plain(text: &str) -> Vec<String> {
    let outside: Vec<&str> = text.split('`').step_by(2).collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '\'' || c == '-';
    let joined = outside.join(" . ");
    joined.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// What a source file says to people.
#[derive(Default)]
struct Said {
    texts: Vec<(usize, String)>,
    /// All texts count, not only errors and help.
    speaks: bool,
}

impl Said {
    fn literals(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.literals(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<LitStr>(&literal.to_string()) {
                        self.texts.push((literal.span().start().line, text.value()));
                    }
                }
                _ => {}
            }
        }
    }

    fn documents(&mut self, attributes: &[Attribute]) {
        let docs = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
        for attribute in docs {
            if let Meta::NameValue(pair) = &attribute.meta {
                self.literals(quote_value(&pair.value));
            }
        }
    }
}

fn quote_value(value: &syn::Expr) -> TokenStream {
    match value {
        syn::Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Str(text) => TokenStream::from(TokenTree::Literal(text.token())),
            _ => TokenStream::new(),
        },
        _ => TokenStream::new(),
    }
}

/// Whether clap makes help of the comments of an item.
fn is_help(attributes: &[Attribute]) -> bool {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let clap = ["Args", "Parser", "Subcommand", "ValueEnum"];
    derives.into_iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => {
            list.tokens.clone().into_iter().any(|token| clap.iter().any(|name| token.to_string() == *name))
        }
        _ => false,
    })
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => attribute.path().is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

impl<'ast> Visit<'ast> for Said {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(module) => &module.attrs,
            Item::Struct(it) => &it.attrs,
            Item::Enum(it) => &it.attrs,
            _ => return visit::visit_item(self, item),
        };
        if is_test(attributes) {
            return;
        }
        if is_help(attributes) {
            self.documents(attributes);
            match item {
                Item::Struct(it) => it.fields.iter().for_each(|field| self.documents(&field.attrs)),
                Item::Enum(it) => {
                    for variant in &it.variants {
                        self.documents(&variant.attrs);
                        variant.fields.iter().for_each(|field| self.documents(&field.attrs));
                    }
                }
                _ => {}
            }
        }
        visit::visit_item(self, item);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let (true, Meta::List(list)) = (attribute.path().is_ident("error"), &attribute.meta) {
            self.literals(list.tokens.clone());
        }
    }

    fn visit_lit_str(&mut self, text: &'ast LitStr) {
        if self.speaks {
            self.texts.push((text.span().start().line, text.value()));
        }
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        if self.speaks {
            self.literals(it.tokens.clone());
        }
    }
}

/// Everything that a source file says to people, with its lines.
fn said(path: &Path, speaks: bool) -> Vec<(usize, String)> {
    let text = read(path);
    let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let is_rule = path.components().any(|part| part.as_os_str() == "rules");
    let mut said = Said { speaks: speaks || is_rule, ..Said::default() };
    if is_rule {
        said.documents(&file.attrs);
    }
    said.visit_file(&file);
    said.texts
}

#[test]
fn the_list_has_words() {
    let avoided = avoided();
    assert!(avoided.len() > 20 && avoided.contains(&"nobody".to_owned()), "{avoided:?}");
    assert!(avoided.iter().all(|word| !word.is_empty() && *word == word.to_lowercase()), "{avoided:?}");
}

#[test]
fn words_are_found_whole_and_outside_of_code() {
    let avoided = ["nobody".to_owned(), "for ever".to_owned()];
    assert_eq!(found("Nobody waits", &avoided), ["nobody"]);
    assert_eq!(found("waits for\never.", &avoided), ["for ever"]);
    assert!(found("waits for `nobody`, for every one", &avoided).is_empty());
    assert!(found("a `nobody`s-secret", &avoided).is_empty());
}

#[test]
fn sources_speak_plainly() {
    let (avoided, root) = (avoided(), root());
    let mut wrong = Vec::new();
    for path in files(&root.join("crates"), "rs") {
        let name = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
        if !name.contains("/src/") || WORKBENCH.iter().any(|crate_| name.starts_with(crate_)) {
            continue;
        }
        let speaks = SPEAKING.iter().any(|crate_| name.starts_with(crate_));
        for (line, text) in said(&path, speaks) {
            wrong.extend(found(&text, &avoided).into_iter().map(|word| format!("{name}:{line}: {word}: {text}")));
        }
    }
    assert!(wrong.is_empty(), "see the words in {LIST}:\n{}", wrong.join("\n"));
}

#[test]
fn documents_speak_plainly() {
    let (avoided, root) = (avoided(), root());
    let mut pages = vec![root.join("README.md")];
    pages.extend(files(&root.join("docs"), "md"));
    pages.extend(files(&root.join("examples"), "md"));
    let mut wrong = Vec::new();
    for path in pages {
        let name = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
        if RECORDS.iter().any(|record| name.starts_with(record)) {
            continue;
        }
        // A phrase may stand across the end of a line, so paragraphs are looked at as a whole.
        for paragraph in read(&path).split("\n\n") {
            let words = found(paragraph, &avoided).into_iter();
            wrong.extend(words.map(|word| format!("{name}: {word}: {}", paragraph.trim().replace('\n', " "))));
        }
    }
    assert!(wrong.is_empty(), "see the words in {LIST}:\n{}", wrong.join("\n"));
}
