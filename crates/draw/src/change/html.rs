//! A page to read: figures, the changed part as a picture, and the lists. It has no script.

use std::fmt::Write as _;

use model::{ObjectRef, say_seconds};

use super::{Change, News, OrderChange, Told, part};
use crate::html::{DOCUMENT_STYLE, Page, text, words};
use crate::picture::{self, Tone};
use crate::say::change as say;
use crate::words::count;

/// Arrows of a picture.
const ARROWS_MAX: usize = 120;

/// All clusters of which something changes. `revisions` are those that are compared, as they were asked for.
pub fn html(changes: &[Change<'_>], revisions: &str) -> String {
    let told: Vec<&Change<'_>> = changes.iter().filter(|change| !change.is_empty()).collect();
    let mut body = format!("<main>\n<h1>What {} does to the order</h1>\n", text(revisions));
    if told.is_empty() {
        let _ = writeln!(body, "<p>{}</p>", say::NOTHING);
    }
    for (number, change) in told.iter().enumerate() {
        cluster(&mut body, change, number);
    }
    body.push_str("</main>\n");
    let style = format!("{}{DOCUMENT_STYLE}", picture::STYLE);
    Page { title: revisions, style: &style, body: &body, ..Page::default() }.text()
}

fn cluster(out: &mut String, change: &Change<'_>, number: usize) {
    let _ = writeln!(out, "<h2>{}</h2>\n<p>{}</p>", text(&change.name), text(&say::headline(change)));
    for (says, objects) in [("Touches critical services", &change.critical), ("Never comes up now", &change.stuck)] {
        if !objects.is_empty() {
            let _ = writeln!(out, "<p class=\"alarm\"><strong>{says}</strong>: {}</p>", names(objects));
        }
    }
    let (before, after) = change.figures();
    let figure = |(what, then, now, difference): (&str, String, String, String)| {
        format!(
            "<td>{what}</td><td class=\"number\">{then}</td><td class=\"number\">{now}</td><td class=\"number\">{difference}</td>"
        )
    };
    table(out, "table figures", &["", "before", "after", ""], say::figures(before, after).into_iter().map(figure));
    let picture = part::picture(change, ARROWS_MAX);
    if !picture.boxes.is_empty() {
        let _ = writeln!(out, "<figure>\n{}</figure>", picture::drawn(&picture, number));
    }
    if !change.orders.is_empty() {
        let _ = writeln!(out, "<h3>{}</h3>", count(change.orders.len(), "order"));
        table(out, "table", &["first", "then", "before", "after", ""], change.orders.iter().map(order));
    }
    for (title, findings) in [("New findings", &change.new_findings), ("Findings that go", &change.gone_findings)] {
        if !findings.is_empty() {
            let _ = writeln!(out, "<h3>{title}</h3>");
            table(out, "table", &["", "what", "where"], findings.iter().map(finding));
        }
    }
    if !change.moved.is_empty() {
        out.push_str("<h3>Ready at another time</h3>\n");
        table(out, "table", &["component", "before", "after", ""], change.moved.iter().map(moved));
    }
    let lists = say::lists(change);
    if !lists.is_empty() {
        out.push_str("<h3>Components</h3>\n<ul>\n");
        for (title, objects) in lists {
            let _ = writeln!(out, "<li>{title}: {}</li>", names(objects));
        }
        out.push_str("</ul>\n");
    }
}

fn table(out: &mut String, class: &str, columns: &[&str], rows: impl Iterator<Item = String>) {
    let _ = writeln!(out, "<div class=\"{class}\"><table>\n<thead><tr>");
    for column in columns {
        let _ = write!(out, "<th scope=\"col\">{column}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        let _ = writeln!(out, "<tr>{row}</tr>");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn names(objects: &[ObjectRef]) -> String {
    objects.iter().map(|object| format!("<code>{}</code>", text(&object.path()))).collect::<Vec<_>>().join(", ")
}

fn name(object: &ObjectRef) -> String {
    format!("<code>{}</code>", text(&object.to_string()))
}

fn order(it: &OrderChange) -> String {
    let tone = |tone: Option<Tone>| match tone {
        None => "<span class=\"dim\">none</span>".to_owned(),
        Some(tone) => format!("<span class=\"mark {}\">{}</span>", tone.class(), tone.word()),
    };
    let news = match it.news() {
        News::Worse => "<span class=\"mark worse\">worse</span>",
        News::Lost => "<span class=\"mark worse\">lost</span>",
        News::Better => "<span class=\"mark better\">better</span>",
        News::Other => "",
    };
    let (first, then) = (name(&it.first), name(&it.then));
    format!("<td>{first}</td><td>{then}</td><td>{}</td><td>{}</td><td>{news}</td>", tone(it.before), tone(it.after))
}

fn finding(told: &Told) -> String {
    let cost = if told.cost.is_empty() { String::new() } else { format!("<p class=\"dim\">{}</p>", words(&told.cost)) };
    let fix = told.fix.as_ref().map(|fix| format!("<p><strong>Fix:</strong> {}</p>", words(fix))).unwrap_or_default();
    let place = if told.place.is_empty() { String::new() } else { format!("<code>{}</code>", text(&told.place)) };
    format!(
        "<td><span class=\"mark {0}\">{0}</span></td><td><code>{1}</code><p>{2}</p>{cost}{fix}</td><td>{place}</td>",
        told.severity,
        text(told.rule),
        words(&told.message)
    )
}

fn moved((object, then, now): &(ObjectRef, u64, u64)) -> String {
    format!(
        "<td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td>",
        name(object),
        say_seconds(*then),
        say_seconds(*now),
        say::difference(*then, *now)
    )
}
