//! The document as a page to read and to print. It is the Markdown, read by its own grammar, with pictures in place of flowcharts.

use std::fmt::Write as _;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use report::{Document, Section};
use source::Sources;

use super::markdown::chapter;
use super::sections::{FOLD, FOLD_END, FOLD_TITLE_END};
use crate::clean::clean;
use crate::html::{DOCUMENT_STYLE, Page, text};
use crate::picture::{self, Picture};

/// What a document shows in place of its flowcharts.
#[derive(Clone, Debug, Default)]
pub struct Pictures {
    pub now: Picture,
    /// With the changes that the document proposes.
    pub after: Option<Picture>,
}

/// The documents of all clusters, one after the other, each with its pictures.
pub fn html(documents: &[Document<'_>], pictures: &[Pictures], sources: &dyn Sources) -> String {
    let mut body = "<main>\n".to_owned();
    let mut drawn = 0;
    for (number, document) in documents.iter().enumerate() {
        one(&mut body, document, pictures.get(number), (number, &mut drawn), sources);
    }
    body.push_str("</main>\n");
    let title = documents.first().map_or("", |document| document.cluster.name.as_str());
    let title = format!("Cold start of {}", clean(title));
    let style = format!("{}{DOCUMENT_STYLE}", picture::STYLE);
    Page { title: &title, style: &style, body: &body, ..Page::default() }.text()
}

fn one(
    out: &mut String,
    document: &Document<'_>,
    pictures: Option<&Pictures>,
    (number, drawn): (usize, &mut usize),
    sources: &dyn Sources,
) {
    let _ = writeln!(
        out,
        "<h1>Cold start of {}</h1>\n<p class=\"dim\">Written by <code>coldstart report</code> from the files of the repository. Times are estimates.</p>",
        text(&document.cluster.name)
    );
    let chapters: Vec<(&Section<'_>, &str, String)> = document
        .sections
        .iter()
        .map(|section| {
            let (title, text) = chapter(section, document.cluster, sources);
            (section, title, text)
        })
        .collect();
    out.push_str("<nav class=\"contents\" aria-label=\"Contents\"><ol>\n");
    for (at, (_, title, _)) in chapters.iter().enumerate() {
        let _ = writeln!(out, "<li><a href=\"#part-{number}-{at}\">{}</a></li>", text(title));
    }
    out.push_str("</ol></nav>\n");
    for (at, (section, title, markdown)) in chapters.iter().enumerate() {
        let _ = writeln!(out, "<section>\n<h2 id=\"part-{number}-{at}\">{}</h2>", text(title));
        let shown = match section {
            Section::Tree(_) => pictures.map(|pictures| &pictures.now),
            Section::After(_) => pictures.and_then(|pictures| pictures.after.as_ref()),
            _ => None,
        };
        match shown.filter(|picture| !picture.boxes.is_empty()) {
            Some(picture) => {
                let _ = writeln!(out, "<figure>\n{}</figure>", picture::drawn(picture, *drawn));
                *drawn += 1;
            }
            None => rendered(out, markdown),
        }
        out.push_str("</section>\n");
    }
}

/// Markdown of ours as markup. What is no Markdown of ours is text.
fn rendered(out: &mut String, markdown: &str) {
    let mut writer = Writer { out, in_head: false };
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        writer.write(event);
    }
}

struct Writer<'o> {
    out: &'o mut String,
    in_head: bool,
}

impl Writer<'_> {
    fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(it) => self.out.push_str(&text_of(&it)),
            Event::Code(it) => drop(write!(self.out, "<code>{}</code>", text(&it))),
            Event::Html(it) | Event::InlineHtml(it) => self.fold(&it),
            Event::SoftBreak => self.out.push(' '),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::InlineMath(it) | Event::DisplayMath(it) | Event::FootnoteReference(it) => {
                self.out.push_str(&text(&it));
            }
            Event::TaskListMarker(_) => {}
        }
    }

    /// The one kind of markup that the document has beside Markdown; any other is shown and not followed.
    fn fold(&mut self, html: &str) {
        let line = html.trim_end();
        let title = line.strip_prefix(FOLD).and_then(|rest| rest.strip_suffix(FOLD_TITLE_END));
        match title {
            Some(title) => drop(writeln!(self.out, "<details><summary>{}</summary>", text(title))),
            None if line == FOLD_END => self.out.push_str("</details>\n"),
            None => self.out.push_str(&text(line)),
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let opened = match tag {
            Tag::Paragraph => "<p>",
            Tag::Heading { level, .. } => match level {
                HeadingLevel::H1 | HeadingLevel::H2 => "<h2>",
                _ => "<h3>",
            },
            Tag::CodeBlock(_) => "<pre tabindex=\"0\"><code>",
            Tag::List(None) => "<ul>\n",
            Tag::List(Some(_)) => "<ol>\n",
            Tag::Item => "<li>",
            Tag::Table(_) => "<div class=\"table\"><table>\n",
            Tag::TableHead => {
                self.in_head = true;
                "<thead><tr>"
            }
            Tag::TableRow => "<tr>",
            Tag::TableCell if self.in_head => "<th scope=\"col\">",
            Tag::TableCell => "<td>",
            Tag::Emphasis => "<em>",
            Tag::Strong => "<strong>",
            // Nothing of ours is a link or a picture from elsewhere: their texts stay.
            _ => "",
        };
        self.out.push_str(opened);
    }

    fn end(&mut self, tag: TagEnd) {
        let closed = match tag {
            TagEnd::Paragraph => "</p>\n",
            TagEnd::Heading(HeadingLevel::H1 | HeadingLevel::H2) => "</h2>\n",
            TagEnd::Heading(_) => "</h3>\n",
            TagEnd::CodeBlock => "</code></pre>\n",
            TagEnd::List(true) => "</ol>\n",
            TagEnd::List(false) => "</ul>\n",
            TagEnd::Item => "</li>\n",
            TagEnd::Table => "</tbody></table></div>\n",
            TagEnd::TableHead => {
                self.in_head = false;
                "</tr></thead>\n<tbody>\n"
            }
            TagEnd::TableRow => "</tr>\n",
            TagEnd::TableCell if self.in_head => "</th>",
            TagEnd::TableCell => "</td>",
            TagEnd::Emphasis => "</em>",
            TagEnd::Strong => "</strong>",
            _ => "",
        };
        self.out.push_str(closed);
    }
}

/// Text with its line ends.
fn text_of(it: &CowStr<'_>) -> String {
    it.split('\n').map(text).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::rendered;

    fn html(markdown: &str) -> String {
        let mut out = String::new();
        rendered(&mut out, markdown);
        out
    }

    #[test]
    fn only_markup_of_ours_is_followed() {
        let hostile =
            "<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1)) ![y](https://x.example/y.png) <b>z</b>\n";
        let html = html(hostile);
        assert!(!html.contains("<img") && !html.contains("<a") && !html.contains("<b>"), "{html}");
        assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"), "{html}");
    }

    #[test]
    fn folds_tables_and_code_are_kept() {
        let markdown = "| a | b |\n|---|---|\n| `x|y` | \\*z |\n\n<details><summary>change 1</summary>\n\n```diff\n+<a>\n-b\n```\n\n</details>\n";
        assert_eq!(
            html(&markdown.replace("x|y", "x\\|y")),
            "<div class=\"table\"><table>\n<thead><tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr></thead>\n<tbody>\n<tr><td><code>x|y</code></td><td>*z</td></tr>\n</tbody></table></div>\n<details><summary>change 1</summary>\n<pre tabindex=\"0\"><code>+&lt;a&gt;\n-b\n</code></pre>\n</details>\n"
        );
    }
}
