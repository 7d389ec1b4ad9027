// Pages of times: `--timeline FILE.html`. Everything that they show is in the element `data`; they ask for nothing else.
// Texts of the repository go on the page as text (`textContent`), never as markup.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const charts = JSON.parse(byId("data").textContent);
  const ROW = 22;
  const AXIS = 26;
  const LABEL = 300;
  const AFTER = 96; // behind the chart: how long it took
  const LETTER = 6.5;

  let chart; // what is shown of `charts`
  let rows = []; // elements, by their places in the chart
  let shown = []; // places of those that are shown
  let leads = []; // by row, the rows that wait for it
  let chosen = -1;
  let width = 0; // of the part that has bars

  // ---- elements

  const SVG = ["svg", "g", "rect", "path", "text", "title"];
  function make(tag, attributes, ...children) {
    const element = SVG.includes(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "onclick") element.addEventListener("click", value);
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function lasted(millis) {
    const s = Math.round(millis / 1000);
    if (s < 60) return `${s} s`;
    if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 ? ` ${s % 60} s` : ""}`;
    return `${Math.floor(s / 3600)} h${Math.floor((s % 3600) / 60) ? ` ${Math.floor((s % 3600) / 60)} min` : ""}`;
  }

  const two = (number) => String(number).padStart(2, "0");
  const stopwatch = (millis) => {
    const s = Math.round(millis / 1000);
    return `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  };
  // The time of day where the beginning is known and asked for, in UTC; the time since the beginning otherwise.
  function moment(millis) {
    if (!byId("clock").checked || chart.began === undefined) return stopwatch(millis);
    return new Date(chart.began * 1000 + millis).toISOString().slice(11, 19);
  }

  const x = (millis) => LABEL + (width * Math.min(millis, chart.whole)) / Math.max(chart.whole, 1);
  const end = (row) => (row.until === undefined ? chart.whole : row.until);
  const shorten = (text, letters) => (text.length > letters ? `${text.slice(0, letters - 1)}…` : text);

  // ---- drawing

  function ticks() {
    const round = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
    const most = Math.max(2, Math.floor(width / 110));
    const step = (round.find((seconds) => chart.whole / 1000 / seconds <= most) || 604800) * 1000;
    const all = [];
    for (let at = 0; at <= chart.whole; at += step) all.push(at);
    return all;
  }

  function drawRow(row, at) {
    const top = 0;
    const critical = row.critical ? " critical" : "";
    const [from, to] = [x(row.from), x(end(row))];
    const open = row.until === undefined && !chart.many ? " open" : "";
    const band = chart.many ? " band" : "";
    const parts = [make("rect", { class: "ground", x: 0.5, y: top + 0.5, width: LABEL + width + AFTER - 1, height: ROW - 1, rx: 4 })];
    parts.push(make("text", { class: "name", x: 12, y: top + 15 }, shorten(row.name, Math.floor((LABEL - 24) / LETTER))));
    if (row.until !== undefined || !chart.many) {
      parts.push(make("rect", { class: `bar${critical}${open}${band}`, x: from, y: top + 5, width: Math.max(to - from, 2), height: 9, rx: 2 }));
    }
    if (row.middle !== undefined) parts.push(make("path", { class: "middle", d: `M${x(row.middle)} ${top + 3}V${top + 16}` }));
    if (row.expected) {
      const [a, b] = row.expected.map(x);
      parts.push(make("path", { class: "expected", d: `M${a} ${top + 18}H${Math.max(b, a + 2)}` }));
    }
    const says = chart.many ? (row.middle === undefined ? "never" : moment(row.middle)) : lasted(end(row) - row.from);
    parts.push(make("text", { class: "took", x: LABEL + width + 10, y: top + 15 }, says));
    const label = chart.many
      ? `${row.name}: ready in ${row.share} boots${row.middle === undefined ? "" : `, half of them within ${lasted(row.middle)}`}`
      : `${row.name}: ${row.until === undefined ? "never done" : `took ${lasted(end(row) - row.from)}`}${row.critical ? ", on the critical path" : ""}`;
    return make("g", { class: "row", tabindex: "-1", role: "listitem", "aria-label": label, "data-row": at }, ...parts);
  }

  function draw() {
    const host = byId("rows");
    width = Math.max(240, host.clientWidth - LABEL - AFTER - 4);
    const wide = LABEL + width + AFTER;
    const axis = make("svg", { class: "axis", width: wide, height: AXIS, "aria-hidden": "true" });
    const picture = make("svg", { id: "chart", width: wide, height: Math.max(1, shown.length) * ROW, viewBox: `0 0 ${wide} ${Math.max(1, shown.length) * ROW}` });
    for (const at of ticks()) {
      axis.append(make("text", { class: "time", x: x(at), y: 17, "text-anchor": at === 0 ? "start" : "middle" }, moment(at)));
      picture.append(make("path", { class: "tick", d: `M${x(at)} 0V${shown.length * ROW}` }));
    }
    rows = chart.rows.map(() => null);
    shown.forEach((index, place) => {
      const element = drawRow(chart.rows[index], index);
      element.setAttribute("transform", `translate(0 ${place * ROW})`);
      rows[index] = element;
      picture.append(element);
    });
    host.replaceChildren(axis, picture);
    const first = rows[chosen] || rows[shown[0]];
    if (first) first.setAttribute("tabindex", "0");
    if (chosen >= 0) mark(chosen);
  }

  // Lines from the ends of what was waited for to the beginning of a row.
  function mark(index) {
    const picture = byId("chart");
    picture.querySelectorAll(".wire").forEach((wire) => wire.remove());
    rows.forEach((row) => row && row.classList.remove("chosen", "waited", "waits"));
    if (index < 0 || !rows[index]) return;
    rows[index].classList.add("chosen");
    for (const other of leads[index]) if (rows[other]) rows[other].classList.add("waits");
    const place = new Map(shown.map((row, at) => [row, at]));
    for (const after of chart.rows[index].after || []) {
      if (after.row === undefined || !rows[after.row]) continue;
      rows[after.row].classList.add("waited");
      const [fromX, fromY] = [x(end(chart.rows[after.row])), place.get(after.row) * ROW + 9];
      const [toX, toY] = [x(chart.rows[index].from), place.get(index) * ROW + 9];
      picture.append(make("path", { class: "wire", d: `M${fromX} ${fromY}C${fromX} ${(fromY + toY) / 2} ${toX} ${(fromY + toY) / 2} ${toX} ${toY}` }));
    }
  }

  // ---- choosing

  function choose(index, keepPlace) {
    chosen = index;
    rows.forEach((row, at) => row && row.setAttribute("tabindex", at === index ? "0" : "-1"));
    mark(index);
    fillPanel(index);
    if (!keepPlace && rows[index]) {
      rows[index].focus({ preventScroll: true });
      // The axis stands over the first row.
      const host = byId("rows");
      const top = shown.indexOf(index) * ROW;
      if (top < host.scrollTop) host.scrollTop = top;
      else if (top + ROW + AXIS > host.scrollTop + host.clientHeight) host.scrollTop = top + ROW + AXIS + 10 - host.clientHeight;
    }
    const cluster = charts.length > 1 ? `${encodeURIComponent(chart.title)}/` : "";
    history.replaceState(null, "", `#${cluster}${encodeURIComponent(chart.rows[index].name)}`);
  }

  function link(after) {
    if (after.row === undefined) return make("span", {}, after.name);
    const go = (event) => {
      event.preventDefault();
      if (!rows[after.row]) clear();
      choose(after.row);
    };
    return make("a", { href: `#${encodeURIComponent(after.name)}`, onclick: go }, after.name);
  }

  function section(panel, title, items) {
    if (!items.length) return;
    panel.append(make("h3", {}, title), make("ul", {}, ...items));
  }

  const fact = (list, name, ...says) => list.append(make("dt", {}, name), make("dd", {}, ...says));

  function against(took, expected) {
    const more = took - expected;
    if (Math.abs(more) < 1000) return "as expected";
    const text = `${lasted(Math.abs(more))} ${more > 0 ? "longer" : "shorter"} than expected`;
    return make("span", { class: more > 0 ? "late" : "early" }, text);
  }

  function fillPanel(index) {
    const row = chart.rows[index];
    const panel = byId("panel");
    const facts = make("dl", {});
    panel.replaceChildren(make("h2", {}, row.name), make("p", { class: "dim" }, `${row.group}${row.critical ? " · on the critical path" : ""}`), facts);
    if (chart.many) manyFacts(facts, row);
    else oneFacts(facts, row);
    if (row.proof) panel.append(make("h3", {}, "Done when"), make("p", {}, row.proof));
    const after = (row.after || []).slice();
    const time = (it) => (it.row === undefined ? -1 : chart.many ? (chart.rows[it.row].middle ?? -1) : end(chart.rows[it.row]));
    after.sort((a, b) => time(b) - time(a));
    section(panel, chart.many ? "Comes after" : "Waited for, the last first", after.map((it, at) => {
      const when = time(it) < 0 ? "" : ` ${moment(time(it))}`;
      return make("li", { class: at === 0 && when ? "last" : "" }, link(it), make("span", { class: "dim" }, `${when}${it.why ? `: ${it.why}` : ""}`));
    }));
    section(panel, "What failed meanwhile", (row.tries || []).map(([at, says]) => make("li", {}, make("span", { class: "dim" }, `${moment(at)} `), says)));
    section(panel, chart.many ? "Comes before" : "Was waited for by", leads[index].map((at) => make("li", {}, link({ name: chart.rows[at].name, row: at }))));
    panel.scrollTop = 0;
  }

  function oneFacts(facts, row) {
    fact(facts, "began", `${moment(row.from)}, ${lasted(row.from)} after the start`);
    fact(facts, "done", row.until === undefined ? make("span", { class: "late" }, "never") : `${moment(row.until)}, ${lasted(row.until)} after the start`);
    const took = end(row) - row.from;
    fact(facts, "took", lasted(took));
    if (row.expected) {
      const expected = row.expected[1] - row.expected[0];
      fact(facts, "expected", lasted(expected));
      fact(facts, "", against(took, expected));
    }
  }

  function manyFacts(facts, row) {
    fact(facts, "ready", `in ${row.share} boots`);
    if (row.middle !== undefined) {
      fact(facts, "p5", lasted(row.from));
      fact(facts, "p50", lasted(row.middle));
      fact(facts, "p95", lasted(end(row)));
    }
    if (row.expected) fact(facts, "estimated", lasted(row.expected[1]));
    if (row.expected && row.middle !== undefined) fact(facts, "", against(row.middle, row.expected[1]));
  }

  // ---- search and filters

  function filter() {
    const words = byId("search").value.trim().toLowerCase();
    const group = byId("group").value;
    const only = byId("critical").checked;
    shown = chart.rows.flatMap((row, at) => {
      const isMeant = (words === "" || row.name.toLowerCase().includes(words)) && (group === "" || row.group === group) && (!only || row.critical);
      return isMeant ? [at] : [];
    });
    byId("count").textContent = shown.length === chart.rows.length ? `${shown.length} rows` : `${shown.length} of ${chart.rows.length} rows`;
    draw();
  }

  function clear() {
    byId("search").value = "";
    byId("group").value = "";
    byId("critical").checked = false;
    filter();
  }

  function sample(mark, text) {
    return make("li", {}, make("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" }, mark), text);
  }

  function legend() {
    const bar = (name) => make("rect", { class: `bar ${name}`, x: 0, y: 1, width: 24, height: 8, rx: 2 });
    const line = (name, d) => make("path", { class: name, d });
    const band = chart.many ? " band" : "";
    const all = [sample(bar(`critical${band}`), "critical path"), sample(bar(band.trim()), chart.many ? "ready in 5 to 95 % of boots" : "had time")];
    if (chart.many) all.push(sample(line("middle", "M12 0V10"), "ready in half of them"));
    else if (chart.rows.some((row) => row.until === undefined)) all.push(sample(bar("open"), "never done"));
    all.push(sample(line("expected", "M0 5H24"), chart.many ? "estimated" : "expected"));
    all.push(make("li", {}, "keys: / search · ↑ ↓ move · Esc shows all"));
    byId("legend").replaceChildren(...all);
  }

  function show(index) {
    chart = charts[index];
    chosen = -1;
    leads = chart.rows.map(() => []);
    chart.rows.forEach((row, at) => (row.after || []).forEach((after) => after.row !== undefined && leads[after.row].push(at)));
    byId("title").textContent = chart.title;
    byId("summary").textContent = chart.summary;
    const groups = [...new Set(chart.rows.map((row) => row.group))];
    const option = (value, text) => make("option", { value }, text);
    byId("group").replaceChildren(option("", chart.many ? "every namespace" : "every layer"), ...groups.map((group) => option(group, group || "no namespace")));
    byId("clock").parentElement.hidden = chart.began === undefined;
    byId("panel").replaceChildren(make("p", { class: "dim" }, "Choose a row to see what it waited for."));
    byId("search").value = "";
    byId("critical").checked = false;
    legend();
    filter();
  }

  // ---- keyboard, mouse and links

  function onKey(event) {
    const typing = event.target.id === "search";
    if (event.key === "Escape") {
      clear();
      (rows[chosen] || rows[shown[0]] || byId("rows")).focus();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    if (event.key === "/" && !typing) {
      byId("search").focus();
      event.preventDefault();
      return;
    }
    const isDown = event.key === "ArrowDown" || (typing && event.key === "Enter");
    if (!isDown && event.key !== "ArrowUp" && !["Home", "End"].includes(event.key)) return;
    if (typing && !isDown) return;
    if (!shown.length) return;
    const here = event.target.closest("[data-row]");
    const place = here ? shown.indexOf(Number(here.dataset.row)) : typing ? -1 : shown.indexOf(chosen);
    const next = { ArrowUp: place - 1, Home: 0, End: shown.length - 1 }[event.key] ?? place + 1;
    choose(shown[Math.max(0, Math.min(shown.length - 1, next))]);
    event.preventDefault();
  }

  function onHash() {
    const parts = location.hash.slice(1).split("/").map(decodeURIComponent);
    const title = parts.length > 1 ? parts[0] : "";
    const index = Math.max(0, charts.findIndex((one) => one.title === title));
    if (chart !== charts[index]) show(index);
    byId("cluster").value = index;
    const at = chart.rows.findIndex((row) => row.name === parts[parts.length - 1]);
    if (at >= 0) choose(at);
  }

  const rowAt = (event) => {
    const row = event.target.closest("[data-row]");
    return row ? Number(row.dataset.row) : -1;
  };
  byId("rows").addEventListener("click", (event) => rowAt(event) >= 0 && choose(rowAt(event)));
  byId("rows").addEventListener("focusin", (event) => {
    const at = rowAt(event);
    if (at >= 0 && at !== chosen) choose(at, true);
  });
  byId("rows").addEventListener("pointermove", (event) => {
    const at = rowAt(event);
    if (at >= 0) {
      mark(at);
      fillPanel(at);
    }
  });
  byId("rows").addEventListener("pointerleave", () => {
    mark(chosen);
    if (chosen >= 0) fillPanel(chosen);
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("resize", draw);
  window.addEventListener("hashchange", onHash);
  byId("search").addEventListener("input", filter);
  for (const id of ["group", "critical"]) byId(id).addEventListener("change", filter);
  byId("clock").addEventListener("change", () => {
    draw();
    if (chosen >= 0) fillPanel(chosen);
  });
  byId("cluster").addEventListener("change", (event) => show(Number(event.target.value)));
  if (charts.length > 1) {
    byId("cluster").hidden = false;
    byId("cluster").append(...charts.map((one, index) => make("option", { value: index }, one.title)));
  }
  if (charts.length) onHash();
})();
