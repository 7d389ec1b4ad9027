//! The page of a timeline in a real browser, headless: it is searched, filtered, walked through by keyboard, darkened, and says nothing on
//! the console. With 30 and 3,000 steps, of which some have names that are made to do harm.

#[allow(dead_code, reason = "not every test needs all of it")]
mod browser;

use std::time::Duration;

use browser::Browser;
use coldstart_draw::timeline::{self, BootRow, Boots};
use model::ObjectRef;
use run::{
    Action, Bar, ByHand, Event, Layer, Limits, Line, NeedReason, Plan, Proof, Step, StepId, StepNeed, Timeline,
    TryFailure, Where,
};
use serde_json::json;

const HOSTILE: &str = "<img src=x onerror=\"window.harm=1\">\u{1b}[2J</script>";

fn name(number: u32) -> String {
    if number == 5 { HOSTILE.to_owned() } else { format!("apps/app-{number}") }
}

fn plan(steps: u32) -> Plan {
    let step = |number: u32| Step {
        key: format!("{}/{}", Layer::GitOps.name(), name(number)),
        layer: if number < 4 { Layer::Bootstrap } else { Layer::GitOps },
        action: Action::Watch,
        needs: (number > 0)
            .then(|| StepNeed { step: StepId(number / 2), why: NeedReason::Declared })
            .into_iter()
            .collect(),
        proof: Proof::ReleaseHealthy { release: name(number) },
        limits: Limits { timeout: Duration::from_mins(10), attempts: 1, pause: Duration::from_secs(15) },
        once: false,
        danger: None,
        expected: Duration::from_mins(1),
        by_hand: ByHand::default(),
        hash: String::new(),
    };
    Plan { steps: (0..steps).map(step).collect(), notes: Vec::new() }
}

fn timeline(plan: &Plan) -> Timeline {
    let from = |number: usize| Duration::from_secs(40 * u64::from((number + 1).ilog2()));
    let bar = |(number, step): (usize, &Step)| Bar {
        step: StepId(source::to_u32(number)),
        key: step.key.clone(),
        layer: step.layer,
        from: from(number),
        until: (number != 7).then(|| from(number) + Duration::from_secs(40)),
        expected_from: from(number),
        expected_until: from(number) + Duration::from_secs(30),
        is_critical: (number + 1).is_power_of_two(),
    };
    let bars: Vec<Bar> = plan.steps.iter().enumerate().map(bar).collect();
    let took = bars.iter().filter_map(|bar| bar.until).max().unwrap_or_default();
    Timeline { is_simulated: true, bars, absent: 0, took, expected: took }
}

fn html(steps: u32) -> String {
    let plan = plan(steps);
    let world = Where::Simulated { seed: 0, faults: Vec::new() };
    let began = Event::Began { run: 1, steps, world, date: Some(1_763_553_600) };
    let step = plan.steps[7].key.clone();
    let failed = Event::Failed { step, why: TryFailure::TooLate { limit_seconds: 600, last: None }, left_out: None };
    let lines = [Line::new(Duration::ZERO, began), Line::new(Duration::from_secs(200), failed)];
    timeline::html(&timeline(&plan), &plan, &lines, "home").expect("a page")
}

fn boots() -> Boots {
    let row = |number: u32| BootRow {
        object: ObjectRef::new("Kustomization", "apps", name(number)),
        ready: (0..20).map(|boot| u64::from(60 * number + boot)).collect(),
        expected: Some((0, u64::from(60 * number))),
        is_critical: number == 3,
        after: (number > 0).then(|| ObjectRef::new("Kustomization", "apps", name(number - 1))).into_iter().collect(),
    };
    Boots { cluster: "home".to_owned(), boots: 20, rows: (0..12).map(row).collect() }
}

#[test]
fn nothing_of_a_run_is_markup() {
    for page in [html(30), timeline::boots_html(&[boots()]).expect("a page")] {
        assert!(page.contains("default-src 'none'") && !page.contains("<img"), "names are data");
        let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("the data");
        assert!(!data.contains('<') && !data.contains('>') && !data.contains('\u{1b}'), "no tag stands in the data");
        assert!(serde_json::from_str::<serde_json::Value>(data).is_ok(), "the data is JSON");
    }
}

#[test]
fn a_trace_has_a_track_for_whatever_runs_at_the_same_time() {
    let trace = timeline::trace(&timeline(&plan(30)), "home").expect("a trace");
    let trace: serde_json::Value = serde_json::from_str(&trace).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let names: Vec<&str> = events
        .iter()
        .filter(|event| event["name"] == "process_name")
        .filter_map(|event| event["args"]["name"].as_str())
        .collect();
    assert_eq!(names, ["home", "home, expected"]);
    let begun = |at: u64| events.iter().filter(move |event| event["ts"] == at && event["pid"] == 1);
    let mut tracks: Vec<u64> = begun(160_000_000).filter_map(|event| event["tid"].as_u64()).collect();
    let count = tracks.len();
    tracks.sort_unstable();
    tracks.dedup();
    assert!(count > 5 && tracks.len() == count, "{tracks:?}");
}

#[test]
fn the_page_of_a_run_is_used_with_a_keyboard_alone() {
    let Some(browser) = Browser::start() else { return };
    for steps in [30, 3_000] {
        let file = browser.open("run.html", &html(steps), "");
        assert_eq!(browser.number("return document.querySelectorAll('.row').length"), i64::from(steps));
        walk(&browser);
        dark(&browser);
        browser.visit("about:blank");
        browser.visit(&format!("{file}#gitops%2Fapps%2Fapp-9"));
        assert_eq!(browser.text("return document.querySelector('#panel h2').textContent"), "gitops/apps/app-9");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{steps} steps");
    }
    browser.open("boots.html", &timeline::boots_html(&[boots()]).expect("a page"), "");
    assert_eq!(browser.number("return document.querySelectorAll('.bar.band').length"), 12 + 2);
    browser.keys(&["/", "a", "p", "p", "-", "3", browser::ENTER]);
    let panel = browser.text("return document.querySelector('#panel').textContent");
    for part in ["in 20 of 20 boots", "p50", "p95", "Comes after", "apps/app-2"] {
        assert!(panel.contains(part), "{part} in {panel}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn walk(browser: &Browser) {
    browser.keys(&["/", "a", "p", "p", "-", "1", "7", browser::ENTER]);
    assert_eq!(browser.text("return document.querySelector('#panel h2').textContent"), "gitops/apps/app-17");
    let panel = browser.text("return document.querySelector('#panel').textContent");
    for part in ["began", "longer than expected", "Waited for", "gitops/apps/app-8", "Done when"] {
        assert!(panel.contains(part), "{part} in {panel}");
    }
    browser.keys(&[browser::ESCAPE, browser::DOWN]);
    assert_eq!(browser.text("return document.querySelector('#panel h2').textContent"), "gitops/apps/app-18");
    let label = browser.text("return document.activeElement.getAttribute('aria-label')");
    assert_eq!(label, "gitops/apps/app-18: took 40 s");
    // What never ended says why.
    browser.keys(&["/", "a", "p", "p", "-", "7", browser::ENTER]);
    let panel = browser.text("return document.querySelector('#panel').textContent");
    assert!(panel.contains("never") && panel.contains("10 min"), "{panel}");
    browser.keys(&[browser::ESCAPE]);
    let all = browser.number("return document.querySelectorAll('.row').length");
    browser.run("document.querySelector('#critical').focus()");
    browser.keys(&[" "]);
    let critical = browser.number("return document.querySelectorAll('.row').length");
    assert!((2..all).contains(&critical), "{critical} of {all}");
    browser.keys(&[browser::ESCAPE]);
    browser.run("document.querySelector('#clock').focus()");
    browser.keys(&[" "]);
    assert_eq!(browser.text("return document.querySelector('.axis text').textContent"), "12:00:00");
    browser.keys(&[" "]);
    assert_eq!(browser.number("return document.querySelectorAll('img, b').length"), 0);
    assert_eq!(browser.text("return typeof window.harm"), "undefined");
}

fn dark(browser: &Browser) {
    let ground = "return getComputedStyle(document.body).backgroundColor";
    let light = browser.text(ground);
    for (scheme, same) in [("dark", false), ("light", true)] {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        browser.cdp("Emulation.setEmulatedMedia", &json!({ "features": features }));
        assert_eq!(browser.text(ground) == light, same, "{scheme}");
    }
}
