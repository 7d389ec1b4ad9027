//! The page of a graph in a real browser, headless: it is opened, searched, filtered, walked through by keyboard, darkened and printed, and
//! says nothing on the console. With 30, 300 and 3,000 components, of which some have names that are made to do harm.

mod browser;
#[allow(dead_code, reason = "not every test needs all of it")]
mod generated;

use std::time::Instant;

use browser::Browser;
use coldstart_draw::picture::{Alarms, Findings, Picture, Wish, page};
use diagnostic::Report;
use serde_json::json;

const PRINTED_MAX: u32 = 300;

fn html(components: u32) -> String {
    let cluster = generated::cluster(components);
    let analysis = graph::analyse(&cluster);
    let report = Report { findings: generated::findings(&cluster), ..Report::default() };
    let picture = Picture::new(&cluster, &analysis, &Alarms::of(&report, &cluster.name), &Wish::default());
    page(&[(&cluster, &analysis, picture)], Findings { report: &report }, &generated::Files).expect("a page")
}

#[test]
fn nothing_of_a_repository_is_markup_and_nothing_from_outside_is_let_in() {
    let html = html(30);
    assert!(html.contains("default-src 'none'"));
    assert!(!html.contains("<img"), "names are data");
    let data = html.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("the data");
    assert!(!data.contains('<') && !data.contains('>'), "no tag stands in the data");
    assert!(serde_json::from_str::<serde_json::Value>(data).is_ok(), "the data is JSON");
    assert!(!html.contains("http://") || html.matches("http://").count() == html.matches("http://www.w3.org").count());
    assert_eq!(html.matches("https://").count(), 0, "it asks for nothing");
}

#[test]
fn two_thousand_components_are_less_than_two_megabytes() {
    let size = html(2_000).len();
    assert!(size < 2_000_000, "{size} bytes");
}

#[test]
fn the_same_graph_is_the_same_page() {
    assert_eq!(html(60), html(60));
}

#[test]
fn the_page_is_used_with_a_keyboard_alone() {
    let Some(browser) = Browser::start() else { return };
    for components in [30, 300, 3_000] {
        story(&browser, components);
    }
}

#[expect(clippy::print_stderr, reason = "how long it took is a figure to read, and no limit")]
fn story(browser: &Browser, components: u32) {
    let opened = Instant::now();
    let file = browser.open("page.html", &html(components), "");
    let boxes = browser.number("return document.querySelectorAll('.box').length");
    assert_eq!(boxes, generated::boxes(components), "every component has its box");
    let loaded = "return Math.round(performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd)";
    let loaded = browser.number(loaded);
    eprintln!(
        "{components} components: drawn {loaded} ms after it was opened, {} ms with the making of it",
        opened.elapsed().as_millis()
    );

    search(browser);
    walk(browser);
    filter(browser);
    escaped(browser);
    dark(browser);
    // The driver gives a page ten seconds to print, and thousands of components take longer.
    if components <= PRINTED_MAX {
        print(browser);
    }
    link(browser, &file);
    assert_eq!(browser.complaints(), Vec::<String>::new(), "{components} components");
}

fn search(browser: &Browser) {
    browser.keys(&["/"]);
    browser.keys(&["a", "p", "p", "-", "1", "7"]);
    let shown = browser
        .text("return document.querySelector('#results').hidden ? '' : document.querySelector('#results').textContent");
    assert!(shown.contains("app-17"), "{shown}");
    let bright = browser.number("return document.querySelectorAll('.box:not(.far)').length");
    assert!((1..=300).contains(&bright), "{bright}");
    browser.keys(&[browser::ENTER, browser::ENTER]);
    assert_eq!(browser.text("return document.querySelector('#panel h2').textContent"), "app-17");
    assert!(browser.text("return location.hash").contains("app-17"));
    let panel = browser.text("return document.querySelector('#panel').textContent");
    for part in ["Findings", "Needs", "Depends on", "Objects", "missing-dependency"] {
        assert!(panel.contains(part), "{part} in {panel}");
    }
    browser.keys(&[browser::ESCAPE]);
    assert_eq!(browser.text("return String(document.querySelector('#panel').hidden)"), "true");
    assert_eq!(
        browser.text("return document.activeElement.dataset.box ?? 'none'"),
        browser.text("return document.querySelector('.box[tabindex=\"0\"]').dataset.box")
    );
    browser.run("document.querySelector('#search').value = ''");
}

#[expect(clippy::print_stderr, reason = "how long it took is a figure to read, and no limit")]
fn walk(browser: &Browser) {
    browser.keys(&[browser::LEFT]);
    let label = browser.text("return document.activeElement.getAttribute('aria-label')");
    assert!(label.contains("Kustomization"), "screen readers hear what it is: {label}");
    let before = browser.text("return document.querySelector('#picture').getAttribute('viewBox')");
    browser.keys(&["+"]);
    assert_ne!(browser.text("return document.querySelector('#picture').getAttribute('viewBox')"), before);
    let took = browser.number("const begin = performance.now(); document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })); document.body.offsetHeight; return Math.round(performance.now() - begin)");
    eprintln!("  a panel opens in {took} ms");
    assert_eq!(browser.text("return String(document.querySelector('#panel').hidden)"), "false");
    browser.keys(&[browser::ESCAPE, browser::ESCAPE]);
}

fn filter(browser: &Browser) {
    let all = browser.number("return document.querySelectorAll('.box').length");
    for id in ["tone", "rule", "stage"] {
        browser.run(&format!("document.querySelector('#{id}').focus()"));
        browser.keys(&[browser::DOWN]);
        assert_ne!(browser.text(&format!("return document.querySelector('#{id}').value")), "", "{id}");
        let bright = browser.number("return document.querySelectorAll('.box:not(.far)').length");
        assert!(bright > 0 && bright < all, "{id} shows {bright} of {all}");
        browser.keys(&[browser::ESCAPE]);
        assert_eq!(browser.number("return document.querySelectorAll('.box:not(.far)').length"), all, "{id}");
    }
}

fn escaped(browser: &Browser) {
    assert_eq!(browser.number("return document.querySelectorAll('img, iframe, b').length"), 0);
    assert_eq!(browser.text("return typeof window.harm"), "undefined");
    let names =
        browser.text("return [...document.querySelectorAll('.box title')].map((it) => it.textContent).join(' ')");
    assert!(names.contains("<img src=x onerror=\"window.harm=1\">"), "it is shown as it is");
    assert!(names.contains("O'Neil & \"sons\""));
}

fn dark(browser: &Browser) {
    let ground = "return getComputedStyle(document.body).backgroundColor";
    let light = browser.text(ground);
    for (scheme, same) in [("dark", false), ("light", true)] {
        browser.cdp(
            "Emulation.setEmulatedMedia",
            &json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] }),
        );
        assert_eq!(browser.text(ground) == light, same, "{scheme}");
    }
}

fn print(browser: &Browser) {
    // On a machine with much else to do, the first page takes longer than the driver waits.
    let print = || browser.attempt("print", &json!({ "orientation": "landscape" }));
    let pdf = print().or_else(|_| print()).or_else(|_| print()).expect("a document");
    let pdf = pdf.as_str().expect("a document");
    assert!(pdf.starts_with("JVBERi0") && pdf.len() > 10_000, "a PDF with something in it: {}", pdf.len());
}

fn link(browser: &Browser, file: &str) {
    browser.visit("about:blank");
    browser.visit(&format!("{file}#home/{}", "Kustomization%20flux-system%2Fapp-9"));
    assert_eq!(browser.text("return document.querySelector('#panel h2').textContent"), "app-9");
}
