"use strict";

// Everything that the page shows comes from servers and is hostile: text becomes text nodes only, foreign names are
// keys of Maps only, and foreign values pass through text(), num() and list().

// MARK: Values

const text = value => typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
const num = (value, otherwise = 0) => typeof value === "number" && Number.isFinite(value) ? value : otherwise;
const list = value => Array.isArray(value) ? value.filter(item => item !== null && typeof item === "object") : [];
const record = value => value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
const clip = (value, limit) => value.length > limit ? value.slice(0, limit) + "…" : value;
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const fieldsOf = value => list(value).map(field => [text(field.name), text(field.value)]);
const fieldIn = (fields, name) => (fields.find(field => field[0].toLowerCase() === name) ?? ["", ""])[1];

// Characters that hide, or that change the order of the characters around them.
const UNSEEN = new RegExp("[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f"
  + "\\u2028-\\u202e\\u2060-\\u2069\\ufeff]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]", "g");
const escaped = character => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0");
const visible = value => value.replace(UNSEEN, escaped);
const line = (value, limit = 300) => visible(clip(value, limit)).replace(/[\t\r\n]/g, escaped);

function bytes(count) {
  if (count < 1000) return `${Math.round(count)} B`;
  const unit = count < 1e6 ? [1e3, "kB"] : count < 1e9 ? [1e6, "MB"] : [1e9, "GB"];
  const value = count / unit[0];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit[1]}`;
}

function time(milliseconds) {
  if (milliseconds === null) return "…";
  if (milliseconds === 0) return "0 ms";
  if (milliseconds < 10) return `${milliseconds.toFixed(milliseconds < 1 ? 2 : 1)} ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(2)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

function clock(start) {
  const date = new Date(start);
  const pad = (value, width = 2) => String(value).padStart(width, "0");
  if (start === 0 || Number.isNaN(date.getTime())) return "unknown";
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} `
    + `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
}

// MARK: Elements

const $ = id => document.getElementById(id);

/** Makes an element. Refuses attributes that can run or load something. */
function el(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (/^(on.*|.*html|srcdoc|style|href|src|action|formaction)$/i.test(name)) throw new TypeError(`el refuses ${name}`);
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  return fill(node, ...children);
}

function fill(node, ...children) {
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

function button(label, action, properties) {
  const node = el("button", { type: "button", ...properties }, label);
  node.addEventListener("click", action);
  return node;
}

function table(caption, heads, rows, properties) {
  return el("table", properties,
    caption && el("caption", {}, caption),
    el("thead", {}, el("tr", {}, heads.map(head => el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows.map(cells => el("tr", {}, cells.map((cell, index) =>
      index === 0 ? el("th", { scope: "row" }, cell) : el("td", {}, cell))))));
}

/** Facts as a list of names and values. Leaves out those without a value. */
function facts(pairs) {
  const shown = pairs.filter(pair => pair[1] !== "" && pair[1] !== null && pair[1] !== undefined && pair[1] !== false);
  return el("dl", {}, shown.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

const section = (title, ...children) => el("section", {}, el("h3", {}, title), ...children);
const muted = (...children) => el("p", { class: "muted" }, ...children);

/** A text that shows its first part until the reader asks for the rest. */
function longText(value, limit = 2000) {
  if (value.length <= limit) return visible(value);
  const node = el("span", {}, visible(value.slice(0, limit)) + "… ");
  node.append(button(`Show all ${bytes(value.length)}`, () => node.replaceChildren(visible(value))));
  return node;
}

let noteTimer = 0;
function note(message) {
  $("note").textContent = message;
  clearTimeout(noteTimer);
  noteTimer = setTimeout(() => { $("note").textContent = ""; }, 4000);
}

// MARK: Calls

const state = {
  calls: new Map(), log: {}, version: 0, live: false, paused: false, dropped: 0, shown: [], filter: [], sort: "start",
  descending: false, active: null, open: null, tab: "overview", exchange: new Map(), marked: new Set(), view: "calls",
};

function mediaType(mimeType) {
  const type = mimeType.split(";")[0].trim().toLowerCase();
  const subtype = type.slice(type.indexOf("/") + 1);
  return subtype.replace(/^.*\+(json|xml)$/, "$1").replace(/^(x-www-form-urlencoded|form-data)$/, "form");
}

function hostAndPath(url) {
  try {
    const parsed = new URL(url);
    if (parsed.host) return [parsed.host, parsed.pathname + parsed.search];
  } catch { /* Shown as it is. */ }
  return ["", url];
}

const failureOf = response => text(response._error) || text(response._errorKind) ? {
  code: text(response._errorKind) || "error", text: text(response._error), plugin: "",
} : null;

function makeCall(key, raw, entries) {
  const pairs = entries.map(entry => [Date.parse(text(entry.startedDateTime)) || 0, entry]);
  entries = pairs.sort((a, b) => a[0] - b[0]).map(pair => pair[1]);
  const last = record(entries.at(-1)), own = record(raw), request = record(last.request), first = record(entries[0]);
  const result = record(own.response ?? last.response), content = record(result.content);
  const begin = Date.parse(text(own.startedDateTime)) || (pairs.length ? pairs[0][0] : 0);
  const end = Math.max(begin, ...pairs.map(([start, entry]) => start + num(entry.time)));
  const url = text(own.url) || text(record(first.request).url) || text(request.url);
  const [host, path] = hostAndPath(url);
  const error = own.error ? { code: text(record(own.error).code), text: text(record(own.error).text),
    plugin: text(record(own.error).plugin) } : raw ? null : failureOf(record(last.response));
  const call = {
    key, raw, entries, url, host, path, error, begin, result, content, parent: own.parent ?? record(last._pipeline).parentCall,
    target: text(own.target), method: text(own.method) || text(record(first.request).method),
    status: num(own.status, num(result.status, 0)), type: mediaType(text(content.mimeType)),
    running: raw !== null && typeof own.duration !== "number" && !own.error, joined: own.joined === true,
    source: text(own.source), cacheStatus: text(own.cacheStatus), size: Math.max(0, num(content.size)),
  };
  call.duration = call.running ? null : num(own.duration, end - begin);
  return finishCall(call);
}

/** Adds what is derived from the exchanges. */
function finishCall(call) {
  const places = call.entries.map(entry => record(entry._pipeline));
  call.attempts = Math.max(1, ...places.map(place => num(place.attempt, 1)));
  call.hops = Math.max(0, ...places.map(place => num(place.hop)));
  call.refused = places.some(place => text(place.refusedRetry) || text(place.refusedRedirect));
  call.cached = call.source === "cache" || /;\s*hit\b/.test(call.cacheStatus);
  call.failed = !call.running && (call.error !== null || call.status >= 400 || call.status <= 0);
  call.bytes = 0;
  for (const entry of call.entries) {
    const response = record(entry.response), received = num(response.bodySize, -1);
    call.bytes += Math.max(0, num(record(entry.request).bodySize))
      + (received >= 0 ? received : Math.max(0, num(record(response.content).size)));
  }
  if (call.status <= 0) call.status = 0;
  call.name = call.target || call.path || call.url || "(no URL)";
  return call;
}

/** Groups the entries of a document by call, and makes its calls. */
function readDocument(document) {
  const log = record(record(document).log), own = record(log._pipeline), groups = new Map();
  const raws = Array.isArray(own.calls) ? list(own.calls) : null;
  list(log.entries).forEach((entry, index) => {
    const id = record(entry._pipeline).call;
    const key = id === undefined || id === null ? `entry ${index}` : String(id);
    if (groups.has(key)) groups.get(key).push(entry); else groups.set(key, [entry]);
  });
  const calls = (raws ?? []).map(raw => {
    const key = String(raw.id), entries = groups.get(key) ?? [];
    groups.delete(key);
    return makeCall(key, raw, entries);
  });
  for (const [key, entries] of groups) calls.push(makeCall(key, null, entries));
  return { log, own, calls };
}

function load(document) {
  const { log, own, calls } = readDocument(document);
  for (const call of calls) state.calls.set(call.key, call);
  state.log = log;
  state.live = own.live === true;
  state.version = num(own.version);
  state.dropped = num(own.droppedCalls);
}

// MARK: Filter

const FLAGS = new Map([["failed", call => call.failed], ["retried", call => call.attempts > 1],
  ["redirected", call => call.hops > 0], ["cached", call => call.cached], ["joined", call => call.joined],
  ["running", call => call.running], ["refused", call => call.refused]]);
const contains = (value, part) => value.toLowerCase().includes(part);

function statusTest(value) {
  const match = /^([1-5])xx$/.exec(value) ?? /^(\d{1,3})-(\d{1,3})$/.exec(value) ?? /^(\d{1,3})$/.exec(value);
  if (!match) return null;
  const [low, high] = value.endsWith("xx") ? [match[1] * 100, match[1] * 100 + 99] : [+match[1], +(match[2] ?? match[1])];
  return call => call.status >= low && call.status <= high;
}

function measure(value, units) {
  const match = /^(\d+(?:\.\d+)?)([a-z]*)$/.exec(value);
  const unit = match ? units.get(match[2]) : undefined;
  return unit === undefined ? null : match[1] * unit;
}

const SIZES = new Map([["", 1], ["b", 1], ["k", 1e3], ["kb", 1e3], ["m", 1e6], ["mb", 1e6], ["g", 1e9], ["gb", 1e9]]);
const TIMES = new Map([["", 1], ["ms", 1], ["s", 1000], ["m", 60000], ["min", 60000]]);
const over = (limit, value) => limit === null ? null : call => { const own = value(call); return own !== null && own > limit; };
const under = (limit, value) => limit === null ? null : call => { const own = value(call); return own !== null && own < limit; };

// Each returns a test of a call, or null for an invalid value.
const PREFIXES = new Map([
  ["status", statusTest],
  ["method", value => call => call.method.toLowerCase() === value],
  ["host", value => call => contains(call.host, value)],
  ["target", value => call => contains(call.target, value)],
  ["type", value => call => contains(text(call.content.mimeType), value)],
  ["error", value => call => call.error !== null && contains(`${call.error.code} ${call.error.text}`, value)],
  ["header", value => call => contains(headerText(call), value)],
  ["body", value => call => bodyMatches(call, value)],
  ["larger", value => over(measure(value, SIZES), call => call.size)],
  ["smaller", value => under(measure(value, SIZES), call => call.size)],
  ["slower", value => over(measure(value, TIMES), call => call.duration)],
  ["faster", value => under(measure(value, TIMES), call => call.duration)],
  ["id", value => call => call.key === value],
  ["is", value => FLAGS.get(value) ?? null],
]);

function searchText(call) {
  call.search ??= clip([call.url, call.target, call.method, call.status || "", call.error?.code ?? "", call.error?.text ?? ""]
    .join("\n"), 20000).toLowerCase();
  return call.search;
}

function headerText(call) {
  const sources = call.entries.flatMap(entry => [entry.request, entry.response]).concat(call.result);
  return sources.flatMap(source => fieldsOf(record(source).headers)).map(field => `${field[0]}: ${field[1]}`).join("\n");
}

const BODY_LIMIT = 2e6;
function bodyMatches(call, value) {
  // An expression searches without a lowercase copy of each body.
  const expression = new RegExp(value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  return call.entries.some(entry => [record(entry.request).postData, record(entry.response).content].some(holds))
    || (record(call.raw).response && holds(call.content));
  function holds(body) {
    const source = record(body);
    const value = source.encoding === "base64" ? "" : text(source.text);
    return expression.test(value.length > BODY_LIMIT ? value.slice(0, BODY_LIMIT) : value);
  }
}

function parseFilter(source, withBodies) {
  const tests = [], problems = [];
  for (const match of source.matchAll(/(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi)) {
    const prefix = (match[2] ?? "").toLowerCase(), make = PREFIXES.get(prefix);
    const word = match[3] ?? match[4];
    let test;
    if (make) {
      test = make(word.toLowerCase());
      if (test === null) { problems.push(`“${line(word, 40)}” is not a valid value for ${line(prefix, 20)}:`); continue; }
    } else {
      const value = (match[2] ? `${match[2]}:${word}` : word).toLowerCase();
      test = call => searchText(call).includes(value) || (withBodies && bodyMatches(call, value));
    }
    tests.push(match[1] ? call => !test(call) : test);
  }
  return { tests, problems };
}

const SORTS = new Map([
  ["start", ["Start", call => call.begin]], ["method", ["Method", call => call.method]],
  ["status", ["Status", call => call.running ? 1000 : call.status]], ["name", ["Call", call => call.name.toLowerCase()]],
  ["host", ["Host", call => call.host]], ["type", ["Type", call => call.type]], ["size", ["Size", call => call.size]],
  ["duration", ["Duration", call => call.duration ?? Infinity]],
]);

function applyFilter(announces) {
  const { tests, problems } = parseFilter($("filter").value, $("bodies").checked);
  $("filter-problem").textContent = problems.join("; ");
  $("filter").setAttribute("aria-invalid", String(problems.length > 0));
  const calls = [...state.calls.values()];
  state.shown = tests.length ? calls.filter(call => tests.every(test => test(call))) : calls;
  const value = SORTS.get(state.sort)[1], sign = state.descending ? -1 : 1;
  const keyed = state.shown.map((call, index) => [value(call), index, call]);
  keyed.sort((a, b) => (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : a[1] - b[1]));
  state.shown = keyed.map(item => item[2]);
  renderChips();
  renderList();
  renderSummary();
  if (state.view === "statistics") renderStatistics();
  if (announces) $("announcement").textContent = `${plural(state.shown.length, "call")} shown`;
}

const CHIPS = [["Failed", "is:failed"], ["Retried", "is:retried"], ["Redirected", "is:redirected"], ["Cached", "is:cached"],
  ["Joined", "is:joined"]];
const filterWords = () => $("filter").value.split(/\s+/).filter(Boolean);

function renderChips() {
  const words = new Set(filterWords());
  for (const chip of $("chips").children) chip.setAttribute("aria-pressed", String(words.has(chip.value)));
}

function toggleWord(word) {
  const words = filterWords();
  setFilter(words.includes(word) ? words.filter(other => other !== word).join(" ") : [...words, word].join(" "));
}

function setFilter(value) {
  $("filter").value = value;
  applyFilter(true);
}

function renderSummary() {
  const calls = state.shown, all = state.calls.size;
  let sum = 0, failed = 0, first = Infinity, end = 0;
  for (const call of calls) {
    sum += call.bytes;
    if (call.failed) failed += 1;
    if (call.begin < first) first = call.begin;
    if (call.begin + (call.duration ?? 0) > end) end = call.begin + (call.duration ?? 0);
  }
  const parts = [calls.length === all ? plural(all, "call") : `${calls.length.toLocaleString("en")} of ${plural(all, "call")}`,
    `${failed.toLocaleString("en")} failed`, bytes(sum), calls.length ? time(end - first) : ""];
  if (state.marked.size) parts.push(`${state.marked.size.toLocaleString("en")} selected`);
  if (state.dropped) parts.push(`${plural(state.dropped, "older call")} dropped`);
  $("summary").textContent = parts.filter(Boolean).join(" · ");
}

// MARK: List

const COLUMNS = ["method", "status", "name", "host", "type", "size", "duration"];
const phone = matchMedia("(max-width: 640px)");
const rowHeight = () => phone.matches ? 56 : 28;
const rowNodes = new Map();

function buildHead() {
  const cell = (id, label) => el("span", { role: "columnheader", class: `c-${id}`, "aria-sort": "none", "data-sort": id },
    button(label, () => sortBy(id), { tabindex: "-1" }));
  const row = el("div", { role: "row", "aria-rowindex": "1", class: "row" },
    el("span", { role: "columnheader", class: "c-mark" }, el("span", { class: "unseen" }, "Selected")),
    COLUMNS.map(id => cell(id, SORTS.get(id)[0])), cell("start", "Waterfall"));
  $("head").append(row);
  for (const [id, [label]] of SORTS) for (const [way, suffix] of [["", "ascending"], ["-", "descending"]])
    $("sort").append(el("option", { value: way + id }, `${label}, ${suffix}`));
}

function sortBy(id) {
  // A second press reverses; sizes and times begin with the largest.
  const large = id === "size" || id === "duration";
  state.descending = state.sort === id ? !state.descending : large;
  state.sort = id;
  sorted();
}

function sorted() {
  for (const cell of $("head").querySelectorAll("[data-sort]")) cell.setAttribute("aria-sort",
    cell.dataset.sort !== state.sort ? "none" : state.descending ? "descending" : "ascending");
  $("sort").value = (state.descending ? "-" : "") + state.sort;
  $("grid").scrollTop = 0;
  applyFilter(false);
}

const statusText = call => call.running ? "…" : call.status > 0 && !call.error ? String(call.status)
  : call.status >= 400 ? String(call.status) : call.status > 0 ? `${call.status} ✕` : "failed";
const statusClass = status => status >= 500 ? "s5" : status >= 400 ? "s4" : status >= 300 ? "s3" : status >= 200 ? "s2" : "s1";
const outcomeClass = call => call.running ? "s1" : call.error || call.status <= 0 ? "s5" : statusClass(call.status);

function tags(call) {
  const found = [];
  if (call.attempts > 1) found.push(plural(call.attempts, "attempt"));
  if (call.hops > 0) found.push(plural(call.hops, "redirect"));
  if (call.refused) found.push("refused");
  if (call.joined) found.push("joined");
  if (call.cached) found.push("cached"); else if (call.source) found.push(line(call.source, 24));
  return found;
}

function rowOf(call) {
  const box = el("input", { type: "checkbox", tabindex: "-1", "aria-label": `Select ${line(call.method, 12)} ${line(call.name, 60)}` });
  const cell = (id, value, title) => el("span", { role: "gridcell", class: `c-${id}`, title: title && line(title, 500) }, value);
  const name = el("span", { class: "name" }, line(call.name));
  const error = call.error ? line(call.error.code || call.error.text, 60) : "";
  const node = el("div", { role: "row", class: "row" },
    el("span", { role: "gridcell", class: "c-mark" }, box),
    cell("method", line(call.method, 12)),
    cell("status", el("span", { class: outcomeClass(call) }, statusText(call)), error),
    cell("name", [name, call.target && el("span", { class: "path" }, line(call.path)),
      error && el("span", { class: "tag bad" }, error), tags(call).map(tag => el("span", { class: "tag" }, tag))], call.url),
    cell("host", line(call.host, 100), call.host), cell("type", line(call.type, 40)),
    cell("size", call.running || !call.status ? "" : bytes(call.size)), cell("duration", call.running ? "running" : time(call.duration)),
    cell("start", el("span", { class: "track" }), ""));
  node.dataset.key = call.key;
  return { node, call, box, bars: barsOf(call, node.querySelector(".track")) };
}

/** The bars of a call: a thin one for the call, and one for each of its exchanges. */
function barsOf(call, track) {
  const bars = [{ node: el("span", { class: call.entries.length ? "thin" : "thick s1" }), start: call.begin, length: call.duration ?? 0 }];
  for (const entry of call.entries.slice(-8)) {
    const status = num(record(entry.response).status), start = Date.parse(text(entry.startedDateTime)) || call.begin;
    const kind = status <= 0 || failureOf(record(entry.response)) ? "s5" : statusClass(status);
    bars.push({ node: el("span", { class: `thick ${kind}` }), start, length: num(entry.time) });
  }
  for (const bar of bars) track.append(bar.node);
  return bars;
}

function renderList() {
  const grid = $("grid"), height = rowHeight(), count = state.shown.length;
  $("rows").style.height = `${count * height}px`;
  grid.setAttribute("aria-rowcount", String(count + 1));
  $("empty").hidden = count > 0;
  $("empty").textContent = state.calls.size ? "No call matches the filter." : state.live ? "No call yet. Calls appear here as they begin."
    : "The recording has no calls.";
  const top = grid.scrollTop, room = grid.clientHeight || 600;
  const first = Math.max(0, Math.floor(top / height) - 6), end = Math.min(count, Math.ceil((top + room) / height) + 6);
  const used = new Set(), onScreen = state.shown.slice(first, end);
  const scale = scaleOf(state.shown.slice(Math.floor(top / height), Math.ceil((top + room) / height)));
  onScreen.forEach((call, offset) => {
    let row = rowNodes.get(call.key);
    if (!row || row.call !== call) {
      row?.node.remove();
      row = rowOf(call);
      rowNodes.set(call.key, row);
    }
    used.add(call.key);
    placeRow(row, first + offset, height, scale);
    if (row.node.parentNode === null) $("rows").append(row.node);
  });
  for (const [key, row] of rowNodes) if (!used.has(key)) { row.node.remove(); rowNodes.delete(key); }
  const active = state.active !== null && rowNodes.get(state.active);
  if (active) grid.setAttribute("aria-activedescendant", active.node.id); else grid.removeAttribute("aria-activedescendant");
}

// By start, the bars of the rows on screen share one time axis. In another order they would be dots, so all begin at 0.
function scaleOf(calls) {
  if (state.sort !== "start") return { first: null, length: Math.max(1, ...calls.map(call => call.duration ?? 0)) };
  const first = Math.min(...calls.map(call => call.begin));
  return { first, length: Math.max(1, ...calls.map(call => call.begin + (call.duration ?? 0) - first)) };
}

function placeRow(row, index, height, scale) {
  const { node, call, box, bars } = row;
  if (row.index !== index) {
    row.index = index;
    node.id = `row-${index}`;
    node.setAttribute("aria-rowindex", String(index + 2));
  }
  node.style.transform = `translateY(${index * height}px)`;
  node.classList.toggle("odd", index % 2 === 1);
  node.classList.toggle("active", call.key === state.active);
  node.setAttribute("aria-selected", String(state.marked.has(call.key)));
  box.checked = state.marked.has(call.key);
  for (const bar of bars) {
    const start = bar.start - (scale.first ?? call.begin);
    bar.node.style.left = `${Math.min(99, Math.max(0, start / scale.length * 100))}%`;
    bar.node.style.width = `${Math.min(100, bar.length / scale.length * 100)}%`;
  }
}

let listFrame = 0;
function renderListSoon() {
  cancelAnimationFrame(listFrame);
  listFrame = requestAnimationFrame(renderList);
}

const activeIndex = () => state.active === null ? -1 : state.shown.findIndex(call => call.key === state.active);

function moveTo(index) {
  if (!state.shown.length) return;
  const bounded = Math.min(state.shown.length - 1, Math.max(0, index)), grid = $("grid"), height = rowHeight();
  state.active = state.shown[bounded].key;
  const head = $("head").offsetHeight, top = bounded * height;
  if (top < grid.scrollTop) grid.scrollTop = top;
  if (top + height > grid.scrollTop + grid.clientHeight - head) grid.scrollTop = top + height - grid.clientHeight + head;
  renderList();
  if (state.open !== null && !phone.matches) openCall(state.active);
}

function mark(key) {
  if (!state.calls.has(key)) return;
  if (!state.marked.delete(key)) state.marked.add(key);
  marked();
}

function marked() {
  $("compare").disabled = state.marked.size !== 2;
  renderList();
  renderSummary();
}

function clickList(event) {
  const row = event.target.closest(".row[data-key]");
  if (!row) return;
  state.active = row.dataset.key;
  if (event.target.closest(".c-mark")) {
    if (event.target.type !== "checkbox") event.preventDefault();
    mark(row.dataset.key);
  } else if (event.ctrlKey || event.metaKey || event.shiftKey) mark(row.dataset.key);
  else openCall(row.dataset.key);
}

// MARK: Bodies

/** Returns the bytes of a base64 text, or null if it is not one. */
function fromBase64(value) {
  try {
    const binary = atob(value), result = new Uint8Array(binary.length);
    for (let index = 0; index < binary.length; index += 1) result[index] = binary.charCodeAt(index);
    return result;
  } catch { return null; }
}

/** Returns the type, the text (null for bytes that are not UTF-8) and the bytes of a HAR body. */
function readBody(source) {
  const body = record(source), mimeType = text(body.mimeType), value = text(body.text);
  if (body.encoding === "base64" || body._encoding === "base64") {
    const data = fromBase64(value);
    if (data) {
      let decoded = null;
      try { decoded = new TextDecoder("utf-8", { fatal: true }).decode(data); } catch { /* Binary. */ }
      if (decoded !== null && decoded.includes("\0")) decoded = null;
      return { mimeType, text: decoded, bytes: data };
    }
  }
  return { mimeType, text: value, bytes: null };
}

const bytesOf = body => body.bytes ?? (body.bytes = new TextEncoder().encode(body.text ?? ""));

const SIGNATURES = new Map([["image/png", /^\x89PNG\r\n\x1a\n/], ["image/jpeg", /^\xff\xd8\xff/], ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/]]);

/** Returns the type of an image that can be shown. SVG is not one of them, because it is a document. */
function imageType(body) {
  if (!body.bytes) return null;
  const start = String.fromCharCode(...body.bytes.subarray(0, 16));
  for (const [type, signature] of SIGNATURES) if (signature.test(start)) return type;
  return null;
}

/**
 * Parses JSON without recursion into nodes {kind, key, raw, items}; returns null if the text is not JSON.
 *
 * JSON.parse would lose the digits of long numbers, the order of members and repeated names.
 */
function parseJSON(source, limit = 200000) {
  const token = /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;
  const root = { kind: "array", key: null, items: [], raw: "" }, stack = [];
  let open = root, key = null, expects = "value", count = 0;
  while (expects !== "end") {
    const match = token.exec(source);
    if (!match || (count += 1) > limit) return null;
    const [, mark, string, scalar] = match;
    if (mark === undefined && expects !== "comma" && expects !== "colon") {
      if (expects === "key" || expects === "firstKey") {
        if (string === undefined) return null;
        [key, expects] = [string, "colon"];
        continue;
      }
      open.items.push({ kind: string === undefined ? "scalar" : "string", key, raw: string ?? scalar, items: null });
      [key, expects] = [null, stack.length ? "comma" : "end"];
    } else if ((mark === "{" || mark === "[") && (expects === "value" || expects === "firstValue")) {
      const node = { kind: mark === "{" ? "object" : "array", key, raw: "", items: [] };
      open.items.push(node);
      stack.push(open);
      [open, key, expects] = [node, null, mark === "{" ? "firstKey" : "firstValue"];
    } else if (mark === ":" && expects === "colon") expects = "value";
    else if (mark === "," && expects === "comma") expects = open.kind === "object" ? "key" : "value";
    else if (mark === (open.kind === "object" ? "}" : "]") && stack.length
      && (expects === "comma" || expects === "firstKey" || expects === "firstValue")) {
      open = stack.pop();
      expects = stack.length ? "comma" : "end";
    } else return null;
  }
  return /^[ \t\r\n]*$/.test(source.slice(token.lastIndex)) ? root.items[0] : null;
}

/** Returns the lines of JSON with two spaces of indentation, members sorted by name if asked. */
function jsonLines(root, limit, sorts = false) {
  const lines = [], stack = [[root, 0, true, false]];
  while (stack.length && lines.length < limit) {
    const [node, depth, last, closes] = stack.pop(), indent = "  ".repeat(Math.min(depth, 60));
    if (closes) { lines.push(indent + (node.kind === "object" ? "}" : "]") + (last ? "" : ",")); continue; }
    const label = node.key === null ? "" : `${node.key}: `;
    if (!node.items || node.items.length === 0) {
      lines.push(indent + label + (node.items ? (node.kind === "object" ? "{}" : "[]") : node.raw) + (last ? "" : ","));
      continue;
    }
    lines.push(indent + label + (node.kind === "object" ? "{" : "["));
    stack.push([node, depth, last, true]);
    const items = sorts && node.kind === "object" ? [...node.items].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)) : node.items;
    for (let index = items.length - 1; index >= 0; index -= 1) stack.push([items[index], depth + 1, index === items.length - 1, false]);
  }
  if (stack.length) lines.push(`… more than ${plural(limit, "line")}`);
  return lines;
}

const STEP = 100;

/** A tree whose rows are siblings: a nested document of 10,000 levels would exhaust the layout. */
function jsonTree(root) {
  const box = el("div", { class: "json" });
  let room = 300;
  const add = (rows, before) => { for (const row of rows) box.insertBefore(row, before); };
  const rowsOf = (node, depth) => {
    const row = el("div", { class: "j" }), rows = [row];
    row.depth = depth;
    // Deeper levels share an indentation and show their number instead.
    row.style.paddingLeft = `${Math.min(depth, 24) * 1.1}em`;
    if (depth > 24) row.append(el("span", { class: "muted" }, `${depth} `));
    if (!node.items) {
      fill(row, el("span", { class: "gap" }), keyOf(node), el("span", { class: `v-${scalarKind(node)}` }, longText(node.raw, 1000)));
      return rows;
    }
    const summary = `${node.kind === "object" ? "{" : "["}${plural(node.items.length, node.kind === "object" ? "member" : "item")}`
      + (node.kind === "object" ? "}" : "]");
    const opens = node.items.length > 0 && depth < 4 && node.items.length <= room;
    const toggle = button("", () => set(toggle.getAttribute("aria-expanded") !== "true"),
      { class: "twist", "aria-expanded": "false", "aria-label": `Members of ${node.key === null ? "this " + node.kind : line(node.key, 60)}` });
    const set = expanded => {
      toggle.setAttribute("aria-expanded", String(expanded));
      while (row.nextSibling && row.nextSibling.depth > depth) row.nextSibling.remove();
      if (expanded) { room = 100; add(itemsOf(node, depth + 1, 0), row.nextSibling); }
    };
    fill(row, node.items.length ? toggle : el("span", { class: "gap" }), keyOf(node), el("span", { class: "muted" }, summary));
    if (opens) {
      toggle.setAttribute("aria-expanded", "true");
      rows.push(...itemsOf(node, depth + 1, 0));
    }
    return rows;
  };
  const itemsOf = (node, depth, from) => {
    const part = node.items.slice(from, from + STEP), rest = node.items.length - from - part.length;
    room -= part.length;
    const rows = part.flatMap((item, offset) => rowsOf(node.kind === "array" ? { ...item, key: String(from + offset), index: true } : item, depth));
    if (rest > 0) {
      const more = el("div", { class: "j" }, button(`Show ${Math.min(STEP, rest)} of ${rest.toLocaleString("en")} more`, () => {
        room = 100;
        add(itemsOf(node, depth, from + STEP), more);
        more.remove();
      }));
      more.depth = depth;
      more.style.paddingLeft = `${Math.min(depth, 24) * 1.1}em`;
      rows.push(more);
    }
    return rows;
  };
  add(rowsOf(root, 0), null);
  return box;
}

const scalarKind = node => node.kind === "string" ? "string" : /^[-\d]/.test(node.raw) ? "number" : "word";
const keyOf = node => node.key === null ? null : [el("span", { class: node.index ? "index" : "key" }, line(node.key, 200)), ": "];

/** Returns the parts of a multipart body as {headers, text}; null if the body has no such boundary. */
function parseMultipart(body) {
  const match = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(body.mimeType);
  if (!match) return null;
  // Latin-1 keeps each byte of a part that is not UTF-8.
  const source = Array.from(bytesOf(body).subarray(0, 4e6), byte => String.fromCharCode(byte)).join("");
  const pieces = ("\r\n" + source).split(`\r\n--${match[1] ?? match[2]}`).slice(1);
  const parts = [];
  for (const piece of pieces.slice(0, 100)) {
    if (piece.startsWith("--")) break;
    const content = piece.replace(/^[ \t]*\r\n/, "");
    const at = content.startsWith("\r\n") ? 0 : content.indexOf("\r\n\r\n");
    if (at < 0) continue;
    const headers = content.slice(0, at).split("\r\n").filter(Boolean).map(field => {
      const colon = field.indexOf(":");
      return [utf8(field.slice(0, colon)), utf8(field.slice(colon + 1).trim())];
    });
    const data = Uint8Array.from(content.slice(at === 0 ? 2 : at + 4), character => character.charCodeAt(0));
    parts.push({ headers, data });
  }
  return parts.length ? parts : null;
}

const utf8 = latin1 => new TextDecoder().decode(Uint8Array.from(latin1, character => character.charCodeAt(0)));

function parseForm(value) {
  return value.split("&").slice(0, 1000).map(pair => {
    const at = pair.indexOf("="), decode = part => {
      try { return decodeURIComponent(part.replaceAll("+", " ")); } catch { return part; }
    };
    return at < 0 ? [decode(pair), ""] : [decode(pair.slice(0, at)), decode(pair.slice(at + 1))];
  });
}

const TEXT_LIMIT = 100000, HEX_LIMIT = 4096;

function textView(value) {
  const pre = el("pre", { tabindex: "0", "aria-label": "Text of the body" }, visible(value.slice(0, TEXT_LIMIT)));
  if (value.length <= TEXT_LIMIT) return pre;
  const box = el("div", {}, pre, button(`Show all ${bytes(value.length)}`, () => box.replaceChildren(
    el("pre", { tabindex: "0", "aria-label": "Text of the body" }, visible(value)))));
  return box;
}

function hexView(data) {
  const pre = el("pre", { class: "hex", tabindex: "0", "aria-label": "Bytes of the body" }), box = el("div", {}, pre);
  let end = 0;
  const more = button("Show more", () => add(4 * HEX_LIMIT));
  const add = count => {
    const lines = [], stop = Math.min(data.length, end + count);
    for (; end < stop; end += 16) {
      const row = [...data.subarray(end, Math.min(stop, end + 16))];
      const codes = row.map(byte => byte.toString(16).padStart(2, "0")).join(" ");
      lines.push(`${end.toString(16).padStart(8, "0")}  ${codes.padEnd(48)} `
        + row.map(byte => byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".").join("") + "\n");
    }
    end = stop;
    pre.append(lines.join(""));
    if (end >= data.length) more.remove(); else box.append(more);
    more.textContent = `Show more of ${bytes(data.length)}`;
  };
  add(HEX_LIMIT);
  return box;
}

function imageView(body, type) {
  const url = URL.createObjectURL(new Blob([body.bytes], { type })), size = el("figcaption", { class: "muted" }, type);
  const image = el("img", { alt: `Body, ${type}` });
  const ended = message => { size.textContent = message; URL.revokeObjectURL(url); };
  image.addEventListener("load", () => ended(`${type}, ${image.naturalWidth} × ${image.naturalHeight}, ${bytes(body.bytes.length)}`));
  image.addEventListener("error", () => ended(`The body is not a valid ${type} image.`));
  image.src = url;
  return el("figure", {}, image, size);
}

function partView(part, index) {
  const type = fieldIn(part.headers, "content-type"), disposition = fieldIn(part.headers, "content-disposition");
  const name = /\bname="?([^";]*)/i.exec(disposition)?.[1] ?? "";
  const body = readBody({ mimeType: type, text: "", encoding: "" });
  body.bytes = part.data;
  try { body.text = new TextDecoder("utf-8", { fatal: true }).decode(part.data); } catch { body.text = null; }
  return el("section", { class: "part" }, el("h4", {}, `Part ${index + 1}${name ? `: ${line(name, 80)}` : ""} · ${bytes(part.data.length)}`),
    fieldTable(part.headers, "Header fields of the part"), bodyView(body, false));
}

/** Returns the ways to show a body, the best first, as [label, function that makes the view]. */
function bodyViews(body, params, nests) {
  const views = [], type = mediaType(body.mimeType), image = imageType(body);
  if (image) views.push(["Image", () => imageView(body, image)]);
  const parts = nests && /^multipart\//i.test(body.mimeType) ? parseMultipart(body) : null;
  if (parts) views.push(["Parts", () => parts.map(partView)]);
  if (params.length) views.push(["Form", () => fieldTable(params, "Form")]);
  else if (body.text && type === "form" && !/^multipart/i.test(body.mimeType)) views.push(["Form", () => fieldTable(parseForm(body.text), "Form")]);
  if (body.text && (type === "json" || /^\s*[{[]/.test(body.text))) {
    const root = parseJSON(body.text);
    if (root && (type === "json" || root.items)) {
      views.push(["Tree", () => jsonTree(root)], ["Formatted", () => textView(jsonLines(root, 20000).join("\n"))]);
    }
  }
  if (body.text) views.push(["Text", () => textView(body.text)]);
  if (body.text || body.bytes?.length) views.push(["Bytes", () => hexView(bytesOf(body))]);
  return views;
}

function bodyView(body, nests = true, params = []) {
  const views = bodyViews(body, params, nests), content = el("div", {});
  if (!views.length) return muted("No body.");
  const show = index => {
    content.replaceChildren(...[views[index][1]()].flat());
    [...choices.children].forEach((choice, other) => choice.setAttribute("aria-pressed", String(other === index)));
  };
  const choices = el("div", { class: "switch", role: "group", "aria-label": "View of the body" },
    views.map(([label], index) => button(label, () => show(index))));
  show(0);
  return el("div", { class: "body" }, choices, content);
}

function fieldTable(fields, caption) {
  if (!fields.length) return muted("None.");
  return table(el("span", { class: "unseen" }, caption), ["Name", "Value"],
    fields.slice(0, 1000).map(([name, value]) => [line(name, 500), longText(value)]), { class: "fields" });
}

// MARK: Call

const TABS = [["overview", "Overview"], ["timeline", "Timeline"], ["request", "Request"], ["response", "Response"], ["curl", "cURL"]];

// Written for the reader; the code of the reason is shown beside it.
const REASONS = new Map([
  ["methodNotIdempotent", "The server may have processed the request, and its method is not idempotent."],
  ["bodyNotReplayable", "The body has been read and is not replayable."],
  ["attemptsUsedUp", "The maximum number of attempts has been made."],
  ["retryAfterTooLong", "The server asks for a longer wait than is allowed."],
  ["deadline", "The deadline of the call passes before the next attempt could begin."],
  ["budget", "Too many of the recent calls to this host were retried."],
  ["offline", "The network did not return in time."],
  ["disabled", "The redirect policy follows no redirects."],
  ["location", "Location is missing, repeated, or not an http or https URL."],
  ["downgrade", "The redirect leads from https to http."],
  ["filter", "The filter of the redirect policy refused the redirect."],
]);
const reason = code => el("span", {}, el("code", {}, line(code, 80)), REASONS.has(code) ? ` – ${REASONS.get(code)}` : "");

function buildTabs() {
  TABS.forEach(([id, label], index) => $("tabs").append(button(label, () => showTab(id),
    { role: "tab", id: `tab-${id}`, "aria-controls": "panel", title: `${label} (${index + 1})` })));
  $("tabs").addEventListener("keydown", event => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const index = TABS.findIndex(tab => tab[0] === state.tab);
    showTab(TABS[(index + step + TABS.length) % TABS.length][0]);
    $(`tab-${state.tab}`).focus();
    event.preventDefault();
    event.stopPropagation();
  });
}

function openCall(key, focuses = false) {
  const call = state.calls.get(key);
  if (!call) return;
  const changed = state.open !== key;
  state.open = key;
  state.active = key;
  showView("calls");
  $("detail").hidden = $("splitter").hidden = false;
  $("main").classList.add("split");
  renderDetail(call, changed);
  renderList();
  if (focuses || phone.matches) $("detail-title").focus();
}

function closeCall() {
  if (state.open === null) return;
  state.open = null;
  $("detail").hidden = $("splitter").hidden = true;
  $("main").classList.remove("split");
  renderList();
  $("grid").focus();
}

function showTab(id) {
  state.tab = id;
  const call = state.calls.get(state.open);
  if (call) renderDetail(call, true);
}

function renderDetail(call, fromTop) {
  const panel = $("panel"), scroll = panel.scrollTop;
  $("detail-title").replaceChildren(
    el("span", { class: outcomeClass(call) }, call.running ? "running" : statusText(call)), ` ${line(call.method, 20)} ${line(call.name, 200)}`);
  for (const [tab] of TABS) {
    $(`tab-${tab}`).setAttribute("aria-selected", String(tab === state.tab));
    $(`tab-${tab}`).tabIndex = tab === state.tab ? 0 : -1;
  }
  panel.setAttribute("aria-labelledby", `tab-${state.tab}`);
  const render = { overview: overview, timeline, request: requestTab, response: responseTab, curl: curlTab }[state.tab];
  panel.replaceChildren(...[render(call)].flat().filter(Boolean));
  panel.scrollTop = fromTop ? 0 : scroll;
}

function errorView(error) {
  return el("div", { class: "problem" }, el("h3", {}, "Error"), facts([
    ["Code", line(error.code, 200)], ["Text", longText(error.text)], ["Plugin", line(error.plugin, 200)]]));
}

const callLink = key => button(`Call ${line(String(key), 40)}`, () => openCall(String(key)), { disabled: !state.calls.has(String(key)) });

function overview(call) {
  const last = record(call.entries.at(-1)), children = [];
  for (const other of state.calls.values()) if (String(other.parent ?? "") === call.key) children.push(other.key);
  return [
    call.error && errorView(call.error),
    section("Call", facts([
      ["URL", longText(call.url)], ["Method", line(call.method, 40)], ["Target", line(call.target)],
      ["Status", call.status ? `${call.status} ${line(text(call.result.statusText))}` : ""],
      ["Started", clock(call.begin)], ["Duration", call.running ? "running" : time(call.duration)],
      ["Response", `${bytes(call.size)}${text(call.content.mimeType) ? `, ${line(text(call.content.mimeType), 200)}` : ""}`],
      ["Joined", call.joined && "The call joined another call in flight and shares its response."],
      ["Source", call.source && (call.source === "cache" ? "The cache responded." : `The plugin ${line(call.source)} responded.`)],
      ["Cache-Status", line(call.cacheStatus)], ["Cache", line(text(record(last.cache).comment))],
      ["Protocol", line(text(record(last.response).httpVersion) || text(record(last.request).httpVersion))],
      ["Server address", line(text(last.serverIPAddress))], ["Connection", line(text(last.connection))],
      ["Number", line(call.key, 80)],
      ["Started by", call.parent !== null && call.parent !== undefined && callLink(call.parent)],
      ["Calls inside", children.length > 0 && children.slice(0, 50).map(callLink)],
    ])),
    section("Exchanges", exchangeTable(call)),
  ];
}

function exchangeTable(call) {
  if (!call.entries.length) return muted("None. The call was made without the network.");
  return table(null, ["Attempt", "Redirects", "Request", "Outcome", "Duration"], call.entries.map(entry => {
    const place = record(entry._pipeline), response = record(entry.response), failure = failureOf(response);
    const status = num(response.status), url = text(record(entry.request).url);
    return [String(num(place.attempt, 1)), String(num(place.hop)), `${line(text(record(entry.request).method), 20)} ${line(url, 500)}`,
      [el("span", { class: failure || status <= 0 ? "s5" : statusClass(status) }, status > 0 ? String(status) : "failed"),
        failure && ` ${line(failure.code, 80)}${failure.text && failure.text !== failure.code ? `: ${line(failure.text)}` : ""}`,
        text(place.refusedRetry) && el("p", {}, "Not retried: ", reason(text(place.refusedRetry))),
        text(place.refusedRedirect) && el("p", {}, "Redirect not followed: ", reason(text(place.refusedRedirect)))].filter(Boolean),
      time(num(entry.time))];
  }), { class: "exchanges" });
}

/** Lets the reader choose an exchange of a call; `result` adds what the caller got. */
function exchangePicker(call, result) {
  const options = call.entries.map((entry, index) => [String(index), exchangeLabel(entry, index, call.entries.length)]);
  if (result) options.push(["result", "Response to the caller"]);
  const wanted = state.exchange.get(call.key);
  const chosen = options.some(option => option[0] === wanted) ? wanted : result ? "result" : String(call.entries.length - 1);
  const select = el("select", { id: "exchange" }, options.map(([value, label]) => el("option", { value, selected: value === chosen }, label)));
  select.addEventListener("change", () => {
    state.exchange.set(call.key, select.value);
    renderDetail(call, true);
    $("exchange").focus();
  });
  return [options.length > 1 ? el("p", {}, el("label", {}, "Exchange ", select)) : null, chosen];
}

function exchangeLabel(entry, index, count) {
  const place = record(entry._pipeline), status = num(record(entry.response).status), hop = num(place.hop);
  return `${index + 1} of ${count}: attempt ${num(place.attempt, 1)}${hop ? `, redirect ${hop}` : ""}, ${status > 0 ? status : "failed"}`;
}

const pairsOf = value => fieldsOf(value);

function requestTab(call) {
  if (!call.entries.length) return muted("The call sent no request over the network.");
  const [picker, chosen] = exchangePicker(call, false), entry = record(call.entries[chosen]), request = record(entry.request);
  const post = record(request.postData), query = pairsOf(request.queryString), cookies = pairsOf(request.cookies);
  const note = text(record(entry._pipeline).bodyNote);
  const params = list(post.params).map(param => [text(param.name), text(param.fileName) ? `${text(param.value)} (file ${text(param.fileName)})`.trim()
    : text(param.value)]);
  return [picker, section("Request", facts([["Method", line(text(request.method), 40)], ["URL", longText(text(request.url))],
    ["Protocol", line(text(request.httpVersion), 40)]])),
    query.length > 0 && section("Query", fieldTable(query, "Query")),
    section("Header fields", fieldTable(fieldsOf(request.headers), "Header fields of the request")),
    cookies.length > 0 && section("Cookies", fieldTable(cookies, "Cookies")),
    section("Body", note && muted(line(note)), bodyView(readBody(post), true, params))];
}

function responseTab(call) {
  const own = record(call.raw).response;
  if (!call.entries.length && !own) return muted(call.running ? "The call has no response yet." : "The call has no response.");
  const [picker, chosen] = exchangePicker(call, own), entry = record(call.entries[chosen]);
  const response = chosen === "result" || !call.entries.length ? record(own) : record(entry.response);
  const failure = failureOf(response), cookies = pairsOf(response.cookies), trailers = fieldsOf(response._trailers);
  const note = text(record(entry._pipeline).bodyNote), status = num(response.status);
  return [picker, failure && errorView(failure),
    section("Response", facts([["Status", status > 0 && `${status} ${line(text(response.statusText))}`],
      ["Protocol", line(text(response.httpVersion), 40)], ["Redirect to", line(text(response.redirectURL), 2000)],
      ["Size", `${bytes(Math.max(0, num(record(response.content).size)))}`
        + (num(response.bodySize, -1) >= 0 ? `, ${bytes(response.bodySize)} on the wire` : "")]])),
    section("Header fields", fieldTable(fieldsOf(response.headers), "Header fields of the response")),
    cookies.length > 0 && section("Cookies", fieldTable(cookies, "Cookies")),
    section("Body", note && muted(line(note)), bodyView(readBody(response.content))),
    trailers.length > 0 && section("Trailer fields", fieldTable(trailers, "Trailer fields"))];
}

// MARK: Timeline

const KINDS = new Map([["call", "call"], ["encode", "coding"], ["decode", "coding"], ["wire", "wire"], ["phase", "phase"], ["wait", "wait"]]);
const PHASES = [["blocked", "waiting for a connection"], ["dns", "name lookup"], ["connect", "connect"], ["ssl", "TLS"], ["send", "send"],
  ["wait", "wait for the response"], ["receive", "receive"]];

/** Returns the spans of a call, from its timeline or else from the timings of its entries. */
function spansOf(call) {
  const sources = [record(call.raw).spans, ...call.entries.map(entry => record(entry._pipeline).spans)].map(list);
  const longest = sources[0].length ? sources[0] : sources.reduce((a, b) => (b.length > a.length ? b : a), []);
  const total = call.duration ?? Math.max(0, Date.now() - call.begin);
  const spans = longest.slice(0, 2000).map(span => ({
    id: text(span.id), parent: text(span.parent), kind: text(span.kind), name: text(span.name), start: Math.max(0, num(span.start)),
    duration: typeof span.duration === "number" ? Math.max(0, num(span.duration)) : null, outcome: text(span.outcome),
    attempt: num(span.attempt), hop: num(span.hop),
  }));
  return { spans: spans.length ? spans : spansOfTimings(call, total), total: Math.max(total, 0.001, ...spans.map(span => span.start + (span.duration ?? 0))) };
}

function spansOfTimings(call, total) {
  const spans = [{ id: "0", parent: "", kind: "call", name: call.name, start: 0, duration: call.duration, outcome: statusText(call) }];
  call.entries.slice(0, 200).forEach((entry, index) => {
    const start = Math.max(0, (Date.parse(text(entry.startedDateTime)) || call.begin) - call.begin), id = `${index + 1}`;
    const response = record(entry.response), request = record(entry.request), timings = record(entry.timings), place = record(entry._pipeline);
    spans.push({ id, parent: "0", kind: "wire", name: `${text(request.method)} ${hostAndPath(text(request.url)).join("")}`, start,
      duration: num(entry.time), outcome: failureOf(response)?.code ?? text(response.status), attempt: num(place.attempt, 1), hop: num(place.hop) });
    let at = start;
    for (const [name, label] of PHASES) {
      const length = num(timings[name], -1);
      if (length < 0) continue;
      // In HAR, the time of the TLS handshake is part of that of the connection.
      const begin = name === "ssl" ? Math.max(start, at - length) : at;
      spans.push({ id: `${id} ${name}`, parent: id, kind: "phase", name: label, start: begin, duration: length, outcome: "" });
      if (name !== "ssl") at += length;
    }
  });
  return spans;
}

/** Returns the spans in the order of a tree, each with its depth. A span in a cycle becomes a root. */
function treeOf(spans) {
  const children = new Map(), ids = new Set(spans.map(span => span.id)), seen = new Set(), rows = [];
  for (const span of spans) {
    const parent = span.parent !== span.id && ids.has(span.parent) ? span.parent : null;
    if (children.has(parent)) children.get(parent).push(span); else children.set(parent, [span]);
  }
  const visit = (roots, depth) => {
    const stack = roots.map(span => [span, depth]).reverse();
    while (stack.length) {
      const [span, level] = stack.pop();
      if (seen.has(span)) continue;
      seen.add(span);
      const own = children.get(span.id) ?? [];
      rows.push({ span, depth: level, parent: own.some(child => !seen.has(child)) });
      for (let index = own.length - 1; index >= 0; index -= 1) stack.push([own[index], level + 1]);
    }
  };
  visit(children.get(null) ?? [], 0);
  for (const span of spans) if (!seen.has(span)) visit([span], 0);
  return rows;
}

/** Pairs the spans of exchanges with entries, by attempt and hop or else by order. */
function entryOf(call, spans) {
  const wires = spans.filter(span => span.kind === "wire"), pairs = new Map();
  wires.forEach((span, index) => pairs.set(span, call.entries.find(entry => span.attempt > 0
    && num(record(entry._pipeline).attempt, 1) === span.attempt && num(record(entry._pipeline).hop) === span.hop) ?? call.entries[index]));
  return pairs;
}

function spanNotes(span, entry) {
  const place = record(record(entry)._pipeline), notes = [];
  if (span.kind !== "wire") return notes;
  if (span.attempt > 1) notes.push(`attempt ${span.attempt}`);
  if (span.hop > 0) notes.push(`redirect ${span.hop}`);
  if (text(place.refusedRetry)) notes.push(`not retried: ${line(text(place.refusedRetry), 80)}`);
  if (text(place.refusedRedirect)) notes.push(`redirect not followed: ${line(text(place.refusedRedirect), 80)}`);
  return notes;
}

function timeline(call) {
  const { spans, total } = spansOf(call), pairs = entryOf(call, spans), rows = treeOf(spans);
  const body = el("tbody", {});
  for (const row of rows) { spanRow(row, total, spanNotes(row.span, pairs.get(row.span)), () => fold(rows)); body.append(row.node); }
  fold(rows);
  const ticks = el("span", { class: "ticks" }, [0, 0.25, 0.5, 0.75].map(part => el("span", {}, time(total * part))));
  const head = [["Span", null, "t-name"], [ticks, "Time", "t-bar"], ["Start", null, "t-time"], ["Duration", null, "t-time"], ["Outcome", null, "t-out"]];
  const dropped = num(record(call.raw).droppedSpans);
  return [
    call.joined && muted("The call joined another call in flight and shares its response. Its exchanges are those of the other call."),
    call.cached && muted(`The response is from the cache. ${line(call.cacheStatus)}`),
    !call.cached && call.source && muted(`The plugin ${line(call.source)} responded without an exchange.`),
    el("table", { class: "timeline" }, el("caption", { class: "unseen" }, "Spans of the call"),
      el("thead", {}, el("tr", {}, head.map(([label, name, kind]) => el("th", { scope: "col", class: kind, "aria-label": name }, label)))), body),
    dropped > 0 && muted(`${plural(dropped, "span")} more were not recorded.`)];
}

function spanRow(row, total, notes, refold) {
  const { span, depth } = row, kind = KINDS.get(span.kind) ?? "plugin", length = span.duration ?? Math.max(0, total - span.start);
  const label = `${line(span.kind, 20)} ${line(span.name, 200)}`;
  const toggle = row.parent ? button("", () => { row.folded = !row.folded; refold(); }, { class: "twist", "aria-label": `Spans in ${label}` })
    : el("span", { class: "gap" });
  const bar = el("span", { class: `span k-${kind}` }), name = el("div", { class: "t-label" }, toggle,
    el("span", { class: `kind k-${kind}` }, line(span.kind, 20)), " ", el("span", { class: "name" }, line(span.name, 200)),
    notes.map(item => el("span", { class: "tag" }, item)));
  bar.style.left = `${Math.min(100, span.start / total * 100)}%`;
  bar.style.width = `${Math.min(100, length / total * 100)}%`;
  name.style.paddingLeft = `${Math.min(depth, 16) * 0.9}em`;
  row.toggle = row.parent ? toggle : null;
  const bad = /^[45]\d\d$/.test(span.outcome) || (/\D/.test(span.outcome) && span.outcome !== "…");
  row.node = el("tr", { title: `${label}\nstart ${time(span.start)}, duration ${span.duration === null ? "running" : time(span.duration)}`
    + (span.outcome ? `\n${line(span.outcome, 200)}` : "") },
    el("th", { scope: "row", class: "t-name" }, name), el("td", { class: "t-bar" }, el("span", { class: "lane" }, bar)),
    el("td", { class: "t-time" }, time(span.start)), el("td", { class: "t-time" }, span.duration === null ? "running" : time(span.duration)),
    el("td", { class: "t-out" }, el("span", { class: bad ? "s5" : "" }, line(span.outcome, 80))));
}

function fold(rows) {
  let hidden = Infinity;
  for (const row of rows) {
    if (row.depth <= hidden) hidden = Infinity;
    row.node.hidden = row.depth > hidden;
    if (row.folded && hidden === Infinity) hidden = row.depth;
    row.toggle?.setAttribute("aria-expanded", String(!row.folded));
  }
}

// MARK: cURL

// Inside $'…', octal bytes mean the same in every shell that has it; a hidden character would differ from what is seen.
function shellWord(value) {
  const wellFormed = value.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
  const plain = new RegExp(UNSEEN.source + "|[\\t\\r\\n]").test(wellFormed) === false;
  if (plain) return `'${wellFormed.replaceAll("'", "'\\''")}'`;
  const codes = character => [...new TextEncoder().encode(character)].map(byte => "\\" + byte.toString(8).padStart(3, "0")).join("");
  return `$'${wellFormed.replace(/[\\']/g, "\\$&").replace(UNSEEN, codes).replace(/[\t\r\n]/g, codes)}'`;
}

/** Returns the cURL command of an entry, or the reason why there is none. */
function curlOf(entry) {
  const ready = text(record(record(entry)._pipeline).curl);
  if (ready) return { command: ready };
  const request = record(record(entry).request), url = text(request.url), method = text(request.method) || "GET";
  if (!/^https?:\/\//i.test(url)) return { reason: "There is no cURL command, because the URL is not an http or https URL." };
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(method)) return { reason: "There is no cURL command, because the method is not valid." };
  const body = readBody(request.postData), hasBody = body.text ? true : Boolean(body.bytes?.length);
  const words = ["curl", "--globoff"];
  if (method === "HEAD") words.push("--head");
  else if (method !== (hasBody ? "POST" : "GET")) words.push("--request", shellWord(method));
  for (const [name, value] of fieldsOf(request.headers)) {
    // Without a token as its name, `--header` could name a file or an option.
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /^(content-length|transfer-encoding)$/i.test(name) || /[\r\n\0]/.test(value)) continue;
    if (/^accept-encoding$/i.test(name) && /gzip|br|deflate/.test(value)) { words.push("--compressed"); continue; }
    words.push("--header", shellWord(value.trim() ? `${name}: ${value}` : `${name};`));
  }
  let before = "";
  if (hasBody && (body.text === null || body.text.includes("\0"))) {
    before = `printf %s '${btoa(Array.from(bytesOf(body), byte => String.fromCharCode(byte)).join(""))}' | base64 -d | `;
    words.push("--data-binary", "@-");
  } else if (hasBody) words.push("--data-raw", shellWord(body.text));
  words.push("--url", shellWord(url));
  return { command: before + words.join(" ").replace(/ --/g, " \\\n  --").replace("curl \\\n  --globoff", "curl --globoff") };
}

function curlTab(call) {
  if (!call.entries.length) return muted("The call sent no request over the network.");
  const [picker, chosen] = exchangePicker(call, false), { command, reason } = curlOf(call.entries[chosen]);
  if (!command) return [picker, muted(reason)];
  return [picker, el("p", {}, button("Copy", () => copyText(command))),
    el("pre", { id: "command", tabindex: "0", "aria-label": "cURL command" }, command)];
}

async function copyText(value) {
  try {
    await navigator.clipboard.writeText(value);
    note("Copied.");
  } catch {
    const shown = $("command");
    if (!shown) return note("The browser does not allow copying.");
    getSelection().selectAllChildren(shown);
    note(document.execCommand?.("copy") ? "Copied." : "The command is selected. Copy it with the keys of your system.");
  }
}

function copyCurl() {
  const call = state.calls.get(state.open ?? state.active);
  if (!call?.entries.length) return note("The call has no cURL command.");
  const wanted = call.entries[state.exchange.get(call.key)] ?? call.entries.at(-1), { command, reason } = curlOf(wanted);
  if (command) copyText(command); else note(reason);
}

// MARK: Export

/** Returns calls as a HAR document, with each entry as it was in the data. */
function harOf(calls) {
  const log = { version: "1.2", creator: record(state.log).creator ?? { name: "Pipeline", version: "" } };
  for (const name of ["browser", "pages", "comment"]) if (state.log[name] !== undefined) log[name] = state.log[name];
  log.entries = calls.flatMap(call => call.entries);
  const raws = calls.map(call => call.raw).filter(Boolean);
  if (raws.length) log._pipeline = { calls: raws, live: false, version: state.version, droppedCalls: state.dropped };
  return { log };
}

function download(calls, name) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(harOf(calls), null, 1)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
  note(`Exported ${plural(calls.length, "call")}.`);
}

const byStart = calls => [...calls].sort((a, b) => a.begin - b.begin);
const markedCalls = () => [...state.marked].map(key => state.calls.get(key)).filter(Boolean);

function prepareExports(event) {
  const set = (id, label, count) => {
    $(id).textContent = `${label} (${count.toLocaleString("en")})`;
    $(id).disabled = count === 0;
  };
  set("export-all", "All calls", state.calls.size);
  set("export-shown", "Filtered calls", state.shown.length);
  set("export-selected", "Selected calls", state.marked.size);
  if (event.newState !== "open") return;
  const place = $("export").getBoundingClientRect();
  $("exports").style.top = `${place.bottom + 4}px`;
  $("exports").style.right = `${Math.max(4, innerWidth - place.right)}px`;
}

// MARK: Comparison

/** Returns the lines of two texts as [mark, line] by Myers's algorithm; null if they differ in too many lines. */
function diffLines(before, after, limit = 1500) {
  let head = 0, tail = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const a = before.slice(head, before.length - tail), b = after.slice(head, after.length - tail), trace = [];
  const furthest = new Map([[1, 0]]);
  search: for (let edits = 0; edits <= a.length + b.length; edits += 1) {
    if (edits > limit) return null;
    trace.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = diagonal === -edits || (diagonal !== edits && furthest.get(diagonal - 1) < furthest.get(diagonal + 1));
      let x = down ? furthest.get(diagonal + 1) : furthest.get(diagonal - 1) + 1, y = x - diagonal;
      while (x < a.length && y < b.length && a[x] === b[y]) { x += 1; y += 1; }
      furthest.set(diagonal, x);
      if (x >= a.length && y >= b.length) break search;
    }
  }
  const result = [];
  let x = a.length, y = b.length;
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const old = trace[edits], diagonal = x - y;
    const down = diagonal === -edits || (diagonal !== edits && old.get(diagonal - 1) < old.get(diagonal + 1));
    const from = down ? diagonal + 1 : diagonal - 1, oldX = old.get(from), oldY = oldX - from;
    while (x > Math.max(0, oldX) && y > Math.max(0, oldY)) { result.push([" ", a[x - 1]]); x -= 1; y -= 1; }
    if (edits > 0) result.push(down ? ["+", b[y - 1]] : ["-", a[x - 1]]);
    [x, y] = [oldX, oldY];
  }
  const same = value => [" ", value];
  return [...before.slice(0, head).map(same), ...result.reverse(), ...before.slice(before.length - tail).map(same)];
}

function linesOf(body) {
  const json = body.text ? parseJSON(body.text) : null;
  if (json?.items) return { kind: "JSON", lines: jsonLines(json, 20000, true) };
  if (body.text !== null) return { kind: "text", lines: body.text.split("\n").slice(0, 20000) };
  return { kind: "bytes", lines: [] };
}

function bodyDiff(first, second) {
  const a = linesOf(first), b = linesOf(second);
  if (!first.text && !second.text && !first.bytes && !second.bytes) return muted("Neither has a body.");
  if (a.kind === "bytes" || b.kind === "bytes") {
    const left = bytesOf(first), right = bytesOf(second);
    const same = left.length === right.length && left.every((byte, index) => byte === right[index]);
    return muted(same ? "The bodies are equal." : `The bodies differ: ${bytes(left.length)} and ${bytes(right.length)}, not both text.`);
  }
  if (a.kind === b.kind && a.lines.length === b.lines.length && a.lines.every((value, index) => value === b.lines[index])) {
    return muted(a.kind === "JSON" && first.text !== second.text ? "The JSON is equal; its layout or the order of its members differs." : "The bodies are equal.");
  }
  const lines = diffLines(a.lines, b.lines);
  if (!lines) return muted("The bodies differ in too many lines to compare them line by line.");
  const box = el("div", { class: "diff", role: "group", "aria-label": "Differences of the bodies", tabindex: "0" }), near = lines.map(() => false);
  lines.forEach(([mark], index) => { if (mark !== " ") near.fill(true, Math.max(0, index - 3), index + 4); });
  let skipped = 0;
  const flush = () => { if (skipped) box.append(el("div", { class: "muted" }, `… ${plural(skipped, "equal line")}`)); skipped = 0; };
  lines.slice(0, 20000).forEach(([mark, value], index) => {
    if (!near[index]) { skipped += 1; return; }
    flush();
    box.append(el(mark === "+" ? "ins" : mark === "-" ? "del" : "div", {}, `${mark} ${visible(clip(value, 2000))}`));
  });
  flush();
  return box;
}

function differenceTable(caption, rows) {
  const differing = rows.filter(row => row[1] !== row[2]).length;
  const body = rows.map(([name, a, b]) => el("tr", { class: a === b ? "" : "differs" }, el("th", { scope: "row" }, line(name, 200)),
    el("td", {}, a === b ? "=" : "≠"), el("td", {}, a === null ? el("span", { class: "muted" }, "absent") : longText(a)),
    el("td", {}, b === null ? el("span", { class: "muted" }, "absent") : longText(b))));
  return section(`${caption}: ${differing ? plural(differing, "difference") : "equal"}`, rows.length ? el("table", { class: "compare" },
    el("caption", { class: "unseen" }, caption),
    el("thead", {}, el("tr", {}, ["Name", "", "First call", "Second call"].map((head, index) =>
      el("th", { scope: "col", "aria-label": index === 1 ? "Equal or not" : null }, head)))), el("tbody", {}, body)) : muted("None."));
}

function fieldDifferences(a, b) {
  const collect = fields => {
    const result = new Map();
    for (const [name, value] of fields) {
      const key = name.toLowerCase();
      result.set(key, result.has(key) ? `${result.get(key)}, ${value}` : value);
    }
    return result;
  };
  const first = collect(a), second = collect(b);
  return [...new Set([...first.keys(), ...second.keys()])].sort().map(name => [name, first.get(name) ?? null, second.get(name) ?? null]);
}

function compareMarked() {
  const pair = byStart(markedCalls());
  if (pair.length !== 2) return;
  const parts = pair.map(call => {
    const request = record(record(call.entries.at(-1)).request);
    return { call, request, facts: [call.method, call.url, call.target, call.running ? "running" : statusText(call), call.error?.code ?? "", clock(call.begin),
      call.running ? "running" : time(call.duration), bytes(call.size), String(call.attempts), String(call.hops), call.cacheStatus] };
  });
  const [a, b] = parts, names = ["Method", "URL", "Target", "Status", "Error", "Started", "Duration", "Size", "Attempts", "Redirects", "Cache-Status"];
  $("comparison-body").replaceChildren(
    differenceTable("Calls", names.map((name, index) => [name, a.facts[index], b.facts[index]]).filter(row => row[1] || row[2])),
    differenceTable("Header fields of the requests", fieldDifferences(fieldsOf(a.request.headers), fieldsOf(b.request.headers))),
    section("Bodies of the requests", bodyDiff(readBody(a.request.postData), readBody(b.request.postData))),
    differenceTable("Header fields of the responses", fieldDifferences(fieldsOf(a.call.result.headers), fieldsOf(b.call.result.headers))),
    section("Bodies of the responses", bodyDiff(readBody(a.call.content), readBody(b.call.content))));
  showView("comparison");
  $("comparison-title").focus();
}

// MARK: Statistics

/** Returns the value that a share of the sorted values does not exceed (nearest rank). */
const percentile = (sorted, share) => sorted.length ? sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] : null;

function statisticsOf(calls, name) {
  const groups = new Map();
  for (const call of calls) {
    if (call.running) continue;
    const key = name(call);
    if (!groups.has(key)) groups.set(key, { name: key, count: 0, failed: 0, bytes: 0, times: [] });
    const group = groups.get(key);
    group.count += 1;
    group.failed += call.failed ? 1 : 0;
    group.bytes += call.bytes;
    group.times.push(call.duration);
  }
  return [...groups.values()].map(group => {
    const times = Float64Array.from(group.times).sort();
    return { ...group, rate: group.failed / group.count, p50: percentile(times, 0.5), p95: percentile(times, 0.95), p99: percentile(times, 0.99) };
  });
}

const STATISTICS = [["name", "Name"], ["count", "Calls"], ["failed", "Failed"], ["rate", "Error rate"], ["p50", "p50"], ["p95", "p95"], ["p99", "p99"],
  ["bytes", "Bytes"]];
const statisticsSort = { column: "count", descending: true };

function statisticsTable(caption, prefix, groups) {
  const { column, descending } = statisticsSort, sign = descending ? -1 : 1;
  groups.sort((a, b) => (a[column] < b[column] ? -sign : a[column] > b[column] ? sign : 0));
  const show = group => button(line(group.name, 200) || "(none)", () => {
    setFilter(`${prefix}:"${group.name}"`);
    showView("calls");
    $("grid").focus();
  }, { title: "Show its calls", disabled: group.name === "" || group.name.includes('"') });
  const head = STATISTICS.map(([id, label]) => el("th", { scope: "col", "aria-sort": column !== id ? "none" : descending ? "descending" : "ascending" },
    button(id === "name" ? caption : label, () => {
      statisticsSort.descending = column === id ? !descending : id !== "name";
      statisticsSort.column = id;
      renderStatistics();
    })));
  return section(`By ${caption.toLowerCase()}`, el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": `Statistics by ${caption.toLowerCase()}` },
    el("table", { class: "numbers" }, el("thead", {}, el("tr", {}, head)),
      el("tbody", {}, groups.slice(0, 200).map(group => el("tr", {}, el("th", { scope: "row" }, show(group)),
        [group.count.toLocaleString("en"), group.failed.toLocaleString("en"), el("span", { class: group.failed ? "s5" : "" }, `${(group.rate * 100).toFixed(1)} %`),
          time(group.p50), time(group.p95), time(group.p99), bytes(group.bytes)].map(cell => el("td", {}, cell))))))),
  groups.length > 200 && muted(`${plural(groups.length - 200, "more row")} not shown. Filter the calls to see them.`));
}

function renderStatistics() {
  const ended = state.shown.filter(call => !call.running).length;
  const targets = state.shown.filter(call => call.target);
  $("statistics-body").replaceChildren(
    muted(`Of ${plural(ended, "ended call")} that the filter shows. A call with an error or a status of 400 or higher is failed. `
      + "Percentiles are of the whole call, with its retries."),
    statisticsTable("Host", "host", statisticsOf(state.shown, call => call.host)),
    targets.length > 0 ? statisticsTable("Target", "target", statisticsOf(targets, call => call.target)) : "");
}

function showView(name) {
  state.view = name;
  $("list").hidden = name !== "calls";
  $("detail").hidden = $("splitter").hidden = name !== "calls" || state.open === null;
  $("statistics").hidden = name !== "statistics";
  $("comparison").hidden = name !== "comparison";
  $("main").className = name + (name === "calls" && state.open !== null ? " split" : "");
  $("show-calls").setAttribute("aria-pressed", String(name === "calls"));
  $("show-statistics").setAttribute("aria-pressed", String(name === "statistics"));
  if (name === "statistics") renderStatistics();
  if (name === "calls") renderList();
}

// MARK: Live

const live = { timer: 0, failures: 0, busy: false };

function renderConnection() {
  const down = live.failures > 0;
  $("connection").hidden = $("pause").hidden = !state.live;
  $("connection").className = down ? "down" : state.paused ? "" : "up";
  $("connection").textContent = down ? "Disconnected" : state.paused ? "Paused" : "Live";
  $("reconnect").hidden = !down;
}

function schedule() {
  clearTimeout(live.timer);
  if (state.live && !state.paused && document.visibilityState === "visible") {
    live.timer = setTimeout(poll, live.failures ? Math.min(5000, 500 * 2 ** live.failures) : 500);
  }
}

async function poll() {
  if (live.busy) return;
  live.busy = true;
  try {
    const response = await fetch(`data?after=${state.version}`, { cache: "no-store", credentials: "omit", redirect: "error" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    applyChange(await response.json());
    live.failures = 0;
  } catch {
    live.failures += 1;
  }
  live.busy = false;
  renderConnection();
  schedule();
}

function applyChange(document) {
  const { own, calls } = readDocument(document), grid = $("grid");
  const removed = Array.isArray(own.removed) ? own.removed.map(String) : [];
  state.version = num(own.version, state.version);
  const dropped = num(own.droppedCalls, state.dropped);
  if (!calls.length && !removed.length && dropped === state.dropped) return;
  state.dropped = dropped;
  const atEnd = state.sort === "start" && !state.descending && grid.scrollTop + grid.clientHeight >= grid.scrollHeight - 4;
  for (const key of removed) {
    state.calls.delete(key);
    state.marked.delete(key);
    state.exchange.delete(key);
    if (state.active === key) state.active = null;
    if (state.open === key) closeCall();
  }
  for (const call of calls) {
    state.calls.set(call.key, call);
    if (call.key === state.open && state.view === "calls") renderDetail(call, false);
  }
  applyFilter(false);
  if (removed.length) marked();
  if (atEnd) grid.scrollTop = grid.scrollHeight;
}

// MARK: Keyboard

function closeTop() {
  if (state.view !== "calls") showView("calls"), $("grid").focus();
  else closeCall();
}

const KEYS = new Map([
  ["j", () => moveTo(activeIndex() + 1)], ["k", () => moveTo(activeIndex() - 1)],
  ["/", () => { $("filter").focus(); $("filter").select(); }],
  ["x", () => state.active !== null && mark(state.active)], ["c", copyCurl], ["?", () => $("help").showModal()], ["Escape", closeTop],
]);
TABS.forEach(([id], index) => KEYS.set(String(index + 1), () => state.open !== null && showTab(id)));

const GRID_KEYS = new Map([
  ["ArrowDown", () => moveTo(activeIndex() + 1)], ["ArrowUp", () => moveTo(activeIndex() - 1)],
  ["PageDown", () => moveTo(activeIndex() + pageRows())], ["PageUp", () => moveTo(activeIndex() - pageRows())],
  ["Home", () => moveTo(0)], ["End", () => moveTo(state.shown.length - 1)],
  ["Enter", () => state.active !== null && openCall(state.active, true)], [" ", () => state.active !== null && mark(state.active)],
]);
const pageRows = () => Math.max(1, Math.floor($("grid").clientHeight / rowHeight()) - 2);

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const target = event.target, inField = target.matches?.("input:not([type=checkbox]), select, textarea");
  if (inField) {
    if (event.key === "Escape" && target === $("filter") && !target.value) $("grid").focus();
    if ((event.key === "ArrowDown" || event.key === "Enter") && target === $("filter")) { $("grid").focus(); moveTo(Math.max(0, activeIndex())); event.preventDefault(); }
    return;
  }
  const inList = target === $("grid") || target === document.body;
  const action = (inList && state.view === "calls" ? GRID_KEYS.get(event.key) : null) ?? KEYS.get(event.key);
  if (!action || (state.view !== "calls" && /^[jkx1-5]$/.test(event.key))) return;
  event.preventDefault();
  action();
}

function dragSplitter() {
  const splitter = $("splitter");
  let share = 40;
  const set = value => {
    share = Math.min(75, Math.max(15, value));
    $("main").style.setProperty("--list", `${share}%`);
    splitter.setAttribute("aria-valuenow", String(Math.round(share)));
    renderListSoon();
  };
  splitter.setAttribute("aria-valuemin", "15");
  splitter.setAttribute("aria-valuemax", "75");
  splitter.addEventListener("pointerdown", event => { splitter.setPointerCapture(event.pointerId); event.preventDefault(); });
  splitter.addEventListener("pointermove", event => {
    if (splitter.hasPointerCapture(event.pointerId)) set(event.clientX / innerWidth * 100);
  });
  splitter.addEventListener("keydown", event => {
    const step = event.key === "ArrowRight" ? 2 : event.key === "ArrowLeft" ? -2 : 0;
    if (step) { set(share + step); event.preventDefault(); event.stopPropagation(); }
  });
  set(share);
}

// MARK: Start

function listen() {
  const on = (id, type, action) => $(id).addEventListener(type, action);
  let typing = 0;
  on("filter", "input", () => { clearTimeout(typing); typing = setTimeout(() => applyFilter(true), 80); });
  on("bodies", "change", () => applyFilter(true));
  on("grid", "scroll", renderListSoon);
  on("grid", "click", clickList);
  on("sort", "change", () => {
    state.descending = $("sort").value.startsWith("-");
    state.sort = $("sort").value.replace("-", "");
    sorted();
  });
  on("close", "click", closeCall);
  on("show-calls", "click", () => showView("calls"));
  on("show-statistics", "click", () => showView("statistics"));
  on("compare", "click", compareMarked);
  on("comparison-close", "click", closeTop);
  on("help-open", "click", () => $("help").showModal());
  on("help-close", "click", () => $("help").close());
  on("exports", "beforetoggle", prepareExports);
  for (const [id, calls, name] of [["export-all", () => state.calls.values(), "calls.har"], ["export-shown", () => state.shown, "filtered.har"],
    ["export-selected", markedCalls, "selected.har"]]) {
    on(id, "click", () => { $("exports").hidePopover(); download(byStart(calls()), name); });
  }
  on("pause", "click", () => {
    state.paused = !state.paused;
    $("pause").setAttribute("aria-pressed", String(state.paused));
    renderConnection();
    schedule();
  });
  on("reconnect", "click", poll);
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", schedule);
  addEventListener("resize", renderListSoon);
  phone.addEventListener("change", renderList);
}

function start() {
  const data = $("data");
  buildHead();
  buildTabs();
  for (const [label, word] of CHIPS) $("chips").append(button(label, () => toggleWord(word), { value: word, "aria-pressed": "false" }));
  listen();
  dragSplitter();
  try {
    load(JSON.parse(data.textContent));
  } catch (error) {
    $("filter-problem").textContent = `The data of this page is not valid: ${line(String(error.message), 200)}`;
  }
  // The parsed data replaces its text, which may be large.
  data.remove();
  sorted();
  renderConnection();
  schedule();
}

start();
