//! No product crate looks into text that we wrote: what one part knows, another gets as a type.
//!
//! Found are searches and comparisons whose receiver is named like prose, or whose words stand in another text of ours; the
//! names of rules outside of their rule; and the old names of what the bootstrap installs, compared as texts. It reads
//! source, not types: what is named otherwise gets past it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, ExprBinary, ExprMatch, ExprMethodCall, LitStr, Pat, Token};

/// Crates that ship to nobody.
const WORKBENCH: [&str; 3] = ["fixtures", "lab", "trial"];

/// Methods that look into a text.
const SEARCHES: [&str; 15] = [
    "contains",
    "ends_with",
    "eq",
    "find",
    "matches",
    "replace",
    "rfind",
    "rsplit_once",
    "split",
    "split_once",
    "splitn",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "trim_end_matches",
];

/// What holds a text for people, by its name.
const PROSE: [&str; 18] = [
    "cost",
    "explanation",
    "fix",
    "label",
    "labels",
    "message",
    "messages",
    "note",
    "notes",
    "prose",
    "reason",
    "reasons",
    "says",
    "sentence",
    "title",
    "what",
    "why",
    "wording",
];

/// Methods that give the same text, or its parts, once more.
const SAME: [&str; 15] = [
    "as_deref",
    "as_ref",
    "as_str",
    "borrow",
    "clone",
    "deref",
    "expect",
    "iter",
    "lines",
    "to_lowercase",
    "to_owned",
    "to_string",
    "trim",
    "unwrap",
    "unwrap_or_default",
];

/// Names that once were a protocol between crates.
const PROTOCOL: [&str; 5] = ["Bootstrap", "HelmfileCRDs", "HelmfileRelease", "sealing key", " resources"];

/// What is found and stays, by the end of the file's path and a part of what is found there, and why.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("read/src/terraform/faults/not_pushed.rs", "git push", "a command in a script of the repository"),
    ("read/src/terraform/faults/not_pushed.rs", "git commit", "a command in a script of the repository"),
    ("health/src/detect/gitops.rs", "`reason`", "a field of a Kubernetes object, written by its controller"),
    ("health/src/detect/network.rs", "`message`", "a field of a Kubernetes object, written by its controller"),
    ("health/src/detect/nodes.rs", "`message`", "a field of a Kubernetes object, written by its controller"),
    ("health/src/detect/pods.rs", "`reason`", "a field of a Kubernetes object, written by its controller"),
    ("health/src/detect/pods.rs", "`message`", "a field of a Kubernetes object, written by its controller"),
    ("health/src/detect/secrets.rs", "`message`", "a field of a Kubernetes object, written by its controller"),
    ("health/src/kstatus.rs", "`reason`", "a field of a Kubernetes object, written by its controller"),
    ("health/src/message.rs", "`message`", "a field of a Kubernetes object, written by its controller"),
    ("health/src/view.rs", "`reasons`", "a field of a Kubernetes object, written by its controller"),
    (
        "health/src/detect/network.rs",
        "cni plugin",
        "what a controller of the cluster says, which a cause is recognised by",
    ),
    (
        "health/src/detect/nodes.rs",
        "cni plugin",
        "what a controller of the cluster says, which a cause is recognised by",
    ),
    (
        "health/src/detect/pods.rs",
        "cni plugin",
        "what a controller of the cluster says, which a cause is recognised by",
    ),
    (
        "health/src/detect/secrets.rs",
        "no key could decrypt",
        "what a controller of the cluster says, which a cause is recognised by",
    ),
    (
        "health/src/detect/secrets.rs",
        "Vault is sealed",
        "what a controller of the cluster says, which a cause is recognised by",
    ),
    ("health/src/message.rs", " not found", "what a controller of the cluster says, which a cause is recognised by"),
    ("read/src/boot/shown.rs", "kubectl get node", "a command in a script of the repository"),
    ("read/src/flux/told.rs", "flux bootstrap", "a command in a script of the repository"),
    ("read/src/scripts/bootstrap_parts.rs", "flux bootstrap", "a command in a script of the repository"),
    ("read/src/terraform/faults/not_pushed.rs", "git add ", "a command in a script of the repository"),
    ("terraform/repeated.rs", "`message`", "what the parser of HCL says, which has no kinds of faults"),
    ("draw/src/explain.rs", "`title`", "a manual is Markdown, and the marks of its headings are part of that format"),
    ("helm/src/lib.rs", "`reason`", "what helm said, from which the path of a temporary directory is taken"),
    ("model/src/verdict.rs", "bootstrap-only", "the word of the verdict, which the rule is named after"),
    ("seal/src/key/adopt.rs", "PRIVATE KEY", "the mark of a PEM block in somebody's file"),
    ("seal/certificate.rs", "PRIVATE KEY", "the mark of a PEM block in somebody's file"),
];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    file: String,
    line: usize,
    what: String,
}

/// The texts that constants stand for, by their names.
#[derive(Default)]
struct Constants {
    texts: BTreeMap<String, String>,
}

impl<'ast> Visit<'ast> for Constants {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        if let Some(literal) = literal(&item.expr) {
            self.texts.insert(item.ident.to_string(), literal.value());
        }
    }
}

/// Everything that is wrong with some files.
fn search(files: &BTreeMap<String, String>, rules: &BTreeSet<String>) -> Vec<Found> {
    let parsed: Vec<(&String, syn::File)> = files
        .iter()
        .map(|(path, text)| (path, syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"))))
        .collect();
    let (mut texts, mut constants) = (Vec::new(), Constants::default());
    for (_, file) in &parsed {
        constants.visit_file(file);
        let mut literals = Literals::default();
        literals.visit_file(file);
        texts.extend(literals.found.into_iter().map(|literal| literal.value()));
    }
    let mut found = Vec::new();
    let homes = homes(&parsed, rules);
    for (path, file) in &parsed {
        let mut looking =
            Looking { path, texts: &texts, constants: &constants.texts, rules, homes: &homes, found: &mut found };
        looking.visit_file(file);
    }
    found.sort();
    found.dedup();
    found
}

/// The file of each rule: the one in a directory of rules that is named like it, or else the only one there that names it.
fn homes(parsed: &[(&String, syn::File)], rules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut naming: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, file) in parsed.iter().filter(|(path, _)| path.contains("/rules/") && !path.ends_with("/mod.rs")) {
        let mut literals = Literals::default();
        literals.visit_file(file);
        let named: BTreeSet<String> =
            literals.found.iter().map(LitStr::value).filter(|it| rules.contains(it)).collect();
        for rule in named {
            naming.entry(rule).or_default().push((*path).clone());
        }
    }
    naming.retain(|rule, files| {
        let own = format!("/rules/{}.rs", rule.replace('-', "_"));
        if files.iter().any(|file| file.ends_with(&own)) {
            files.retain(|file| file.ends_with(&own));
        }
        files.len() == 1
    });
    naming.into_iter().map(|(rule, files)| (rule, files.concat())).collect()
}

/// Whether an item is only there for tests.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let tokens = match &attribute.meta {
            syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string(),
            syn::Meta::Path(path) if path.is_ident("test") => "test".to_owned(),
            _ => String::new(),
        };
        tokens == "test"
    })
}

/// All texts in the code: not those of attributes and comments, nor what a search looks for.
#[derive(Default)]
struct Literals {
    found: Vec<LitStr>,
}

impl<'ast> Visit<'ast> for Literals {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        self.found.push(literal.clone());
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.visit_expr(&call.receiver);
        let is_search = SEARCHES.contains(&call.method.to_string().as_str());
        let rest =
            call.args.iter().skip(usize::from(is_search && call.args.first().is_some_and(|it| literal(it).is_some())));
        rest.for_each(|argument| self.visit_expr(argument));
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        literals_of(item.tokens.clone(), &mut self.found);
    }
}

fn literals_of(tokens: TokenStream, found: &mut Vec<LitStr>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => literals_of(group.stream(), found),
            TokenTree::Literal(literal) => found.extend(
                syn::parse_str::<LitStr>(&literal.to_string()).map(|text| LitStr::new(&text.value(), literal.span())),
            ),
            _ => {}
        }
    }
}

/// The walk through one file.
struct Looking<'a> {
    path: &'a str,
    texts: &'a [String],
    constants: &'a BTreeMap<String, String>,
    rules: &'a BTreeSet<String>,
    homes: &'a BTreeMap<String, String>,
    found: &'a mut Vec<Found>,
}

impl Looking<'_> {
    fn add(&mut self, span: proc_macro2::Span, what: String) {
        self.found.push(Found { file: self.path.to_owned(), line: span.start().line, what });
    }

    /// A text that something is compared with or searched for.
    fn sought(&mut self, literal: &LitStr) {
        let sought = literal.value();
        if PROTOCOL.contains(&sought.as_str()) || sought.contains("next: ") {
            self.add(literal.span(), format!("compares with {sought:?}, a name that is a type's business"));
        }
        let others = self.texts.iter().filter(|text| **text != sought && text.contains(&sought)).count();
        if has_two_words(&sought) && others > 0 {
            self.add(literal.span(), format!("looks for {sought:?}, which stands in a text of ours"));
        }
    }

    /// The text that an expression is: a literal, or a constant of ours.
    fn text(&self, expression: &Expr) -> Option<LitStr> {
        if let Some(literal) = literal(expression) {
            return Some(literal.clone());
        }
        let Expr::Path(path) = peeled(expression) else { return None };
        let text = self.constants.get(&path.path.segments.last()?.ident.to_string())?;
        Some(LitStr::new(text, expression.span()))
    }

    fn prose(&mut self, receiver: &Expr, how: &str) {
        if let Some(name) = name_of(receiver).filter(|name| PROSE.contains(&name.as_str())) {
            self.add(receiver.span(), format!("looks into `{name}` with `{how}`"));
        }
    }
}

impl<'ast> Visit<'ast> for Looking<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_fn(self, item);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let method = call.method.to_string();
        if SEARCHES.contains(&method.as_str()) {
            let text = call.args.first().and_then(|argument| self.text(argument));
            if let Some(text) = &text {
                self.sought(text);
            }
            // What an iterator finds, or a list contains, is no text.
            let is_typed = call.args.first().is_none_or(|argument| is_typed(argument, &method));
            let is_text = text.is_some() || !is_typed;
            if is_text {
                self.prose(&call.receiver, &method);
            }
        }
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        if matches!(binary.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_)) {
            for (one, other) in [(&binary.left, &binary.right), (&binary.right, &binary.left)] {
                if let Some(text) = self.text(one).filter(|text| !text.value().is_empty()) {
                    self.sought(&text);
                    self.prose(other, "==");
                }
            }
        }
        syn::visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_match(&mut self, item: &'ast ExprMatch) {
        let mut literals = Literals::default();
        item.arms.iter().for_each(|arm| literals.visit_pat(&arm.pat));
        if !literals.found.is_empty() {
            self.prose(&item.expr, "match");
        }
        syn::visit::visit_expr_match(self, item);
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        if let Pat::Lit(lit) = pattern
            && let syn::Lit::Str(literal) = &lit.lit
        {
            self.sought(literal);
        }
        syn::visit::visit_pat(self, pattern);
    }

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        let rule = literal.value();
        if self.rules.contains(&rule) && self.homes.get(&rule).is_none_or(|home| home != self.path) {
            self.add(literal.span(), format!("names the rule {rule:?} outside of it"));
        }
    }

    /// What a macro is given is no syntax yet: mostly it is a list of expressions.
    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        let mut literals = Vec::new();
        literals_of(item.tokens.clone(), &mut literals);
        if item.path.is_ident("matches") {
            for literal in &literals {
                self.sought(literal);
            }
        }
        match item.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
            Ok(expressions) => expressions.iter().for_each(|expression| self.visit_expr(expression)),
            Err(_) => literals.iter().for_each(|literal| self.visit_lit_str(literal)),
        }
    }
}

fn peeled(expression: &Expr) -> &Expr {
    match expression {
        Expr::Reference(inner) => peeled(&inner.expr),
        Expr::Paren(inner) => peeled(&inner.expr),
        Expr::Unary(inner) => peeled(&inner.expr),
        Expr::Try(inner) => peeled(&inner.expr),
        other => other,
    }
}

/// The closure of an iterator, or a value that is written as one of a type: `Note::Early`.
fn is_typed(expression: &Expr, method: &str) -> bool {
    match peeled(expression) {
        Expr::Closure(_) => method == "find",
        Expr::Struct(_) => true,
        Expr::Path(path) => path.path.segments.len() > 1,
        _ => false,
    }
}

fn literal(expression: &Expr) -> Option<&LitStr> {
    match peeled(expression) {
        Expr::Lit(lit) => match &lit.lit {
            syn::Lit::Str(literal) => Some(literal),
            _ => None,
        },
        Expr::Call(call) if call.args.len() == 1 => literal(&call.args[0]),
        _ => None,
    }
}

/// What the value of an expression is called: its field, its method or its variable.
fn name_of(expression: &Expr) -> Option<String> {
    match peeled(expression) {
        Expr::Field(field) => match &field.member {
            syn::Member::Named(name) => Some(name.to_string()),
            syn::Member::Unnamed(_) => None,
        },
        Expr::MethodCall(call) if SAME.contains(&call.method.to_string().as_str()) => name_of(&call.receiver),
        Expr::MethodCall(call) => Some(call.method.to_string()),
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        Expr::Index(index) => name_of(&index.expr),
        _ => None,
    }
}

/// Letters, a space, letters.
fn has_two_words(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.windows(3).any(|it| it[0].is_ascii_alphabetic() && it[1] == b' ' && it[2].is_ascii_alphabetic())
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")
}

/// The sources of the product, by their paths below `crates/`.
fn sources() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(crates()).expect("the crates") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if !WORKBENCH.contains(&name.as_str()) {
            gather(&path.join("src"), &mut files);
        }
    }
    files
}

fn gather(directory: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).expect("a directory of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let is_test = name == "tests" || name == "tests.rs" || name.ends_with("_tests.rs");
        if is_test {
            continue;
        }
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let below = path.strip_prefix(crates()).expect("a path below the crates").display().to_string();
            files.insert(below, fs::read_to_string(&path).expect("a source"));
        }
    }
}

fn rules() -> BTreeSet<String> {
    let pages = fs::read_dir(crates().join("../docs/rules")).expect("the pages of the rules");
    let names = pages.map(|page| page.expect("a page").file_name().to_string_lossy().into_owned());
    names.filter_map(|name| name.strip_suffix(".md").map(str::to_owned)).filter(|name| name != "index").collect()
}

fn is_allowed(found: &Found, (file, what, _): &(&str, &str, &str)) -> bool {
    found.file.ends_with(file) && found.what.contains(what)
}

#[test]
fn no_product_crate_looks_into_our_own_words() {
    let (files, rules) = (sources(), rules());
    assert!(files.len() > 100 && rules.len() > 20, "only {} sources and {} rules", files.len(), rules.len());
    let found = search(&files, &rules);
    let unused: Vec<_> = ALLOWED.iter().filter(|allowed| !found.iter().any(|it| is_allowed(it, allowed))).collect();
    assert!(unused.is_empty(), "allowed, and not found any more: {unused:?}");
    let left: Vec<String> = found
        .iter()
        .filter(|it| !ALLOWED.iter().any(|allowed| is_allowed(it, allowed)))
        .map(|Found { file, line, what }| format!("crates/{file}:{line}: {what}"))
        .collect();
    assert!(left.is_empty(), "{} places look into our own words:\n{}", left.len(), left.join("\n"));
}

/// What is found in one file of this text, beside a text of ours.
fn found_in(text: &str) -> Vec<String> {
    let ours = r#"fn say() -> String { format!("comes from a chart that is not here {}", 1) }"#;
    let other = r#"const ID: &str = "other-rule";"#;
    let files =
        [("draw/src/say.rs", ours), ("check/src/rules/other_rule.rs", other), ("check/src/rules/own_rule.rs", text)];
    let files = files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
    let rules = BTreeSet::from(["own-rule".to_owned(), "other-rule".to_owned()]);
    search(&files, &rules).into_iter().map(|found| format!("{}: {}", found.line, found.what)).collect()
}

#[test]
fn searches_in_prose_are_found() {
    for (code, what) in [
        ("fn f(spot: &Spot) -> bool { spot.why.contains(x) }", "1: looks into `why` with `contains`"),
        (
            "fn f(notes: &[String]) { notes.iter().any(|note| note.starts_with(x)); }",
            "1: looks into `note` with `starts_with`",
        ),
        ("fn f(it: &It) { it.message().as_str().split_once(' '); }", "1: looks into `message` with `split_once`"),
        ("fn f(cost: &str) -> bool { \"none\" == cost }", "1: looks into `cost` with `==`"),
        ("fn f(it: &It) { match it.label.as_str() { \"a\" => {} _ => {} } }", "1: looks into `label` with `match`"),
        ("fn f(it: &It) { assert!(\n!it.fix.contains('x')); }", "2: looks into `fix` with `contains`"),
        (
            "fn f(x: &str) -> bool { x.contains(\"from a chart\") }",
            "1: looks for \"from a chart\", which stands in a text of ours",
        ),
        ("fn f(x: &str) -> bool { x == \"a chart\" }", "1: looks for \"a chart\", which stands in a text of ours"),
        (
            "fn f(x: &str) -> bool { matches!(x, \"that is not\" | \"b\") }",
            "1: looks for \"that is not\", which stands in a text of ours",
        ),
        ("fn f(x: &str) -> bool { x == \"other-rule\" }", "1: names the rule \"other-rule\" outside of it"),
        ("const X: &[&str] = &[\"other-rule\"];", "1: names the rule \"other-rule\" outside of it"),
        (
            "fn f(x: &str) -> bool { x == \"HelmfileCRDs\" }",
            "1: compares with \"HelmfileCRDs\", a name that is a type's business",
        ),
        (
            "const MARK: &str = \"\\n  next: \";\nfn f(x: &str) -> bool { x.contains(super::MARK) }",
            "2: compares with \"\\n  next: \", a name that is a type's business",
        ),
        ("fn f(it: &It) { it.what.split(|c: char| c == ' '); }", "1: looks into `what` with `split`"),
        (
            "fn f(x: &str) { match x { \"Bootstrap\" => {} _ => {} } }",
            "1: compares with \"Bootstrap\", a name that is a type's business",
        ),
    ] {
        assert_eq!(found_in(code), [what], "{code}");
    }
}

#[test]
fn what_comes_from_outside_and_what_is_a_type_is_left_alone() {
    for code in [
        "fn f(text: &str) -> bool { text.contains(\"kind: Secret\") }",
        "fn f(line: &str) -> bool { line.starts_with(\"helm upgrade\") }",
        "fn f(why: Why) -> bool { why == Why::Network }",
        "fn f(it: &It) -> bool { it.notes.contains(&Note::Early) }",
        "const ID: &str = \"own-rule\";",
        "#[cfg(test)] mod tests { fn f(why: &str) -> bool { why.contains(\"from a chart\") } }",
    ] {
        assert_eq!(found_in(code), Vec::<String>::new(), "{code}");
    }
}
