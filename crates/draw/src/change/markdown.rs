//! A comment on a pull request: what it comes to, the changed part as a flowchart, and the lists, folded.

use std::fmt::Write as _;

use model::{ObjectRef, say_seconds};

use super::{Change, News, OrderChange, Told, part};
use crate::markdown::{COMMENT_CHARS_MAX, code, inline};
use crate::picture::{Tone, mermaid};
use crate::say::change as say;
use crate::words::{count, first_few};

/// Arrows of the flowchart.
const ARROWS_MAX: usize = 60;
/// Rows of a table.
const ROWS_MAX: usize = 40;
const NAMED_MAX: usize = 10;
/// Kept free for the sentence that says what was left out.
const CUT_CHARS: usize = 256;

/// The whole comment.
pub fn markdown(changes: &[Change<'_>]) -> String {
    let mut out = "### coldstart: what this does to the order\n".to_owned();
    let told: Vec<&Change<'_>> = changes.iter().filter(|change| !change.is_empty()).collect();
    if told.is_empty() {
        let _ = writeln!(out, "\n{}", say::NOTHING);
    }
    // What it comes to is never left out for the details of another cluster.
    let heads: Vec<String> = told.iter().map(|change| head(change)).collect();
    let chars = |text: &str| text.chars().count();
    let mut room =
        COMMENT_CHARS_MAX.saturating_sub(CUT_CHARS + chars(&out) + heads.iter().map(|head| chars(head)).sum::<usize>());
    let mut is_cut = false;
    for (change, head) in told.iter().zip(heads) {
        out.push_str(&head);
        for block in blocks(change) {
            let wanted = chars(&block);
            if wanted <= room {
                room -= wanted;
                out.push_str(&block);
            } else {
                is_cut = true;
            }
        }
    }
    if is_cut {
        out.push_str("\nThere is more than a comment takes: `coldstart graph --diff` shows all.\n");
    }
    out
}

fn head(change: &Change<'_>) -> String {
    let mut out = format!("\n**{}**: {}\n", code(&change.name), inline(&say::headline(change)));
    if !change.critical.is_empty() {
        let _ = writeln!(out, "\n:warning: touches critical services: {}", names(&change.critical));
    }
    if !change.stuck.is_empty() {
        let _ = writeln!(out, "\n:no_entry: never comes up now: {}", names(&change.stuck));
    }
    let (before, after) = change.figures();
    out.push_str("\n| | before | after | |\n|---|---:|---:|---|\n");
    for (what, then, now, difference) in say::figures(before, after) {
        let _ = writeln!(out, "| {what} | {then} | {now} | {difference} |");
    }
    out
}

fn blocks(change: &Change<'_>) -> Vec<String> {
    let mut blocks = Vec::new();
    let picture = part::picture(change, ARROWS_MAX);
    if !picture.boxes.is_empty() {
        let mut block = format!("\n```mermaid\n{}```\n", mermaid(std::slice::from_ref(&picture)));
        if change.orders.len() > ARROWS_MAX {
            let _ = writeln!(block, "\n{ARROWS_MAX} of {} changed orders are drawn.", change.orders.len());
        }
        blocks.push(block);
    }
    let rows = |orders: &[OrderChange]| orders.iter().take(ROWS_MAX).map(order).collect::<Vec<String>>();
    blocks.extend(table(
        &count(change.orders.len(), "order"),
        &["", "first", "then", "before", "after"],
        &rows(&change.orders),
        change.orders.len(),
    ));
    let findings = |title: &str, told: &[Told]| {
        let rows: Vec<String> = told.iter().take(ROWS_MAX).map(finding).collect();
        let noun = if told.len() == 1 { "finding" } else { "findings" };
        table(&format!("{} {noun} {title}", told.len()), &["", "rule", "what", "where"], &rows, told.len())
    };
    blocks.extend(findings("more", &change.new_findings));
    blocks.extend(findings("fewer", &change.gone_findings));
    let moved: Vec<String> = change.moved.iter().take(ROWS_MAX).map(moved).collect();
    let title = format!("{} ready at another time", count(change.moved.len(), "component"));
    blocks.extend(table(&title, &["component", "before", "after", ""], &moved, change.moved.len()));
    let lists = say::lists(change);
    let lists = lists.iter().map(|(title, objects)| format!("- {title}: {}\n", names(objects)));
    let lists: String = lists.collect();
    if !lists.is_empty() {
        blocks.push(format!("\n<details><summary>components</summary>\n\n{lists}\n</details>\n"));
    }
    blocks
}

/// Nothing where there is no row.
fn table(title: &str, columns: &[&str], rows: &[String], all: usize) -> Option<String> {
    let (head, rule) = (format!("| {} |", columns.join(" | ")), "|---".repeat(columns.len()));
    let more = if all > rows.len() { format!("\nand {} more\n", all - rows.len()) } else { String::new() };
    let rows = rows.join("\n");
    (all > 0).then(|| format!("\n<details><summary>{title}</summary>\n\n{head}\n{rule}|\n{rows}\n{more}\n</details>\n"))
}

fn names(objects: &[ObjectRef]) -> String {
    let names: Vec<String> = objects.iter().map(|object| code(&object.path())).collect();
    first_few(&names, NAMED_MAX)
}

fn order(it: &OrderChange) -> String {
    let word = |tone: Option<Tone>| tone.map_or("none", Tone::word);
    let sign = match it.news() {
        News::Worse => ":red_circle:",
        News::Lost => ":orange_circle:",
        News::Better => ":green_circle:",
        News::Other => "",
    };
    let [first, then] = [&it.first, &it.then].map(|object| code(&object.to_string()));
    format!("| {sign} | {first} | {then} | {} | {} |", word(it.before), word(it.after))
}

fn finding(told: &Told) -> String {
    let place = if told.place.is_empty() { String::new() } else { code(&told.place) };
    format!("| {} | {} | {} | {place} |", told.severity, code(told.rule), inline(&told.message))
}

fn moved((object, then, now): &(ObjectRef, u64, u64)) -> String {
    let difference = say::difference(*then, *now);
    format!("| {} | {} | {} | {difference} |", code(&object.to_string()), say_seconds(*then), say_seconds(*now))
}
