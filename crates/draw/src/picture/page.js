// The page of `coldstart graph --format html`. Everything that it shows is in the element `data`; it asks for nothing else.
// Texts of the repository go on the page as text (`textContent`), never as markup.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const svg = byId("picture");
  const view = byId("view");
  const MARGIN = 40;

  let cluster; // what is shown of `data`
  let boxes = []; // its boxes as elements
  let arrows = [];
  let needsOf = []; // by box: what it needs, and what others need of it
  let neededOf = [];
  let findingsOf = [];
  let chosen = -1;
  let camera = { x: 0, y: 0, w: 1, h: 1 };
  let playing = 0;

  // ---- elements

  function make(tag, attributes, ...children) {
    const isSvg = ["g", "rect", "path", "text", "title", "circle"].includes(tag);
    const element = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "onclick") element.addEventListener("click", value);
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  const option = (value, text) => make("option", { value }, text);
  const place = (at) => (at ? make("span", { class: "place dim" }, `${data.strings[at[0]]}:${at[1]}`) : null);
  // Names stand between backticks.
  const told = (text) => text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));
  const seconds = (s) => (s < 60 ? `${s} s` : `${Math.floor(s / 60)} min${s % 60 ? ` ${s % 60} s` : ""}`);

  // ---- drawing

  function show(index) {
    cluster = data.clusters[index];
    byId("title").textContent = cluster.title;
    byId("summary").textContent = cluster.summary;
    const list = () => cluster.boxes.map(() => []);
    [needsOf, neededOf, findingsOf] = [list(), list(), list()];
    for (const need of cluster.needs) {
      needsOf[need[0]].push(need);
      if (need[1] !== null) neededOf[need[1]].push(need);
    }
    for (const finding of cluster.findings) for (const box of finding.boxes) findingsOf[box].push(finding);
    const all = document.createDocumentFragment();
    for (const lane of cluster.lanes) {
      const [x, y, width, height] = lane.at;
      all.append(make("rect", { class: "lane", x, y, width, height, rx: 10 }));
    }
    arrows = cluster.arrows.map((arrow) => {
      const tone = data.tones[arrow.tone];
      // The critical path is blue where nothing is wrong.
      const tip = arrow.critical && arrow.tone <= data.calm_until ? "critical" : tone[0];
      const attributes = { class: `arrow ${tone[0]}${arrow.critical ? " critical" : ""}`, d: bent(arrow.way), "marker-end": `url(#tip-${tip})` };
      const ends = `${cluster.boxes[arrow.from].name} → ${cluster.boxes[arrow.to].name}: ${tone[1]}`;
      return make("path", attributes, make("title", {}, ends));
    });
    const order = arrows.map((_, at) => at).sort((a, b) => cluster.arrows[a].tone - cluster.arrows[b].tone);
    all.append(...order.map((at) => arrows[at]));
    for (const lane of cluster.lanes) {
      const fits = Math.max(3, Math.floor(lane.at[2] / 7) - 3);
      const title = lane.title.length > fits ? `${lane.title.slice(0, fits)}…` : lane.title;
      all.append(make("text", { class: "lane-title", x: lane.at[0] + 18, y: lane.at[1] + 20 }, title));
    }
    boxes = cluster.boxes.map(drawBox);
    all.append(...boxes);
    view.replaceChildren(all);
    fillFilters();
    byId("time").max = cluster.seconds;
    byId("time").value = 0;
    byId("clock").textContent = "";
    close();
    fit();
    if (boxes.length) boxes[0].setAttribute("tabindex", "0");
  }

  // The same curve as in the SVG of `coldstart graph --format svg`: straight past boxes, bent between layers.
  function bent(way) {
    let [x, y] = way;
    let d = `M${x} ${y}`;
    for (let at = 2; at < way.length; at += 2) {
      const [lastX, lastY] = [x, y];
      [x, y] = [x + way[at], y + way[at + 1]];
      if (cluster.down) d += lastX === x ? `V${y}` : `C${lastX} ${(lastY + y) / 2} ${x} ${(lastY + y) / 2} ${x} ${y}`;
      else d += lastY === y ? `H${x}` : `C${(lastX + x) / 2} ${lastY} ${(lastX + x) / 2} ${y} ${x} ${y}`;
    }
    return d;
  }

  function drawBox(box, at) {
    const has = (severity) => findingsOf[at].some((finding) => finding.severity === severity);
    const worst = has("error") ? " error" : has("warning") ? " warning" : "";
    const dot = findingsOf[at].length ? make("circle", { class: `finding-dot${worst}`, cx: box.x + box.w - 10, cy: box.y + 11, r: 4 }) : null;
    const label = `${box.full}, ${box.detail}${findingsOf[at].length ? `, ${findingsOf[at].length} findings` : ""}`;
    return make(
      "g",
      { class: box.class, tabindex: "-1", role: "button", "aria-label": label, "data-box": at },
      make("title", {}, box.full),
      make("rect", { x: box.x, y: box.y, width: box.w, height: data.box_height, rx: 7 }),
      make("text", { x: box.x + 11, y: box.y + 16.5 }, box.short || box.name),
      make("text", { class: "detail", x: box.x + 11, y: box.y + 30.5 }, box.detail),
      dot,
    );
  }

  // ---- the camera

  function look() {
    svg.setAttribute("viewBox", `${camera.x} ${camera.y} ${camera.w} ${camera.h}`);
  }

  function fit() {
    const [left, top] = [-MARGIN / 2, -MARGIN / 2];
    const [right, bottom] = cluster.size.map((length) => length + MARGIN / 2);
    const size = svg.getBoundingClientRect();
    // A small graph is not blown up.
    const w = Math.max(right - left, size.width / 1.25);
    const h = Math.max(bottom - top, size.height / 1.25);
    camera = { x: (left + right - w) / 2, y: (top + bottom - h) / 2, w, h };
    look();
  }

  function zoom(by, at) {
    const size = svg.getBoundingClientRect();
    const scale = Math.max(camera.w / size.width, camera.h / size.height);
    if ((scale * by < 0.15 && by < 1) || (scale * by > 60 && by > 1)) return;
    const x = at ? at.x : camera.x + camera.w / 2;
    const y = at ? at.y : camera.y + camera.h / 2;
    camera = { x: x - (x - camera.x) * by, y: y - (y - camera.y) * by, w: camera.w * by, h: camera.h * by };
    look();
  }

  function pointAt(event) {
    const size = svg.getBoundingClientRect();
    const scale = Math.max(camera.w / size.width, camera.h / size.height);
    const x = camera.x + camera.w / 2 + (event.clientX - size.left - size.width / 2) * scale;
    const y = camera.y + camera.h / 2 + (event.clientY - size.top - size.height / 2) * scale;
    return { x, y, scale };
  }

  function bringIntoView(at) {
    const box = cluster.boxes[at];
    const size = svg.getBoundingClientRect();
    const scale = Math.max(camera.w / size.width, camera.h / size.height);
    // Close enough to be read.
    if (scale > 1.3) camera = { x: 0, y: 0, w: size.width, h: size.height };
    const [x, y] = [box.x + box.w / 2, box.y + data.box_height / 2];
    const inside = x > camera.x + 120 && x < camera.x + camera.w - 120 && y > camera.y + 60 && y < camera.y + camera.h - 60;
    if (!inside || scale > 1.3) camera = { ...camera, x: x - camera.w / 2, y: y - camera.h / 2 };
    look();
  }

  // ---- choosing

  function choose(at, keepView) {
    chosen = at;
    const near = new Set([at]);
    cluster.arrows.forEach((arrow, index) => {
      const touches = arrow.from === at || arrow.to === at;
      if (touches) near.add(arrow.from === at ? arrow.to : arrow.from);
      arrows[index].classList.toggle("near", touches);
      arrows[index].classList.toggle("far", !touches);
    });
    boxes.forEach((box, index) => {
      box.classList.toggle("chosen", index === at);
      box.classList.toggle("near", near.has(index));
      box.classList.toggle("far", !near.has(index));
      box.setAttribute("tabindex", index === at ? "0" : "-1");
    });
    fillPanel(at);
    if (!keepView) bringIntoView(at);
    history.replaceState(null, "", `#${encodeURIComponent(cluster.title)}/${encodeURIComponent(cluster.boxes[at].full)}`);
  }

  function close() {
    chosen = -1;
    byId("panel").hidden = true;
    history.replaceState(null, "", data.clusters.length > 1 ? `#${encodeURIComponent(cluster.title)}` : "#");
    filter();
  }

  function link(at) {
    const text = at === null ? "nothing that was read" : cluster.boxes[at].name;
    if (at === null) return make("span", { class: "dim" }, text);
    const go = (event) => {
      event.preventDefault();
      choose(at);
      boxes[at].focus();
    };
    const href = `#${encodeURIComponent(cluster.title)}/${encodeURIComponent(cluster.boxes[at].full)}`;
    return make("a", { href, onclick: go, title: cluster.boxes[at].full }, text);
  }

  function section(panel, title, items) {
    if (!items.length) return;
    panel.append(make("h3", {}, title), make("ul", {}, ...items.map((item) => make("li", {}, ...item))));
  }

  function fillPanel(at) {
    const box = cluster.boxes[at];
    const panel = byId("panel");
    panel.replaceChildren(
      make("button", { class: "close", "aria-label": "Close", onclick: leave }, "×"),
      make("h2", {}, box.name),
      make("p", { class: "dim" }, box.full),
      make("p", {}, box.done === null ? "never comes up" : `starts after ${seconds(box.start || 0)}, done after ${seconds(box.done)} (estimated)`),
    );
    if (findingsOf[at].length) panel.append(make("h3", {}, "Findings"), ...findingsOf[at].map(drawFinding));
    const verdict = (need) => {
      const [word, costs] = [data.strings[need[3]], data.strings[need[4]]];
      // A race that costs nothing is no alarm.
      const calm = word === "unordered" && ["noise", "safe", "none"].includes(costs);
      return make("span", { class: `mark ${calm ? "calm" : word}`, title: `consequence: ${costs}` }, word);
    };
    const rank = ["deadlocked", "unordered", "exists-only", "applied-only", "falsely-ready", "unoffered"];
    const badFirst = (a, b) => (rank.indexOf(data.strings[a[3]]) + 7) % 7 - ((rank.indexOf(data.strings[b[3]]) + 7) % 7);
    const needs = needsOf[at].slice().sort(badFirst);
    section(panel, "Needs", needs.map((n) => [data.strings[n[2]], " from ", link(n[1]), " ", verdict(n), " ", place(n[5])]));
    const into = cluster.arrows.filter((arrow) => arrow.to === at && arrow.ties);
    section(panel, "Depends on", into.map((a) => [link(a.from), " ", ...a.ties.map(place)]));
    section(panel, "Needed by", neededOf[at].map((n) => [link(n[0]), ": ", data.strings[n[2]], " ", verdict(n)]));
    const out = cluster.arrows.filter((arrow) => arrow.from === at && arrow.ties);
    section(panel, "Dependents", out.map((a) => [link(a.to), " ", ...a.ties.map(place)]));
    section(panel, "When it is down", down(box));
    const offers = (box.offers || []).map((offer) => [data.strings[offer]]);
    if (box.more_offers) offers.push([`and ${box.more_offers} more`]);
    section(panel, "Offers", offers);
    section(panel, "Objects", box.parts.map((part) => [part.name || box.full, make("span", { class: "dim" }, ` · done means ${part.gate} · retries ${data.strings[part.retry]} `), place(part.at)]));
    panel.hidden = false;
    panel.scrollTop = 0;
  }

  function down(box) {
    if (!box.down) return [["not worked out for so many components: coldstart impact ", make("code", {}, box.name)]];
    return box.down.map((one) => {
      const names = one.boxes.flatMap((other, index) => (index ? [", ", link(other)] : [link(other)]));
      const more = one.count - one.boxes.length;
      return [`${one.when}: `, ...names, more > 0 ? ` and ${more} more` : null];
    });
  }

  function drawFinding(finding) {
    const places = finding.places.map((at) => make("li", {}, place(at), at[2] ? ` ${at[2]}` : ""));
    return make(
      "div",
      { class: "finding" },
      make("p", {}, make("span", { class: `mark ${finding.severity}` }, finding.severity), " ", make("code", {}, finding.rule)),
      make("p", {}, ...told(finding.message)),
      finding.cost ? make("p", { class: "dim" }, finding.cost) : null,
      finding.line ? make("code", { class: "source" }, finding.line) : null,
      make("ul", {}, ...places),
      finding.fix ? make("p", { class: "fix" }, make("strong", {}, "Fix: "), ...told(finding.fix)) : null,
      ...finding.notes.map((note) => make("p", { class: "dim" }, ...told(note))),
    );
  }

  function leave() {
    const at = chosen;
    close();
    if (at >= 0) boxes[at].focus();
  }

  // ---- search and filters

  function fillFilters() {
    const used = new Set(cluster.arrows.map((arrow) => arrow.tone));
    const tones = data.tones.map((tone, at) => [at, tone[1]]).filter(([at]) => used.has(at));
    byId("tone").replaceChildren(option("", "every verdict"), ...tones.map(([at, text]) => option(at, text)));
    const rules = [...new Set(cluster.findings.map((finding) => finding.rule))].sort();
    byId("rule").replaceChildren(option("", "every rule"), ...rules.map((rule) => option(rule, rule)));
    byId("stage").replaceChildren(option("", "every stage"), ...cluster.lanes.map((lane, at) => option(at, lane.title)));
    const sample = (tone) => {
      const line = make("path", { class: `arrow ${tone[0]}`, d: "M1 5H26", "marker-end": `url(#tip-${tone[0]})` });
      const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      picture.setAttribute("viewBox", "0 0 34 10");
      picture.setAttribute("aria-hidden", "true");
      picture.append(line);
      return make("span", {}, picture, tone[1]);
    };
    const legend = tones.map(([at]) => sample(data.tones[at])).reverse();
    byId("legend").replaceChildren(...legend, make("span", {}, "blue: the critical path"), make("span", {}, "keys: / search · arrows move · Enter opens · Esc closes · + − 0 zoom"));
  }

  function filter() {
    const words = byId("search").value.trim().toLowerCase();
    const [tone, rule, stage] = ["tone", "rule", "stage"].map((id) => byId(id).value);
    const ends = new Set();
    if (tone !== "") cluster.arrows.forEach((arrow) => arrow.tone === Number(tone) && ends.add(arrow.from).add(arrow.to));
    const isMeant = cluster.boxes.map((box, at) => {
      const hasWords = words === "" || box.full.toLowerCase().includes(words) || box.parts.some((part) => (part.name || "").toLowerCase().includes(words));
      const hasRule = rule === "" || findingsOf[at].some((finding) => finding.rule === rule);
      return hasWords && hasRule && (tone === "" || ends.has(at)) && (stage === "" || box.lane === laneOf(Number(stage)));
    });
    boxes.forEach((box, at) => {
      box.classList.remove("chosen", "near");
      box.classList.toggle("far", !isMeant[at]);
    });
    cluster.arrows.forEach((arrow, at) => {
      const both = isMeant[arrow.from] && isMeant[arrow.to] && (tone === "" || arrow.tone === Number(tone));
      arrows[at].classList.remove("near");
      arrows[at].classList.toggle("far", !both);
    });
    const found = isMeant.flatMap((is, at) => (is ? [at] : []));
    const isAsked = words !== "" || tone !== "" || rule !== "" || stage !== "";
    const list = byId("results");
    list.hidden = !isAsked || chosen >= 0;
    const entry = (at) => make("button", { "data-result": at, onclick: () => choose(at) }, cluster.boxes[at].full);
    const more = found.length > 100 ? [make("p", { class: "dim" }, `and ${found.length - 100} more`)] : [];
    const none = found.length ? [] : [make("p", { class: "dim" }, "nothing matches")];
    if (isAsked) list.replaceChildren(...found.slice(0, 100).map(entry), ...more, ...none);
  }

  // Lanes without boxes are not drawn: a title stands for the lane of the boxes in it.
  function laneOf(at) {
    const [x, y, width, height] = cluster.lanes[at].at;
    const inside = cluster.boxes.find((box) => box.x >= x && box.x + box.w <= x + width + 1 && box.y >= y && box.y <= y + height);
    return inside ? inside.lane : -1;
  }

  // ---- the boot, as it is estimated

  function at(time) {
    byId("time").value = time;
    byId("clock").textContent = time > 0 ? seconds(Math.round(time)) : "";
    boxes.forEach((box, index) => {
      const { start, done } = cluster.boxes[index];
      const state = time === 0 ? "" : start === null || time < start ? "waiting" : done !== null && time >= done ? "done" : "starting";
      for (const name of ["waiting", "starting", "done"]) box.classList.toggle(name, state === name);
    });
  }

  function play() {
    stop();
    const from = Number(byId("time").value) % cluster.seconds;
    const begin = performance.now();
    const step = (now) => {
      const time = from + ((now - begin) / 20000) * cluster.seconds;
      at(Math.min(time, cluster.seconds));
      if (time < cluster.seconds) playing = requestAnimationFrame(step);
      else stop();
    };
    playing = requestAnimationFrame(step);
    byId("play").textContent = "Stop";
  }

  function stop() {
    cancelAnimationFrame(playing);
    playing = 0;
    byId("play").textContent = "Play the boot";
  }

  // ---- keyboard and mouse

  // The nearest box in a direction: along arrows the way they run, by place beside.
  function neighbour(from, key) {
    const box = cluster.boxes[from];
    const forward = key === "ArrowRight" || key === "ArrowDown";
    const along = cluster.down === (key === "ArrowUp" || key === "ArrowDown");
    const [x, y] = cluster.down ? ["x", "y"] : ["y", "x"];
    const linked = cluster.arrows.filter((arrow) => (forward ? arrow.from : arrow.to) === from);
    const others = along
      ? linked.map((arrow) => (forward ? arrow.to : arrow.from))
      : cluster.boxes.flatMap((other, at) => ((other[x] - box[x]) * (forward ? 1 : -1) > 1 && Math.abs(other[y] - box[y]) < 40 ? [at] : []));
    const distance = (at) => Math.abs(cluster.boxes[at][x] - box[x]) + Math.abs(cluster.boxes[at][y] - box[y]);
    return others.sort((a, b) => distance(a) - distance(b))[0];
  }

  function onKey(event) {
    const typing = ["INPUT", "SELECT"].includes(event.target.tagName);
    if (event.key === "Escape") {
      if (chosen >= 0) leave();
      else for (const id of ["search", "tone", "rule", "stage"]) byId(id).value = "";
      if (typing) svg.focus();
      filter();
    }
    if (typing && event.target.id === "search" && (event.key === "Enter" || event.key === "ArrowDown")) {
      byId("results").querySelector("button")?.focus();
      event.preventDefault();
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const result = event.target.closest("#results button");
    if (result && event.key.startsWith("Arrow")) {
      const next = event.key === "ArrowDown" ? result.nextElementSibling : result.previousElementSibling;
      (next || byId("search")).focus();
      event.preventDefault();
      return;
    }
    const here = event.target.closest("[data-box]");
    const from = here ? Number(here.dataset.box) : Math.max(chosen, 0);
    if (event.key === "/") byId("search").focus();
    else if (event.key === "+" || event.key === "=") zoom(0.8);
    else if (event.key === "-") zoom(1.25);
    else if (event.key === "0") fit();
    else if (here && (event.key === "Enter" || event.key === " ")) choose(from);
    else if (event.key.startsWith("Arrow") && boxes.length && (here || event.target === svg)) {
      const to = here ? neighbour(from, event.key) : from;
      if (to !== undefined) {
        bringIntoView(to);
        boxes[to].focus();
      }
    } else return;
    event.preventDefault();
  }

  function onHash() {
    const [title, id] = location.hash.slice(1).split("/").map(decodeURIComponent);
    const index = Math.max(0, data.clusters.findIndex((one) => one.title === title));
    if (cluster !== data.clusters[index]) show(index);
    byId("cluster").value = index;
    const found = id ? cluster.boxes.findIndex((box) => box.full === id) : -1;
    if (found >= 0) choose(found);
  }

  let drag = null;
  svg.addEventListener("pointerdown", (event) => {
    drag = { ...pointAt(event), moved: false, id: event.pointerId };
  });
  svg.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const now = pointAt(event);
    if (!drag.moved && Math.hypot(now.x - drag.x, now.y - drag.y) < 4 * now.scale) return;
    drag.moved = true;
    svg.setPointerCapture(drag.id);
    svg.classList.add("dragging");
    camera = { ...camera, x: camera.x + drag.x - now.x, y: camera.y + drag.y - now.y };
    look();
  });
  svg.addEventListener("pointerup", (event) => {
    const moved = drag && drag.moved;
    drag = null;
    svg.classList.remove("dragging");
    if (moved) return;
    const box = event.target.closest("[data-box]");
    if (box) choose(Number(box.dataset.box), true);
    else if (chosen >= 0) close();
  });
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(event.deltaY * 0.0015), pointAt(event));
  }, { passive: false });
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", onHash);
  window.addEventListener("beforeprint", () => { if (chosen < 0) fit(); });
  byId("search").addEventListener("input", () => { chosen = -1; byId("panel").hidden = true; filter(); });
  for (const id of ["tone", "rule", "stage"]) byId(id).addEventListener("change", () => { chosen = -1; byId("panel").hidden = true; filter(); });
  byId("in").addEventListener("click", () => zoom(0.8));
  byId("out").addEventListener("click", () => zoom(1.25));
  byId("fit").addEventListener("click", fit);
  byId("play").addEventListener("click", () => (playing ? stop() : play()));
  byId("time").addEventListener("input", (event) => { stop(); at(Number(event.target.value)); });
  byId("cluster").addEventListener("change", (event) => show(Number(event.target.value)));
  if (data.clusters.length > 1) {
    byId("cluster").hidden = false;
    byId("cluster").append(...data.clusters.map((one, index) => option(index, one.title)));
  }
  if (data.clusters.length) onHash();
})();
