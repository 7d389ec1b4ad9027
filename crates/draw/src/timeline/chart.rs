//! Rows of time, as a page to look through: what a run took, or what many boots took.
//!
//! Knows how such a page is put together. What stands in the rows comes from elsewhere.

use serde::Serialize;

use crate::html::Page;
use crate::picture::STYLE;

const CHART_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const BODY: &str = include_str!("page.html");

/// A page with one chart for each cluster. Times are in milliseconds from the beginning.
#[derive(Serialize)]
pub(super) struct Chart {
    pub title: String,
    pub summary: String,
    /// How long all of it took.
    pub whole: u64,
    /// Seconds since 1970 at which it began, where a clock was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<u64>,
    /// Rows are many boots each, and not one.
    pub many: bool,
    pub rows: Vec<Row>,
}

#[derive(Serialize)]
pub(super) struct Row {
    pub name: String,
    pub group: String,
    /// When its needs were met; of many boots, when it was ready in the fastest twentieth.
    pub from: u64,
    /// When it was done; of many boots, when it was ready in all but the slowest twentieth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// Of many boots: when it was ready in the middle one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub middle: Option<u64>,
    /// Of many boots: in how many it was ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub critical: bool,
    /// What shows that it is done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub proof: String,
    /// What it waited for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<After>,
    /// What happened meanwhile, with its time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<(u64, String)>,
}

/// Something that was waited for.
#[derive(Serialize)]
pub(super) struct After {
    pub name: String,
    /// Its row, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<usize>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

pub(super) fn page(charts: &[Chart]) -> Result<String, serde_json::Error> {
    let title = charts.first().map_or("", |chart| chart.title.as_str());
    let page = Page {
        title,
        style: &format!("{STYLE}{CHART_STYLE}"),
        body: BODY,
        data: Some(&serde_json::to_string(charts)?),
        script: Some(SCRIPT),
    };
    Ok(page.text())
}
