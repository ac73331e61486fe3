"use strict";

// Everything that the page shows comes from servers and is hostile: text becomes text nodes only, foreign names are
// keys of Maps only, and foreign values pass through text(), num() and list().

// MARK: Values

const text = value => typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
const num = (value, otherwise = 0) => typeof value === "number" && Number.isFinite(value) ? value : otherwise;
const list = value => Array.isArray(value) ? value.filter(item => item !== null && typeof item === "object") : [];
const record = value => value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
const clip = (value, limit) => value.length > limit ? value.slice(0, limit) + "…" : value;
const grouped = value => value.toLocaleString("en");
const plural = (count, word) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
const largest = (values, least) => values.reduce((found, value) => Math.max(found, value), least);
const fieldsOf = value => list(value).map(field => [text(field.name), text(field.value)]);
const fieldIn = (fields, name) => (fields.find(field => field[0].toLowerCase() === name) ?? ["", ""])[1];

// Characters that hide, or that change the order of the characters around them.
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const UNSEEN = new RegExp("[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xad\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e"
  + `\\u2060-\\u2069\\ufeff]|${LONE.source}`, "g");
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

// The times of one call have the same unit and the same decimals, so that they can be compared.
function timesUpTo(total) {
  const [unit, name] = total < 10000 ? [1, "ms"] : [1000, "s"];
  const digits = total < 100 ? 2 : total < 1000 ? 1 : total < 10000 ? 0 : 2;
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return milliseconds => `${(milliseconds / unit).toLocaleString("en", format)} ${name}`;
}

// The time that spans or exchanges cover together.
function covered(items) {
  let end = 0, sum = 0;
  for (const { start, duration, time = duration ?? 0 } of [...items].sort((a, b) => a.start - b.start)) {
    sum += Math.max(0, start + time - Math.max(end, start));
    end = Math.max(end, start + time);
  }
  return sum;
}

function clock(start) {
  const date = new Date(start);
  const pad = (value, width = 2) => String(value).padStart(width, "0");
  if (start === 0 || Number.isNaN(date.getTime())) return "unknown";
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} `
    + `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)} `
    + /GMT\S*/.exec(date)[0];
}

// The number of rows that a table shows at most.
const MOST = 1000;

// MARK: Elements

const $ = id => document.getElementById(id);

function el(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (/^(on.*|.*html|srcdoc|style|href|src|action|formaction)$/i.test(name)) throw new TypeError(`refused: ${name}`);
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  return fill(node, ...children);
}

const run = (kind, ...children) => el("span", { class: kind }, ...children);
const aria = (node, name, value) => node.setAttribute(`aria-${name}`, String(value));

function fill(node, ...children) {
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

function button(label, action, properties) {
  const node = el("button", properties, label);
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

function facts(pairs) {
  const shown = pairs.filter(pair => pair[1] !== "" && pair[1] !== null && pair[1] !== undefined && pair[1] !== false);
  return el("dl", {}, shown.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

const section = (title, ...children) => el("section", {}, el("h3", {}, title), ...children);
const muted = (...children) => el("p", { class: "muted" }, ...children);

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
  calls: new Map(), log: {}, version: 0, live: false, paused: false, dropped: 0, shown: [], sort: "start",
  descending: false, active: null, open: null, tab: "overview", exchange: new Map(), marked: new Set(), view: "calls",
};

class Message {
  constructor(source) {
    this.source = record(source);
    this.body = record(this.source.postData ?? this.source.content);
  }

  get(name) { return text(this.source[name]); }
  get headers() { return fieldsOf(this.source.headers); }
  get status() { return Math.max(0, num(this.source.status)); }
  get size() { return Math.max(0, num(this.body.size)); }
  get wireSize() { return num(this.source.bodySize, -1); }
  get failure() {
    const code = this.get("_errorKind"), reason = this.get("_error");
    return code || reason ? { code: code || "error", text: reason, plugin: "" } : null;
  }
}

class Exchange {
  constructor(entry) {
    this.entry = entry;
    this.place = record(entry._pipeline);
    this.request = new Message(entry.request);
    this.response = new Message(entry.response);
    this.start = Date.parse(text(entry.startedDateTime)) || 0;
    this.time = Math.max(0, num(entry.time));
    this.attempt = num(this.place.attempt, 1);
    this.hop = num(this.place.hop);
  }

  get(name) { return text(this.entry[name]); }
  note(name) { return text(this.place[name]); }
  get url() { return this.request.get("url"); }
  get kind() { return this.response.failure || !this.response.status ? "s5" : statusClass(this.response.status); }
}

const NONE = new Exchange({});
const TYPES = new Map([["octet-stream", "binary"], ["plain", "text"], ["x-www-form-urlencoded", "form"],
  ["form-data", "form"]]);

function mediaType(mimeType) {
  const type = mimeType.split(";")[0].trim().toLowerCase();
  const subtype = type.slice(type.indexOf("/") + 1).replace(/^.*\+json$/, "json").replace(/\+xml$/, "");
  return TYPES.get(subtype) ?? subtype;
}

function hostAndPath(url) {
  try {
    const parsed = new URL(url);
    if (parsed.host) return [parsed.host, parsed.pathname + parsed.search];
  } catch { /* Shown as it is. */ }
  return ["", url];
}

function makeCall(key, raw, entries) {
  const exchanges = entries.map(entry => new Exchange(entry)).sort((a, b) => a.start - b.start);
  const own = record(raw), first = exchanges[0] ?? NONE, last = exchanges.at(-1) ?? NONE, error = record(own.error);
  const result = own.response ? new Message(own.response) : last.response;
  const begin = Date.parse(text(own.startedDateTime)) || first.start;
  const end = largest(exchanges.map(exchange => exchange.start + exchange.time), begin);
  const url = text(own.url) || first.url, [host, path] = hostAndPath(url), target = text(own.target);
  const method = text(own.method) || first.request.get("method");
  const call = {
    key, raw, exchanges, last, result, begin, url, host, path, target, method,
    name: (target || path || "(no URL)").replace(`${method} `, ""), status: num(own.status, result.status),
    size: result.size,
    error: own.error ? { code: text(error.code), text: text(error.text), plugin: text(error.plugin) }
      : raw ? null : last.response.failure,
    type: mediaType(text(result.body.mimeType)), parent: own.parent ?? last.place.parentCall,
    running: raw !== null && typeof own.duration !== "number" && !own.error, joined: own.joined === true,
    source: text(own.source), cacheStatus: text(own.cacheStatus),
    notes: Array.isArray(own.notes) ? own.notes.map(text) : [],
    attempts: largest(exchanges.map(exchange => exchange.attempt), 1),
    hops: largest(exchanges.map(exchange => exchange.hop), 0),
    replayed: exchanges.some(exchange => exchange.place.replayed === true),
    notRetried: exchanges.some(exchange => exchange.note("refusedRetry")),
    notFollowed: exchanges.some(exchange => exchange.note("refusedRedirect")),
    bytes: exchanges.reduce((sum, { request, response }) => sum + Math.max(0, request.wireSize)
      + (response.wireSize >= 0 ? response.wireSize : response.size), 0),
  };
  call.duration = call.running ? null : num(own.duration, end - begin);
  call.cached = call.source === "cache" || /;\s*hit\b/.test(call.cacheStatus);
  call.failed = !call.running && (call.error !== null || call.status >= 400 || call.status <= 0);
  return call;
}

function readDocument(document) {
  const log = record(record(document).log), own = record(log._pipeline), groups = new Map();
  list(log.entries).forEach((entry, index) => {
    const id = record(entry._pipeline).call ?? null, key = id === null ? `entry ${index}` : String(id);
    if (groups.has(key)) groups.get(key).push(entry); else groups.set(key, [entry]);
  });
  const calls = list(own.calls).map(raw => {
    const key = String(raw.id), entries = groups.get(key) ?? [];
    groups.delete(key);
    return makeCall(key, raw, entries);
  });
  for (const [key, entries] of groups) calls.push(makeCall(key, null, entries));
  return { log, own, calls };
}

const contentOf = ({ status, headers, body }) => JSON.stringify([status, headers, body.text]);

// The data does not name the call that another one joined: it had an equal request in flight and an equal response.
function findLeaders() {
  const groups = new Map(), calls = [...state.calls.values()], nameOf = ({ method, url }) => `${method} ${url}`;
  for (const call of calls.filter(({ exchanges }) => exchanges.length > 0)) {
    groups.get(nameOf(call))?.push(call) ?? groups.set(nameOf(call), [call]);
  }
  for (const call of calls.filter(({ joined }) => joined)) {
    const { begin, duration, result } = call;
    call.leader = groups.get(nameOf(call))?.find(other => other.begin <= begin + duration
      && other.begin + (other.duration ?? Infinity) >= begin && contentOf(other.last.response) === contentOf(result));
  }
}

function load(document) {
  const { log, own, calls } = readDocument(document);
  for (const call of calls) state.calls.set(call.key, call);
  findLeaders();
  state.log = log;
  state.live = own.live === true;
  state.version = num(own.version);
  state.dropped = num(own.droppedCalls);
}

// MARK: Filter

const FLAGS = new Map([["failed", call => call.failed], ["retried", call => call.attempts > 1],
  ["redirected", call => call.hops > 0], ["cached", call => call.cached], ["joined", call => call.joined],
  ["running", call => call.running], ["refused", call => call.notRetried || call.notFollowed]]);
const contains = (value, part) => value.toLowerCase().includes(part);

function statusTest(value) {
  const [, low, high] = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(value.replace(/^([1-5])xx$/, "$100-$199")) ?? [];
  return low ? call => call.status >= low && call.status <= (high ?? low) : null;
}

const SIZES = new Map([["", 1], ["b", 1], ["k", 1e3], ["kb", 1e3], ["m", 1e6], ["mb", 1e6], ["g", 1e9], ["gb", 1e9]]);
const TIMES = new Map([["", 1], ["ms", 1], ["s", 1000], ["m", 60000], ["min", 60000]]);

// `sign` is 1 for calls over the limit, -1 for those under it.
function limitTest(member, sign, units) {
  return value => {
    const match = /^(\d+(?:\.\d+)?)([a-z]*)$/.exec(value), unit = match && units.get(match[2]);
    return unit ? call => call[member] !== null && (call[member] - match[1] * unit) * sign > 0 : null;
  };
}

// Each returns a test of a call, or null for an invalid value.
const PREFIXES = new Map([
  ["status", statusTest], ["body", bodyTest],
  ["method", value => call => call.method.toLowerCase() === value],
  ["host", value => call => contains(call.host, value)],
  ["target", value => call => contains(call.target, value)],
  ["type", value => call => contains(text(call.result.body.mimeType), value)],
  ["error", value => call => call.error !== null && contains(`${call.error.code} ${call.error.text}`, value)],
  ["header", value => call => messages(call).some(({ headers }) =>
    headers.some(([name, content]) => contains(`${name}: ${content}`, value)))],
  ["larger", limitTest("size", 1, SIZES)], ["smaller", limitTest("size", -1, SIZES)],
  ["slower", limitTest("duration", 1, TIMES)], ["faster", limitTest("duration", -1, TIMES)],
  ["id", value => call => call.key === value],
  ["is", value => FLAGS.get(value) ?? null],
]);

const messages = call => [...call.exchanges.flatMap(({ request, response }) => [request, response]), call.result];

function searchText(call) {
  const { url, target, method, status, error } = call;
  call.search ??= clip([url, target, method, status, error?.code, error?.text].join("\n"), 20000).toLowerCase();
  return call.search;
}

function bodyTest(value) {
  // An expression searches without a lowercase copy of each body.
  const expression = new RegExp(value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  return call => messages(call).some(({ body }) =>
    body.encoding !== "base64" && expression.test(clip(text(body.text), 2e6)));
}

function parseFilter(source, withBodies) {
  const tests = [], problems = [];
  for (const [, minus, prefix, quoted, plain] of source.matchAll(/(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi)) {
    const make = PREFIXES.get((prefix ?? "").toLowerCase()), word = (quoted ?? plain).toLowerCase();
    let test = make?.(word);
    if (test === null) {
      problems.push(`“${line(word, 40)}” is not a valid value of ${prefix}:`);
      continue;
    }
    if (!make) {
      if (prefix && !/^https?$/i.test(prefix)) problems.push(`“${prefix}:” is not a filter, but searched as text`);
      const value = prefix ? `${prefix.toLowerCase()}:${word}` : word, inBody = withBodies && bodyTest(value);
      test = call => searchText(call).includes(value) || (inBody && inBody(call));
    }
    tests.push(minus ? call => !test(call) : test);
  }
  return { tests, problems };
}

const SORTS = new Map([
  ["start", ["Start", call => (call.leader ?? call).begin]], ["method", ["Method", call => call.method]],
  ["status", ["Status", call => call.running ? 1000 : call.status]],
  ["name", ["Call", call => call.name.toLowerCase()]],
  ["host", ["Host", call => call.host]], ["type", ["Type", call => call.type]], ["size", ["Size", call => call.size]],
  ["duration", ["Duration", call => call.duration ?? Infinity]],
]);

function applyFilter(announces) {
  const { tests, problems } = parseFilter($("filter").value, $("bodies").checked);
  $("filter-problem").textContent = problems.join("; ");
  aria($("filter"), "invalid", problems.length > 0);
  const value = SORTS.get(state.sort)[1], sign = state.descending ? -1 : 1;
  const keyed = [...state.calls.values()].filter(call => tests.every(test => test(call)))
    .map((call, index) => [value(call), index, call]);
  keyed.sort((a, b) => a[0] < b[0] ? -sign : a[0] > b[0] ? sign : a[1] - b[1]);
  state.shown = keyed.map(item => item[2]);
  const words = new Set(filterWords());
  for (const chip of $("chips").children) aria(chip, "pressed", words.has(chip.value));
  renderList();
  renderSummary();
  if (state.view === "statistics") renderStatistics();
  if (announces) $("announcement").textContent = `${plural(state.shown.length, "call")} shown`;
}

const CHIPS = ["Failed", "Retried", "Redirected", "Cached", "Joined"];
const filterWords = () => $("filter").value.split(/\s+/).filter(Boolean);

function toggleWord(word) {
  const words = filterWords(), others = words.filter(other => other !== word);
  setFilter((others.length < words.length ? others : [...words, word]).join(" "));
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
    failed += call.failed ? 1 : 0;
    first = Math.min(first, call.begin);
    end = Math.max(end, call.begin + (call.duration ?? 0));
  }
  const show = button(`${grouped(failed)} failed`, () => toggleWord("is:failed"), { title: "Show only failed calls" });
  const parts = [(calls.length < all ? `${grouped(calls.length)} of ` : "") + plural(all, "call"),
    failed ? show : "0 failed", bytes(sum), calls.length && `in ${time(end - first)}`,
    state.marked.size && `${grouped(state.marked.size)} selected`,
    state.dropped && `${plural(state.dropped, "older call")} dropped`];
  $("summary").replaceChildren();
  fill($("summary"), parts.filter(Boolean).map((part, index) => [index ? " · " : "", part]));
}

// MARK: List

const COLUMNS = ["method", "status", "name", "host", "type", "size", "duration"];
const phone = matchMedia("(max-width: 640px)");
const rowHeight = () => phone.matches ? 56 : 28;
const rowNodes = new Map();

function buildHead() {
  const cell = (id, label) => el("span", { role: "columnheader", class: `c-${id}`, "data-sort": id },
    button(label, () => sortBy(id)));
  const row = el("div", { role: "row", "aria-rowindex": "1", class: "row" },
    el("span", { role: "columnheader", class: "c-mark" }, run("unseen", "Selected")),
    COLUMNS.map(id => cell(id, SORTS.get(id)[0])), cell("start", "Waterfall"));
  $("head").append(row);
  for (const [id, [label]] of SORTS) {
    fill($("sort"), el("option", { value: id }, `${label}, ascending`),
      el("option", { value: `-${id}` }, `${label}, descending`));
  }
}

const sortState = (isSorted, descending) => !isSorted ? "none" : descending ? "descending" : "ascending";

function sortBy(id) {
  // A second press reverses; sizes and times begin with the largest.
  state.descending = state.sort === id ? !state.descending : id === "size" || id === "duration";
  state.sort = id;
  sorted();
}

function sorted() {
  for (const cell of $("head").querySelectorAll("[data-sort]")) {
    aria(cell, "sort", sortState(cell.dataset.sort === state.sort, state.descending));
  }
  $("sort").value = (state.descending ? "-" : "") + state.sort;
  $("grid").scrollTop = 0;
  applyFilter(false);
}

// A call can fail after a response of 200.
const statusText = call => call.running ? "…" : call.status <= 0 ? "failed"
  : `${call.status}${call.error && call.status < 400 ? " ✗" : ""}`;
const statusClass = status => `s${Math.min(5, Math.max(1, Math.floor(status / 100)))}`;
const outcomeClass = call => call.running ? "s1" : call.error || call.status <= 0 ? "s5" : statusClass(call.status);

const tag = (label, kind = "") => label && run(`tag ${kind}`, label);

const tags = call => [
  call.attempts > 1 && plural(call.attempts, "attempt"), call.hops > 0 && plural(call.hops, "redirect"),
  call.notRetried && (call.attempts > 1 ? "gave up" : "not retried"),
  call.notFollowed && "redirect not followed",
  call.joined && (call.leader ? `joined call ${line(call.leader.key, 24)}` : "joined"),
  call.replayed && "replayed", call.cached ? "cached" : line(call.source, 24),
].map(label => tag(label));

function rowOf(call) {
  const method = line(call.method, 12), path = call.target ? line(call.path) : "";
  const label = `Select ${method} ${line(call.name, 60)}`;
  const box = el("input", { type: "checkbox", tabindex: "-1", "aria-label": label });
  const cell = (id, value, title) =>
    el("span", { role: "gridcell", class: `c-${id}`, title: title ? line(title, 500) : null }, value);
  const error = call.error ? line(call.error.code || call.error.text, 60) : "";
  const node = el("div", { role: "row", class: "row" },
    cell("mark", box), cell("method", method),
    cell("status", run(outcomeClass(call), statusText(call)), error),
    cell("name", [run("name", (call.leader ? "↳ " : "") + line(call.name)), path && run("path", path),
      (call.status < 400 || error !== "unacceptableStatus") && tag(error, "bad"), tags(call)], call.url),
    cell("host", [line(call.host, 100), path && run("phone", path)], call.host),
    cell("type", line(call.type, 40)), cell("size", call.running || !call.status ? "" : bytes(call.size)),
    cell("duration", call.running ? "running" : time(call.duration)), cell("start", run("track")));
  node.dataset.key = call.key;
  return { node, call, box, bars: barsOf(call, node.querySelector(".track")) };
}

function barsOf(call, track) {
  const bar = (kind, start, length) => ({ node: run(kind), start, length });
  const bars = [bar(call.exchanges.length ? "thin" : "thick s1", call.begin, call.duration ?? 0),
    ...call.exchanges.slice(-8).map(({ kind, start, time }) => bar(`thick ${kind}`, start || call.begin, time))];
  track.append(...bars.map(item => item.node));
  return bars;
}

function renderList() {
  const grid = $("grid"), height = rowHeight(), count = state.shown.length;
  $("rows").style.height = `${count * height}px`;
  aria(grid, "rowcount", count + 1);
  $("empty").hidden = count > 0;
  $("empty").textContent = state.calls.size ? "No call matches the filter."
    : state.live ? "No call yet. Calls appear here when they begin." : "The recording has no calls.";
  const top = grid.scrollTop, room = grid.clientHeight || 600;
  const first = Math.max(0, Math.floor(top / height) - 6), end = Math.min(count, Math.ceil((top + room) / height) + 6);
  const used = new Set();
  const scale = scaleOf(state.shown.slice(Math.floor(top / height), Math.ceil((top + room) / height)));
  state.shown.slice(first, end).forEach((call, offset) => {
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
  if (active) aria(grid, "activedescendant", active.node.id); else grid.removeAttribute("aria-activedescendant");
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
    aria(node, "rowindex", index + 2);
  }
  node.style.transform = `translateY(${index * height}px)`;
  node.classList.toggle("odd", index % 2 === 1);
  node.classList.toggle("active", call.key === state.active);
  aria(node, "selected", state.marked.has(call.key));
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
  grid.scrollTop = Math.max(grid.scrollTop, top + height - grid.clientHeight + head);
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

// Latin-1 keeps each byte as a character.
const latin1 = data => Array.from(data, byte => String.fromCharCode(byte)).join("");
const fromLatin1 = value => Uint8Array.from(value, character => character.charCodeAt(0));

function decode(data) {
  try {
    const value = new TextDecoder("utf-8", { fatal: true }).decode(data);
    return value.includes("\0") ? null : value;
  } catch { return null; }
}

function readBody(body) {
  const mimeType = text(body.mimeType), value = text(body.text);
  if (body.encoding === "base64" || body._encoding === "base64") {
    try {
      const data = fromLatin1(atob(value));
      return { mimeType, text: decode(data), bytes: data };
    } catch { /* Shown as it is. */ }
  }
  return { mimeType, text: value, bytes: null };
}

const bytesOf = body => body.bytes ?? (body.bytes = new TextEncoder().encode(body.text ?? ""));

const SIGNATURES = new Map([["image/png", /^\x89PNG\r\n\x1a\n/], ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/], ["image/webp", /^RIFF[^]{4}WEBP/]]);

// SVG is not an image here, because it is a document that can run scripts.
function imageType(body) {
  if (!body.bytes) return null;
  const start = latin1(body.bytes.subarray(0, 16));
  for (const [type, signature] of SIGNATURES) if (signature.test(start)) return type;
  return null;
}

// JSON.parse would lose the digits of long numbers, the order of members and repeated names. Without recursion, depth
// needs no limit.
function parseJSON(source, limit = 200000) {
  const scalars = "-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?|true|false|null";
  const token = new RegExp(`[ \\t\\r\\n]*(?:([{}[\\],:])|("(?:[^"\\\\\\0-\\x1f]|\\\\.)*")|(${scalars}))`, "y");
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
      const kind = string ? "string" : /^[-\d]/.test(scalar) ? "number" : "word";
      open.items.push({ kind, key, raw: string ?? scalar, items: null });
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
    const items = [...node.items], end = items.length - 1;
    if (sorts && node.kind === "object") items.sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
    for (let index = end; index >= 0; index -= 1) stack.push([items[index], depth + 1, index === end, false]);
  }
  if (stack.length) lines.push(`… more than ${plural(limit, "line")}`);
  return lines;
}

const STEP = 100;

// The rows are siblings: 10,000 nested elements would exhaust the layout.
function jsonTree(root) {
  const box = el("div", { class: "json" });
  let room = 300;
  const rowOf = (depth, ...parts) => {
    // Deeper levels share an indentation and show their number instead.
    const row = el("div", {}, depth > 24 && run("muted", `${depth} `), parts);
    row.depth = depth;
    row.style.paddingLeft = `${Math.min(depth, 24) * 1.1}em`;
    return row;
  };
  const insert = (rows, before) => rows.forEach(row => box.insertBefore(row, before));
  const rowsOf = (node, depth) => {
    const { key, items, kind, raw } = node, gap = run("gap");
    const label = key !== null && [el("span", { class: node.isIndex ? "muted" : "key" }, line(key, 200)), ": "];
    if (!items) return [rowOf(depth, gap, label, run(`v-${kind}`, longText(raw, 1000)))];
    const isObject = kind === "object", count = plural(items.length, isObject ? "member" : "item");
    const opens = items.length > 0 && depth < 4 && items.length <= room;
    const toggle = button("", () => {
      const expands = toggle.getAttribute("aria-expanded") !== "true";
      aria(toggle, "expanded", expands);
      while (row.nextSibling?.depth > depth) row.nextSibling.remove();
      room = STEP;
      if (expands) insert(itemsOf(node, depth + 1, 0), row.nextSibling);
    }, { class: "twist", "aria-expanded": String(opens), "aria-label": `Items of ${line(key ?? kind, 60)}` });
    const summary = run("muted", isObject ? `{${count}}` : `[${count}]`);
    const row = rowOf(depth, items.length ? toggle : gap, label, summary);
    return [row, ...opens ? itemsOf(node, depth + 1, 0) : []];
  };
  const itemsOf = (node, depth, from) => {
    const part = node.items.slice(from, from + STEP), rest = node.items.length - from - part.length;
    room -= part.length;
    const rows = part.flatMap((item, offset) =>
      rowsOf(node.kind === "array" ? { ...item, key: String(from + offset), isIndex: true } : item, depth));
    if (rest > 0) {
      const more = rowOf(depth, button(`Show ${Math.min(STEP, rest)} of ${grouped(rest)} more`, () => {
        room = STEP;
        insert(itemsOf(node, depth, from + STEP), more);
        more.remove();
      }));
      rows.push(more);
    }
    return rows;
  };
  insert(rowsOf(root, 0), null);
  return box;
}

function parseMultipart(body) {
  const match = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(body.mimeType);
  if (!match) return null;
  const pieces = `\r\n${latin1(bytesOf(body).subarray(0, 4e6))}`.split(`\r\n--${match[1] ?? match[2]}`).slice(1);
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
    const data = fromLatin1(content.slice(at === 0 ? 2 : at + 4));
    parts.push({ headers, body: { mimeType: fieldIn(headers, "content-type"), text: decode(data), bytes: data } });
  }
  return parts.length ? parts : null;
}

const utf8 = value => new TextDecoder().decode(fromLatin1(value));

function parseForm(value) {
  return value.split("&").slice(0, 1000).map(pair => {
    const [name, ...value] = pair.split("=");
    return [name, value.join("=")].map(part => {
      try { return decodeURIComponent(part.replaceAll("+", " ")); } catch { return part; }
    });
  });
}

const TEXT_LIMIT = 100000, HEX_LIMIT = 4096;

const pre = (label, kind) => el("pre", { class: kind, tabindex: "0", role: "group", "aria-label": label });

function textView(value) {
  const text = fill(pre("Text of the body"), visible(value.slice(0, TEXT_LIMIT)));
  const all = button(`Show all ${bytes(value.length)}`, () => { text.textContent = visible(value); all.remove(); });
  return [text, value.length > TEXT_LIMIT && all];
}

function hexView(data) {
  const shown = pre("Bytes of the body", "hex"), box = el("div", {}, shown);
  let end = 0;
  const more = button("Show more", () => add(4 * HEX_LIMIT));
  const add = count => {
    const lines = [], stop = Math.min(data.length, end + count);
    for (; end < stop; end += 16) {
      const row = [...data.subarray(end, Math.min(stop, end + 16))];
      const codes = row.map(byte => byte.toString(16).padStart(2, "0")).join(" ");
      lines.push(`${end.toString(16).padStart(8, "0")}  ${codes.padEnd(48)} ${latin1(row).replace(/[^ -~]/g, ".")}\n`);
    }
    end = stop;
    shown.append(lines.join(""));
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
  image.addEventListener("load", () =>
    ended(`${type}, ${image.naturalWidth} × ${image.naturalHeight}, ${bytes(body.bytes.length)}`));
  image.addEventListener("error", () => ended(`The body is not a valid ${type} image.`));
  image.src = url;
  return el("figure", {}, image, size);
}

function partView(part, index) {
  const { headers, body } = part, name = /\bname="?([^";]*)/i.exec(fieldIn(headers, "content-disposition"))?.[1] ?? "";
  return el("section", { class: "part" },
    el("h4", {}, `Part ${index + 1}${name && `: ${line(name, 80)}`} · ${bytes(body.bytes.length)}`),
    fieldTable(headers, "Header fields of the part"), bodyView(body, false, []));
}

function bodyViews(body, params, nests) {
  const views = [], type = mediaType(body.mimeType), image = imageType(body);
  if (image) views.push(["Image", () => imageView(body, image)]);
  const parts = nests && /^multipart\//i.test(body.mimeType) ? parseMultipart(body) : null;
  if (parts) views.push(["Parts", () => parts.map(partView)]);
  const isForm = body.text && type === "form" && !/^multipart/i.test(body.mimeType);
  const fields = isForm ? parseForm(body.text) : params;
  if (fields.length) views.push(["Form", () => fieldTable(fields, "Form")]);
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

function bodyView(body, nests, params) {
  const views = bodyViews(body, params, nests), content = el("div", {});
  if (!views.length) return muted("No body.");
  const show = index => {
    content.replaceChildren();
    fill(content, views[index][1]());
    [...choices.children].forEach((choice, other) => aria(choice, "pressed", other === index));
  };
  const choices = el("div", { class: "switch", role: "group", "aria-label": "View of the body" },
    views.map(([label], index) => button(label, () => show(index))));
  show(0);
  return el("div", { class: "body" }, choices, content);
}

function fieldTable(fields, caption) {
  if (!fields.length) return muted("None.");
  return [table(run("unseen", caption), ["Name", "Value"],
    fields.slice(0, MOST).map(([name, value]) => [line(name, 500), longText(value)]), { class: "fields" }),
  fields.length > MOST && muted(`${plural(fields.length - MOST, "more field")} not shown.`)];
}

// MARK: Call

const TABS = [["overview", "Overview"], ["timeline", "Timeline"], ["request", "Request"], ["response", "Response"],
  ["curl", "cURL"]];

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
const reason = (label, code) => code && el("p", {}, `${label}: `, el("code", {}, line(code, 80)),
  REASONS.has(code) && ` – ${REASONS.get(code)}`);

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
  });
}

function openCall(key, focuses = false) {
  const call = state.calls.get(key);
  if (!call) return;
  const changed = state.open !== key;
  state.open = state.active = key;
  showView("calls");
  renderDetail(call, changed);
  if (focuses || phone.matches) $("detail-title").focus();
}

function closeCall() {
  if (state.open === null) return;
  state.open = null;
  showView("calls");
  $("grid").focus();
}

function showTab(id) {
  state.tab = id;
  const call = state.calls.get(state.open);
  if (call) renderDetail(call, true);
}

function renderDetail(call, fromTop) {
  const panel = $("panel"), scroll = panel.scrollTop, hadFocus = panel.contains(document.activeElement);
  $("detail-title").replaceChildren(run(outcomeClass(call), call.running ? "running" : statusText(call)),
    ` ${line(call.method, 20)} ${line(call.name, 200)}`);
  for (const [id] of TABS) {
    aria($(`tab-${id}`), "selected", id === state.tab);
    $(`tab-${id}`).tabIndex = id === state.tab ? 0 : -1;
  }
  aria(panel, "labelledby", `tab-${state.tab}`);
  panel.replaceChildren();
  fill(panel, { overview, timeline, request: requestTab, response: responseTab, curl: curlTab }[state.tab](call));
  panel.scrollTop = fromTop ? 0 : scroll;
  if (hadFocus) panel.focus();
}

const errorView = error => error && el("div", { class: "problem" }, el("h3", {}, "Error"), facts([
  ["Code", line(error.code, 200)], ["Text", longText(error.text)], ["Plugin", line(error.plugin, 200)]]));

const callLink = key => button(`Call ${line(key, 40)}`, () => openCall(key), { disabled: !state.calls.has(key) });

const joinedText = ({ leader }) => ["Joined ", leader ? callLink(leader.key) : "another call",
  " in flight, and shares its response."];

// A wait that contains an exchange of the call is the wait for that exchange.
function waitsOf(call) {
  const { spans } = spansOf(call), groups = new Map(), endOf = span => span.start + (span.duration ?? Infinity);
  const wires = spans.filter(({ kind }) => kind === "wire"), waits = spans.filter(span => span.kind === "wait"
    && !wires.some(({ start }) => start >= span.start && start < endOf(span)));
  for (const { name, duration } of waits) {
    const length = duration === null ? "running" : time(duration);
    if (groups.has(name)) groups.get(name).push(length); else groups.set(name, [length]);
  }
  const texts = [...groups].slice(0, 20).map(([name, times]) =>
    `${line(name, 80)} ${times.slice(0, 10).join(", ")}${times.length > 10 ? ", …" : ""}`).join("; ");
  return waits.length > 1 ? `${time(covered(waits))}: ${texts}` : texts;
}

function overview(call) {
  const { last, result, exchanges } = call, parent = call.parent ?? null, inside = covered(exchanges);
  const children = [...state.calls.values()].filter(other => String(other.parent ?? "") === call.key);
  return [
    errorView(call.error),
    section("Call", facts([
      ["URL", longText(call.url)], ["Method", line(call.method, 40)], ["Target", line(call.target)],
      ["Status", call.status > 0 && `${call.status} ${line(result.get("statusText"))}`],
      ["Started", clock(call.begin)], ["Duration", call.running ? "running" : time(call.duration)
        + (inside && call.duration - inside >= 1 ? `, of which ${time(inside)} in exchanges` : "")], ["Waits", waitsOf(call)],
      ["Response", [bytes(call.size), line(text(result.body.mimeType), 200)].filter(Boolean).join(", ")],
      ["Joined", call.joined && joinedText(call)],
      ["Source", call.source === "cache" ? "The cache responded."
        : call.source && `The plugin ${line(call.source)} responded.`],
      ["Plugins", call.notes.length > 0 && call.notes.slice(0, 50).map(note => el("div", {}, line(note)))],
      ["Cache-Status", line(call.cacheStatus)], ["Cache", line(text(record(last.entry.cache).comment))],
      ["Call ID", line(call.key, 80)], ["Started by", parent !== null && callLink(String(parent))],
      ["Calls inside", children.length > 0 && children.slice(0, 50).map(child => callLink(child.key))],
    ])),
    section("Exchanges", exchanges.length ? exchangeTable(call) : muted("None of its own.")),
  ];
}

function exchangeTable(call) {
  const head = ["Attempt", "Redirect", "Request", "Outcome", "Duration"];
  return table(null, head, call.exchanges.slice(-MOST).map(exchange => {
    const { failure, status } = exchange.response, connection = exchange.get("connection");
    const facts = [exchange.response.get("httpVersion") || exchange.request.get("httpVersion"),
      exchange.get("serverIPAddress"), connection && `connection ID ${connection}`].filter(Boolean).join(", ");
    return [String(exchange.attempt), String(exchange.hop || "–"),
      [`${line(exchange.request.get("method"), 20)} ${line(exchange.url, 500)}`, facts && muted(line(facts))],
      [run(exchange.kind, status ? String(status) : "failed"),
        failure && ` ${line(failure.code, 80)}`, failure && failure.text !== failure.code && `: ${line(failure.text)}`,
        reason("Not retried", exchange.note("refusedRetry")),
        reason("Redirect not followed", exchange.note("refusedRedirect"))],
      time(exchange.time)];
  }), { class: "exchanges" });
}

// The exchange is undefined for the response that the caller got.
function pickExchange(call, hasResult = false) {
  const exchanges = call.exchanges.slice(-MOST), wanted = state.exchange.get(call.key);
  const end = exchanges.length - (hasResult ? 0 : 1);
  const chosen = wanted <= end ? wanted : end;
  if (end < 1) return [null, exchanges[chosen]];
  const label = ({ attempt, hop, response }, index) => `${index + 1} of ${exchanges.length}: attempt ${attempt}, `
    + (hop ? `redirect ${hop}, ` : "") + (response.status || "failed");
  const select = el("select", { id: "exchange" }, exchanges.map((exchange, index) =>
    el("option", { value: index }, label(exchange, index))),
  hasResult && el("option", { value: end }, "Response to the caller"));
  select.value = String(chosen);
  select.addEventListener("change", () => {
    state.exchange.set(call.key, Number(select.value));
    renderDetail(call, true);
    $("exchange").focus();
  });
  return [el("p", {}, el("label", {}, "Exchange ", select)), exchanges[chosen]];
}

const fieldSection = (title, fields, always) =>
  (always || fields.length > 0) && section(title, fieldTable(fields, title));

function bodySection(exchange, source, params) {
  const why = exchange?.note("bodyNote");
  return section("Body", why && muted(line(why)), bodyView(readBody(source), true, params));
}

function requestTab(call) {
  const [picker, exchange] = pickExchange(call);
  if (!exchange) return muted("The call sent no request over the network.");
  const { request } = exchange, params = list(request.body.params).map(param => [text(param.name),
    [text(param.value), text(param.fileName) && `(file ${text(param.fileName)})`].filter(Boolean).join(" ")]);
  return [picker, section("Request", facts([["Method", line(request.get("method"), 40)],
    ["URL", longText(exchange.url)], ["Protocol", line(request.get("httpVersion"), 40)]])),
  fieldSection("Query", fieldsOf(request.source.queryString)), fieldSection("Header fields", request.headers, true),
  fieldSection("Cookies", fieldsOf(request.source.cookies)), bodySection(exchange, request.body, params)];
}

function responseTab(call) {
  const hasResult = Boolean(record(call.raw).response), [picker, exchange] = pickExchange(call, hasResult);
  if (!exchange && !hasResult) return muted(`The call has no response${call.running ? " yet" : ""}.`);
  const response = exchange ? exchange.response : call.result, { status, wireSize } = response;
  return [picker, errorView(response.failure), section("Response", facts([
    ["Status", status > 0 && `${status} ${line(response.get("statusText"))}`],
    ["Protocol", line(response.get("httpVersion"), 40)], ["Redirect to", line(response.get("redirectURL"), 2000)],
    ["Size", bytes(response.size) + (wireSize >= 0 ? `, ${bytes(wireSize)} on the wire` : "")]])),
  fieldSection("Header fields", response.headers, true), fieldSection("Cookies", fieldsOf(response.source.cookies)),
  bodySection(exchange, response.body, []), fieldSection("Trailer fields", fieldsOf(response.source._trailers))];
}

// MARK: Timeline

const KINDS = new Map([["call", "call"], ["encode", "coding"], ["decode", "coding"], ["wire", "wire"],
  ["phase", "phase"], ["wait", "wait"]]);
const PHASES = [["blocked", "connection"], ["dns", "DNS"], ["connect", "connect"], ["ssl", "TLS"], ["send", "send"],
  ["wait", "wait"], ["receive", "receive"]];

function spansOf(call) {
  const own = list(record(call.raw).spans), lists = call.exchanges.map(exchange => list(exchange.place.spans));
  const longest = own.length ? own : lists.reduce((a, b) => b.length > a.length ? b : a, []);
  const total = call.duration ?? Math.max(0, Date.now() - call.begin);
  const spans = longest.length ? longest.slice(0, 2000).map(span => ({
    id: text(span.id), parent: text(span.parent), kind: text(span.kind), name: text(span.name),
    start: Math.max(0, num(span.start)), outcome: text(span.outcome), attempt: num(span.attempt), hop: num(span.hop),
    duration: typeof span.duration === "number" ? Math.max(0, num(span.duration)) : null,
  })) : spansOfTimings(call);
  return { spans, total: Math.max(total, 0.001, ...spans.map(span => span.start + (span.duration ?? 0))) };
}

function spansOfTimings(call) {
  const spans = [{ id: "0", parent: "", kind: "call", name: call.name, start: 0, duration: call.duration,
    outcome: statusText(call) }];
  call.exchanges.slice(0, 200).forEach((exchange, index) => {
    const start = Math.max(0, exchange.start - call.begin), id = `${index + 1}`;
    const { attempt, hop, response } = exchange, timings = record(exchange.entry.timings);
    spans.push({ id, parent: "0", kind: "wire", name: `${exchange.request.get("method")} ${exchange.url}`, start,
      duration: exchange.time, outcome: response.failure?.code ?? String(response.status), attempt, hop });
    let at = start;
    for (const [member, name] of PHASES) {
      const duration = num(timings[member], -1);
      if (duration < 0) continue;
      // In HAR, the time of the TLS handshake is part of that of the connection.
      const isTLS = member === "ssl", begin = isTLS ? Math.max(start, at - duration) : at;
      spans.push({ id: `${id} ${member}`, parent: id, kind: "phase", name, start: begin, duration, outcome: "" });
      if (!isTLS) at += duration;
    }
  });
  return spans;
}

// A span in a cycle becomes a root.
function treeOf(spans) {
  const children = new Map(), ids = new Set(spans.map(span => span.id)), seen = new Set(), rows = [];
  for (const span of spans) {
    const parent = span.parent !== span.id && ids.has(span.parent) ? span.parent : null;
    if (children.has(parent)) children.get(parent).push(span); else children.set(parent, [span]);
  }
  for (const root of [...children.get(null) ?? [], ...spans]) {
    const stack = [[root, 0]];
    while (stack.length) {
      const [span, depth] = stack.pop(), own = children.get(span.id) ?? [];
      if (seen.has(span)) continue;
      seen.add(span);
      rows.push({ span, depth, isParent: own.some(child => !seen.has(child)), isFolded: false });
      for (const child of own.toReversed()) stack.push([child, depth + 1]);
    }
  }
  return rows;
}

function remarks(call, span, index) {
  const { exchanges } = call;
  const exchange = exchanges.find(({ attempt, hop }) => attempt === span.attempt && hop === span.hop)
    ?? exchanges[index] ?? NONE;
  const { attempt, hop } = exchange, retry = exchange.note("refusedRetry"), redirect = exchange.note("refusedRedirect");
  return [call.attempts > 1 && `attempt ${attempt}`, hop > 0 && `redirect ${hop}`,
    retry && `not retried: ${line(retry, 80)}`,
    redirect && `redirect not followed: ${line(redirect, 80)}`].filter(Boolean);
}

function timeline(call) {
  const { spans, total } = spansOf(call), times = timesUpTo(total), rows = treeOf(spans);
  const dropped = num(record(call.raw).droppedSpans);
  const wires = spans.filter(span => span.kind === "wire");
  for (const row of rows) {
    const index = wires.indexOf(row.span);
    row.node = spanRow(row, total, times, index < 0 ? [] : remarks(call, row.span, index), () => fold(rows));
  }
  fold(rows);
  const ticks = run("ticks", [0, 0.5, 1].map(part => el("span", {}, times(total * part))));
  const head = [["Span", "t-name"], [ticks], ["Start", "t-time"], ["Duration", "t-time"], ["Outcome", "t-out"]];
  return [
    call.joined && el("p", { class: "muted" }, joinedText(call)),
    call.cached ? muted(`The response is from the cache. ${line(call.cacheStatus)}`)
      : call.source && muted(`The plugin ${line(call.source)} responded without an exchange.`),
    el("table", { class: "timeline" }, el("caption", { class: "unseen" }, "Spans of the call"), el("thead", {},
      el("tr", {}, head.map(([label, kind]) => el("th", { scope: "col", class: kind }, label)))),
    el("tbody", {}, rows.map(row => row.node))),
    dropped > 0 && muted(`${plural(dropped, "more span")} not recorded.`)];
}

function spanRow(row, total, times, tags, refold) {
  const { span, depth } = row, { start, duration } = span, kind = KINDS.get(span.kind) ?? "plugin";
  const name = line(span.name, 200), label = line(span.kind, 20), outcome = line(span.outcome, 200);
  const length = duration === null ? "running" : times(duration), bar = run(`span k-${kind}`);
  if (row.isParent) row.toggle = button("", () => { row.isFolded = !row.isFolded; refold(); },
    { class: "twist", "aria-label": `Spans in ${label} ${name}` });
  const cell = el("div", { class: "t-label" }, row.toggle ?? run("gap"),
    run(`kind k-${kind}`, label), " ", run("name", name.replace(/ https?:\/\/[^/?#]+/i, " ")),
    tags.map(tag => run("tag", tag)));
  bar.style.left = `${Math.min(100, start / total * 100)}%`;
  bar.style.width = `${Math.min(100, (duration ?? Math.max(0, total - start)) / total * 100)}%`;
  cell.style.paddingLeft = `${Math.min(depth, 16) * 0.9}em`;
  // An outcome is a status or the code of an error.
  const isBad = /^[45]\d\d$|[^\d…]/.test(span.outcome);
  return el("tr", { title: `${label} ${name}\nstart ${time(start)}, duration ${time(duration)}\n${outcome}`.trim() },
    el("th", { scope: "row" }, cell), el("td", {}, run("lane", bar)),
    el("td", { class: "t-time" }, times(start)), el("td", { class: "t-time" }, length),
    el("td", { class: isBad ? "s5" : null }, outcome));
}

function fold(rows) {
  let limit = Infinity;
  for (const { depth, node, toggle, isFolded } of rows) {
    if (depth <= limit) limit = Infinity;
    node.hidden = depth > limit;
    if (isFolded && limit === Infinity) limit = depth;
    if (toggle) aria(toggle, "expanded", !isFolded);
  }
}

// MARK: cURL

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

// A hidden character becomes octal bytes, so that the command is what the reader sees.
function shellWord(value) {
  if (/^[\w-]+$/.test(value)) return value;
  const hidden = new RegExp(`${UNSEEN.source}|[\\t\\r\\n]`, "g"), word = value.replace(LONE, "\ufffd");
  if (word.search(hidden) < 0) return `'${word.replaceAll("'", "'\\''")}'`;
  const octal = character => [...new TextEncoder().encode(character)]
    .map(byte => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  return `$'${word.replace(/[\\']/g, "\\$&").replace(hidden, octal)}'`;
}

function curlOf(exchange) {
  const { request, url } = exchange, method = request.get("method") || "GET", ready = exchange.note("curl");
  if (ready) return { command: ready };
  if (!/^https?:\/\//i.test(url)) return { problem: "No cURL command: the URL is not an http or https URL." };
  if (!TOKEN.test(method)) return { problem: "No cURL command: the method is not valid." };
  const body = readBody(request.body), hasBody = Boolean(body.text || body.bytes?.length);
  const words = [method === "HEAD" && !hasBody ? "curl --head" : `curl -X ${shellWord(method)}`];
  if (/[[\]{}]/.test(url)) words.push("--globoff");
  for (const [name, value] of request.headers) {
    // A name that is not a token could make the argument the name of a file.
    if (!TOKEN.test(name) || /[\r\n\0]/.test(value) || /^(content-length|transfer-encoding)$/i.test(name)) continue;
    words.push(`-H ${shellWord(value.trim() ? `${name}: ${value}` : `${name};`)}`);
  }
  if (hasBody && !fieldIn(request.headers, "content-type")) words.push("-H 'Content-Type:'");
  // An argument cannot hold a NUL.
  const pipes = hasBody && (body.text === null || body.text.includes("\0"));
  if (hasBody) words.push(pipes ? "--data-binary @-" : `--data-raw ${shellWord(body.text)}`);
  words.push(shellWord(url));
  const before = pipes ? `printf %s '${btoa(latin1(bytesOf(body)))}' | base64 -d | ` : "";
  return { command: before + words.join(" \\\n  ") };
}

function curlTab(call) {
  const [picker, exchange] = pickExchange(call);
  if (!exchange) return muted("The call sent no request over the network.");
  const { command, problem } = curlOf(exchange);
  return [picker, problem ? muted(problem) : [el("p", {}, button("Copy", () => copyText(command))),
    el("pre", { id: "command", tabindex: "0", "aria-label": "cURL command", role: "group" }, visible(command))]];
}

async function copyText(value) {
  try {
    await navigator.clipboard.writeText(value);
    note("Copied.");
  } catch {
    const shown = $("command");
    if (!shown) return note("The browser does not allow copying.");
    getSelection().selectAllChildren(shown);
    note(document.execCommand("copy") ? "Copied." : "The command is selected.");
  }
}

function copyCurl() {
  const call = state.calls.get(state.open ?? state.active);
  if (!call) return;
  const exchange = pickExchange(call)[1], { command, problem } = exchange ? curlOf(exchange)
    : { problem: "The call sent no request over the network." };
  if (command) copyText(command); else note(problem);
}

// MARK: Export

function harOf(calls) {
  const { creator, browser, pages, comment } = state.log;
  const log = { version: "1.2", creator: creator ?? { name: "Pipeline", version: "" }, browser, pages, comment };
  log.entries = calls.flatMap(call => call.exchanges.map(exchange => exchange.entry));
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
const EXPORTS = new Map([
  ["export-all", ["All calls", () => [...state.calls.values()], "calls.har"]],
  ["export-shown", ["Filtered calls", () => state.shown, "filtered.har"]],
  ["export-selected", ["Selected calls", () => [...state.marked].map(key => state.calls.get(key)), "selected.har"]],
]);

function prepareExports() {
  for (const [id, [label, calls]] of EXPORTS) {
    const count = calls().length;
    $(id).textContent = `${label} (${grouped(count)})`;
    $(id).disabled = count === 0;
  }
  const place = $("export").getBoundingClientRect(), { style } = $("exports");
  style.top = `${place.bottom + 4}px`;
  style.right = `${Math.max(4, innerWidth - place.right)}px`;
}

// MARK: Comparison

// Myers's algorithm; its memory grows with the square of the number of differences, hence the limit.
function diffLines(before, after, limit = 1500) {
  let head = 0, tail = 0;
  const most = Math.min(before.length, after.length), same = value => [" ", value];
  while (head < most && before[head] === after[head]) head += 1;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const a = before.slice(head, before.length - tail), b = after.slice(head, after.length - tail), trace = [];
  const furthest = new Map([[1, 0]]), result = [];
  const isDown = (map, diagonal, edits) => diagonal === -edits
    || (diagonal !== edits && map.get(diagonal - 1) < map.get(diagonal + 1));
  search: for (let edits = 0; ; edits += 1) {
    if (edits > limit) return null;
    trace.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = isDown(furthest, diagonal, edits) ? furthest.get(diagonal + 1) : furthest.get(diagonal - 1) + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) break search;
    }
  }
  let x = a.length, y = b.length;
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const old = trace[edits], down = isDown(old, x - y, edits), from = x - y + (down ? 1 : -1), oldX = old.get(from);
    const oldY = oldX - from;
    while (x > Math.max(0, oldX) && y > Math.max(0, oldY)) {
      result.push(same(a[x - 1]));
      [x, y] = [x - 1, y - 1];
    }
    if (edits > 0) result.push(down ? ["+", b[y - 1]] : ["-", a[x - 1]]);
    [x, y] = [oldX, oldY];
  }
  return [...before.slice(0, head).map(same), ...result.reverse(), ...before.slice(before.length - tail).map(same)];
}

function linesOf(body) {
  const json = body.text ? parseJSON(body.text) : null;
  if (json?.items) return { kind: "JSON", lines: jsonLines(json, 20000, true) };
  if (body.text === null) return { kind: "bytes", lines: [] };
  return { kind: "text", lines: body.text.split("\n").slice(0, 20000) };
}

function bodyDiff(first, second) {
  const a = linesOf(first), b = linesOf(second), left = bytesOf(first), right = bytesOf(second);
  if (!left.length && !right.length) return muted("Neither has a body.");
  if (latin1(left) === latin1(right)) return muted("The bodies are equal.");
  if (a.kind === "bytes" || b.kind === "bytes") {
    return muted(`The bodies differ: ${bytes(left.length)} and ${bytes(right.length)}, not both text.`);
  }
  const lines = diffLines(a.lines, b.lines);
  if (!lines) return muted("The bodies differ in too many lines for a comparison line by line.");
  const near = lines.map(() => false);
  lines.forEach(([mark], index) => { if (mark !== " ") near.fill(true, Math.max(0, index - 3), index + 4); });
  if (!near.includes(true)) return muted(a.kind === "JSON"
    ? "The JSON is equal; its layout or the order of its members differs." : "The first 20,000 lines are equal.");
  const box = el("div", { class: "diff", role: "group", "aria-label": "Differences of the bodies", tabindex: "0" });
  let skipped = 0;
  const flush = () => {
    if (skipped) box.append(el("div", { class: "muted" }, `… ${plural(skipped, "equal line")}`));
    skipped = 0;
  };
  lines.forEach(([mark, value], index) => {
    if (!near[index]) { skipped += 1; return; }
    flush();
    box.append(el(mark === "+" ? "ins" : mark === "-" ? "del" : "div", {}, `${mark} ${visible(clip(value, 2000))}`));
  });
  flush();
  return box;
}

function differences(caption, rows) {
  const count = rows.filter(([, a, b]) => a !== b).length, value = side => side === null ? "(absent)" : longText(side);
  const mark = (a, b) => a === b ? "=" : el("strong", {}, "≠");
  const title = `${caption}: ${count ? plural(count, "difference") : "equal"}`;
  return section(title, table(
    run("unseen", caption), ["Name", run("unseen", "Equal or not"), "First call", "Second call"],
    rows.map(([name, a, b]) => [line(name, 200), mark(a, b), value(a), value(b)]), { class: "compare" }));
}

function fieldDifferences(a, b) {
  const [first, second] = [a, b].map(fields => {
    const values = new Map();
    for (const [name, value] of fields) {
      const key = name.toLowerCase();
      values.set(key, values.has(key) ? `${values.get(key)}, ${value}` : value);
    }
    return values;
  });
  return [...new Set([...first.keys(), ...second.keys()])].sort()
    .map(name => [name, first.get(name) ?? null, second.get(name) ?? null]);
}

const FACTS = [["Method", call => call.method], ["URL", call => call.url], ["Target", call => call.target],
  ["Status", statusText], ["Error", call => call.error?.code ?? ""], ["Started", call => clock(call.begin)],
  ["Duration", call => time(call.duration)], ["Size", call => bytes(call.size)],
  ["Attempts", call => `${call.attempts}`], ["Redirects", call => `${call.hops}`],
  ["Cache-Status", call => call.cacheStatus]];

function compareMarked() {
  const [a, b] = byStart(EXPORTS.get("export-selected")[1]()), [first, second] = [a.last.request, b.last.request];
  $("comparison-body").replaceChildren(
    differences("Calls", FACTS.map(([name, value]) => [name, value(a), value(b)]).filter(row => row[1] || row[2])),
    differences("Header fields of the requests", fieldDifferences(first.headers, second.headers)),
    section("Bodies of the requests", bodyDiff(readBody(first.body), readBody(second.body))),
    differences("Header fields of the responses", fieldDifferences(a.result.headers, b.result.headers)),
    section("Bodies of the responses", bodyDiff(readBody(a.result.body), readBody(b.result.body))));
  showView("comparison");
  $("comparison-title").focus();
}

// MARK: Statistics

// By nearest rank.
const percentile = (sorted, share) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];

function statisticsOf(calls, member) {
  const groups = new Map();
  for (const call of calls) {
    const group = groups.get(call[member]);
    if (group) group.push(call); else groups.set(call[member], [call]);
  }
  return [...groups].map(([name, group]) => {
    const times = Float64Array.from(group, call => call.duration).sort();
    const failed = group.filter(call => call.failed).length, bytes = group.reduce((sum, call) => sum + call.bytes, 0);
    return { name, count: group.length, failed, rate: failed / group.length, bytes, p50: percentile(times, 0.5),
      p95: percentile(times, 0.95), p99: percentile(times, 0.99) };
  });
}

const STATISTICS = [["rate", "Error rate",
  value => el("span", { class: value > 0 ? "s5" : null }, `${(value * 100).toFixed(1)} %`)],
["p50", "p50", time], ["p95", "p95", time], ["p99", "p99", time], ["count", "Calls", grouped],
["failed", "Failed", grouped], ["bytes", "Bytes", bytes]];
const order = { column: "count", descending: true };

function statisticsTable(title, member, calls) {
  const { column, descending } = order, sign = descending ? -1 : 1, groups = statisticsOf(calls, member);
  groups.sort((a, b) => a[column] < b[column] ? -sign : a[column] > b[column] ? sign : 0);
  const show = ({ name }) => button(line(name, 200) || "(none)", () => {
    setFilter(`${member}:"${name}"`);
    showView("calls");
    $("grid").focus();
  }, { title: "Show its calls", disabled: name === "" || name.includes('"') });
  const sort = id => {
    order.descending = column === id ? !descending : id !== "name";
    order.column = id;
    renderStatistics();
  };
  const head = ([id, label]) => el("th", { scope: "col", "aria-sort": sortState(column === id, descending) },
    button(label, () => sort(id)));
  const label = `By ${member}`, box = { class: "wide", tabindex: "0", role: "group", "aria-label": label };
  return groups.length > 0 && section(label, el("div", box, el("table", { class: "numbers" },
    el("thead", {}, el("tr", {}, [["name", title], ...STATISTICS].map(head))),
      el("tbody", {}, groups.slice(0, 200).map(group => el("tr", {}, el("th", { scope: "row" }, show(group)),
        STATISTICS.map(([id, , format]) => el("td", {}, format(group[id])))))))),
  groups.length > 200 && muted(`${plural(groups.length - 200, "more row")} not shown. Filter the calls to see them.`));
}

function renderStatistics() {
  const ended = state.shown.filter(call => !call.running);
  $("statistics-body").replaceChildren();
  fill($("statistics-body"), muted(`Of ${plural(ended.length, "ended call")} that the filter shows. A call fails with `
    + "an error or with a status of 400 or higher. Percentiles are of the whole call, including retries."),
  statisticsTable("Host", "host", ended), statisticsTable("Target", "target", ended.filter(call => call.target)));
}

function showView(name) {
  const isOpen = name === "calls" && state.open !== null;
  state.view = name;
  $("list").hidden = name !== "calls";
  $("detail").hidden = $("splitter").hidden = !isOpen;
  $("statistics").hidden = name !== "statistics";
  $("comparison").hidden = name !== "comparison";
  $("main").className = isOpen ? "split" : "";
  aria($("show-calls"), "pressed", name === "calls");
  aria($("show-statistics"), "pressed", name === "statistics");
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
    const response = await fetch(`data?after=${state.version}`, { cache: "no-store", redirect: "error" });
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
  // Without the member, the document replaces all calls.
  const removed = (own.removed ?? [...state.calls.keys()]).map(String);
  state.version = num(own.version, state.version);
  const dropped = num(own.droppedCalls, state.dropped);
  if (!calls.length && !removed.length && dropped === state.dropped) return;
  state.dropped = dropped;
  const atEnd = state.sort === "start" && !state.descending
    && grid.scrollTop + grid.clientHeight >= grid.scrollHeight - 4;
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
  findLeaders();
  applyFilter(false);
  if (removed.length) marked();
  if (atEnd) grid.scrollTop = grid.scrollHeight;
}

// MARK: Keyboard

function closeTop() {
  if (state.view === "calls") return closeCall();
  showView("calls");
  $("grid").focus();
}

const moveBy = rows => moveTo(activeIndex() + rows);
const page = () => Math.max(1, Math.floor($("grid").clientHeight / rowHeight()) - 2);
const KEYS = new Map([
  ["j", () => moveBy(1)], ["k", () => moveBy(-1)], ["/", () => $("filter").select()], ["x", () => mark(state.active)],
  ["c", copyCurl], ["?", () => $("help").showModal()], ["Escape", closeTop],
]);
TABS.forEach(([id], index) => KEYS.set(String(index + 1), () => state.open !== null && showTab(id)));

const GRID_KEYS = new Map([
  ["ArrowDown", () => moveBy(1)], ["ArrowUp", () => moveBy(-1)], ["PageDown", () => moveBy(page())],
  ["PageUp", () => moveBy(-page())], ["Home", () => moveTo(0)], ["End", () => moveTo(state.shown.length - 1)],
  ["Enter", () => openCall(state.active, true)], [" ", () => mark(state.active)],
]);

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const target = event.target, inField = target.matches?.("input:not([type=checkbox]), select, textarea");
  if (inField) {
    if (event.key === "Escape" && target === $("filter") && !target.value) $("grid").focus();
    if (/^(ArrowDown|Enter)$/.test(event.key) && target === $("filter")) {
      $("grid").focus();
      moveTo(Math.max(0, activeIndex()));
      event.preventDefault();
    }
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
    aria(splitter, "valuenow", Math.round(share));
    renderListSoon();
  };
  splitter.addEventListener("pointerdown", event => {
    splitter.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  splitter.addEventListener("pointermove", event => {
    if (splitter.hasPointerCapture(event.pointerId)) set(event.clientX / innerWidth * 100);
  });
  splitter.addEventListener("keydown", event => {
    const step = event.key === "ArrowRight" ? 2 : event.key === "ArrowLeft" ? -2 : 0;
    if (step) { set(share + step); event.preventDefault(); }
  });
  set(share);
}

// MARK: Start

const FILTER_HELP = [
  ["users", "with this text in the URL, target, method, status or error"],
  ['"two words"', "with a text that has spaces"],
  ["-host:cdn", "that a filter does not match"], ["status:404", "with a status; also 5xx, 400-499"],
  ["method:post", "with a method"], ["host:api", "whose host has this text"],
  ["target:user", "whose target has this text"], ["type:json", "whose response has this media type"],
  ["error:timeout", "whose error has this text"],
  ["header:etag", "with this text in a header field"], ["body:name", "with this text in a body"],
  ["larger:10k", "with a larger response; also smaller:2M"], ["slower:200ms", "that took longer; also faster:2s"],
  ["is:failed", "with an error, or a status of 400 or higher"],
  ["is:retried", "with more than one attempt; also is:redirected, is:cached, is:joined, is:running"],
  ["is:refused", "that were not retried, or whose redirect was not followed"],
];
const KEY_HELP = [
  ["j k ↓ ↑", "next or previous call"], ["Enter", "opens the call"], ["Esc", "closes what is open"],
  ["/", "moves to the filter"], ["1 2 3 4 5", "shows a tab of the call"],
  ["x", "selects the call for export or comparison"], ["c", "copies the call as a cURL command"],
  ["?", "opens this help"],
];

function buildHelp() {
  fill($("help-body"), table("Filters", ["Filter", "Calls that it shows"],
    FILTER_HELP.map(([filter, meaning]) => [el("code", {}, filter), meaning])),
  table("Keys", ["Key", "Action"], KEY_HELP.map(([keys, action]) =>
    [keys.split(" ").map(key => [el("kbd", {}, key), " "]), action])));
}

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
  for (const [id, [, calls, name]] of EXPORTS) {
    on(id, "click", () => { $("exports").hidePopover(); download(byStart(calls()), name); });
  }
  on("pause", "click", () => {
    state.paused = !state.paused;
    aria($("pause"), "pressed", state.paused);
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
  buildHelp();
  for (const label of CHIPS) {
    const value = `is:${label.toLowerCase()}`;
    $("chips").append(button(label, () => toggleWord(value), { value, "aria-pressed": "false" }));
  }
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
  const { name, version } = record(state.log.creator), first = state.shown[0];
  const program = text(record(state.log._pipeline).program) || `${text(name)} ${text(version)}`.trim();
  document.title = [program, first && clock(first.begin), "HTTP calls"].filter(Boolean).join(" · ");
  const odd = call => call.failed || call.attempts > 1;
  if (!phone.matches) openCall((state.shown.find(odd) ?? first)?.key);
  renderConnection();
  schedule();
}

start();
