// The dashboard: listens to /events and draws. No library; nothing is loaded from anywhere else, and
// text that comes from outside is only ever set as text.
"use strict";
const $ = (id) => document.getElementById(id);
let words = { steps: [], causes: [], states: [] }, sample = null, history = [], heard = 0;

// --- small things -------------------------------------------------------------------------------

function make(tag, text, kind) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (kind) e.className = kind;
  return e;
}
function fill(at, ...children) { at.replaceChildren(...children); }
function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (n >= 1024 && i < 4) { n /= 1024; i++; }
  return (n >= 100 || i === 0 ? Math.round(n) : n.toFixed(1)) + " " + units[i];
}
function length(us) {
  if (us < 1000) return Math.round(us) + " µs";
  if (us < 1e6) return (us / 1000).toFixed(us < 1e4 ? 1 : 0) + " ms";
  if (us < 6e7) return (us / 1e6).toFixed(us < 1e7 ? 2 : 1) + " s";
  if (us < 3.6e9) return Math.floor(us / 6e7) + " min " + Math.round((us % 6e7) / 1e6) + " s";
  if (us < 8.64e10) return (us / 3.6e9).toFixed(1) + " h";
  return (us / 8.64e10).toFixed(1) + " d";
}
const percent = (x) => (x > 0 && x < 0.0005 ? "< 0.1" : (100 * x).toFixed(x > 0 && x < 0.0995 ? 1 : 0)) + " %";
const plain = (name) => name.replaceAll("_", " ");
function number(x) { return x >= 100 ? Math.round(x).toString() : x >= 10 ? x.toFixed(1) : x > 0 ? x.toFixed(2) : "0"; }
function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }

const causeColours = { process_down: "down", registration: "registration", key_load: "key", copy_in: "copy", previous_finish: "finish", descriptor: "descriptor", matrices: "matrices", witness: "witness", synthd: "synthd", room: "room", no_work: "nowork" };
const groups = [
  ["waiting", "wait", ["queue_wait", "room_wait", "synthd_wait", "ready_wait", "desk_wait"]],
  ["hand-over", "descriptor", ["grant", "publish", "ring", "release", "settle"]],
  ["witness", "witness", ["witness", "program"]],
  ["matrices", "matrices", ["matrices", "kernel_matrices"]],
  ["key", "key", ["key_load", "key_evict", "register"]],
  ["copies", "copy", ["copy_in", "copy_key", "copy_out", "prove_start"]],
  ["collecting", "finish", ["prove_finish"]],
  ["kernels", "busy", ["kernels", "kernel_ntt", "kernel_classify", "kernel_msm_a", "kernel_msm_b1", "kernel_msm_b2", "kernel_msm_l", "kernel_msm_h"]],
  ["check", "check", ["result", "pairing"]],
  ["ledger", "commit", ["commit"]],
];
// Later groups are drawn over earlier ones: what is nearest to the proof is seen.
const groupOf = new Map(groups.flatMap(([, , names], i) => names.map((n) => [n, i])));

// A canvas at the screen's own resolution; returns its context with width and height in CSS pixels.
function surface(canvas, height) {
  const width = canvas.clientWidth, h = height || canvas.clientHeight, scale = window.devicePixelRatio || 1;
  if (height) canvas.style.height = height + "px";
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(h * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(h * scale);
  }
  const c = canvas.getContext("2d");
  c.setTransform(scale, 0, 0, scale, 0, 0);
  c.clearRect(0, 0, width, h);
  c.font = "11px system-ui, sans-serif";
  return [c, width, h];
}

// --- GPUs ---------------------------------------------------------------------------------------

const LANE_HINT = "Point at a gap to read what it waited for.";
function laneOf(gpu) {
  const id = "lane-" + gpu.name;
  let lane = $(id);
  if (lane) return lane;
  lane = make("div", undefined, "lane");
  lane.id = id;
  const name = make("div"), canvas = make("canvas");
  name.append(make("span"), make("small"));
  canvas.setAttribute("role", "img");
  canvas.addEventListener("pointermove", (e) => pointLane(canvas, e.offsetX));
  canvas.addEventListener("pointerdown", (e) => pointLane(canvas, e.offsetX));
  canvas.addEventListener("pointerleave", () => { $("lane-hint").textContent = LANE_HINT; });
  lane.append(name, canvas);
  $("lanes").append(lane);
  return lane;
}
function pointLane(canvas, x) {
  const gpu = canvas.gpu, t = (x / canvas.clientWidth) * sample.window_s * 1e6;
  const gap = gpu.gaps.find((g) => g[0] <= t && t < g[1]);
  const ago = length(Math.max(0, sample.window_s * 1e6 - t)) + " ago: ";
  $("lane-hint").textContent = gpu.name + ", " + ago + (gap
    ? "idle for " + length(gap[1] - gap[0]) + ", " + plain(words.causes[gap[2]][0]) + " (" + words.causes[gap[2]][1] + ")" + (gap[3] ? ", ended by job " + gap[3] + " partition " + gap[4] : "")
    : "busy");
}
function drawLanes() {
  const gpus = sample.gpus, total = new Map();
  for (const lane of [...$("lanes").querySelectorAll(".lane")])
    if (!gpus.some((g) => "lane-" + g.name === lane.id) || !gpus.length) lane.remove();
  if (!$("lane-hint").textContent || !gpus.length) $("lane-hint").textContent = gpus.length ? LANE_HINT : "";
  let none = $("no-gpu");
  if (!gpus.length && !none) { none = make("p", "No GPU daemon has written anything yet.", "empty"); none.id = "no-gpu"; $("lanes").append(none); }
  if (gpus.length && none) none.remove();
  const devices = new Map(((sample.desk.status || {}).actors || []).map((a) => [a.name, a.device]));
  for (const gpu of gpus) {
    const lane = laneOf(gpu), canvas = lane.querySelector("canvas");
    const [name, about] = lane.firstChild.children;
    const share = gpu.wall_ns ? gpu.busy_ns / gpu.wall_ns : 0;
    name.textContent = gpu.name + " · " + percent(share) + " busy";
    about.textContent = devices.get(gpu.name) || "";
    canvas.gpu = gpu;
    canvas.setAttribute("aria-label", name.textContent);
    const [c, w, h] = surface(canvas), px = w / (sample.window_s * 1e6);
    c.fillStyle = colour("busy");
    c.fillRect(0, 0, w, h);
    for (const [begin, end, cause] of gpu.gaps) {
      const x = begin * px, width = Math.max(0.5, (end - begin) * px);
      c.fillStyle = colour("card");
      c.fillRect(x, 0, width, h);
      c.fillStyle = colour(causeColours[words.causes[cause][0]] || "nowork");
      // Having nothing to do is not a loss: a low mark, so that the gaps that are one stand out.
      if (words.causes[cause][0] === "no_work") c.fillRect(x, h - 6, width, 6);
      else c.fillRect(x, h / 3, width, h - h / 3);
    }
    for (const [cause, ns] of Object.entries(gpu.causes_ns)) total.set(cause, (total.get(cause) || 0) + ns);
  }
  drawAxis();
  const wall = gpus.reduce((s, g) => s + g.wall_ns, 0), busy = gpus.reduce((s, g) => s + g.busy_ns, 0);
  const items = [["busy", "busy", busy, "a kernel was running"]];
  for (const [name, doc] of words.causes)
    if (total.get(name)) items.push([plain(name), causeColours[name] || "nowork", total.get(name), doc]);
  fill($("causes"), ...(gpus.length ? items : []).map(([name, tint, ns, doc]) => legendItem(name, tint, percent(ns / wall), doc)));
  $("busy").textContent = gpus.length ? percent(wall ? busy / wall : 0) : "–";
}
function legendItem(name, tint, value, doc) {
  const li = make("li"), dot = make("i");
  dot.style.background = "var(--" + tint + ")";
  li.append(dot, name);
  if (value) li.append(make("b", value));
  if (doc) li.title = doc;
  return li;
}
function drawAxis() {
  let axis = $("axis");
  if (!axis) {
    axis = make("div", undefined, "lane");
    axis.id = "lane-axis-row";
    const canvas = make("canvas", undefined, "axis");
    canvas.id = "axis";
    axis.append(make("div"), canvas);
    axis = canvas;
  }
  const row = axis.parentNode;
  if (!sample.gpus.length) { row.remove(); return; }
  $("lanes").append(row);
  const [c, w] = surface(axis), n = w > 500 ? 6 : 3;
  c.fillStyle = colour("faint");
  for (let i = 0; i <= n; i++) {
    const text = i === n ? "now" : "−" + Math.round(sample.window_s * (1 - i / n)) + " s";
    c.textAlign = i === 0 ? "left" : i === n ? "right" : "center";
    c.fillText(text, (w * i) / n, 11);
  }
}

// --- partitions ---------------------------------------------------------------------------------

const ROW = 15, LABEL = 64, FLOW_HINT = "Point at a partition to read its steps.";
let shown = { rows: [], from: 0, to: 1 };
function drawWaterfall() {
  const canvas = $("waterfall"), most = window.innerWidth < 760 ? 20 : 30;
  const rows = sample.partitions.slice(-most);
  const seen = sample.partitions_seen;
  $("flow-note").textContent = seen ? "the newest " + rows.length + " of " + seen + " in the last minute, from grant to ledger" : "";
  canvas.hidden = !rows.length;
  fill($("groups"), ...(rows.length ? groups : []).map(([name, tint, names]) => legendItem(name, tint, "", names.map(plain).join(", "))));
  if (!rows.length) {
    $("flow-hint").textContent = "Nothing was under way in the last minute.";
    $("flow-hint").className = "empty";
    return;
  }
  if ($("flow-hint").className === "empty" || !$("flow-hint").textContent) {
    $("flow-hint").className = "hint";
    $("flow-hint").textContent = FLOW_HINT;
  }
  // The time that is shown begins with the first real step: a long queue would press all else flat.
  const real = rows.flatMap((r) => r.steps.filter((s) => groupOf.get(words.steps[s[0]][0]) > 0));
  const from = real.length ? Math.min(...real.map((s) => s[1])) : 0;
  const to = Math.max(from + 1000, ...rows.flatMap((r) => r.steps.map((s) => s[2])));
  const [c, w] = surface(canvas, rows.length * ROW + 18), px = (w - LABEL) / (to - from);
  shown = { rows, from, to };
  rows.forEach((row, i) => {
    const y = i * ROW, failed = row.outcome !== 0;
    c.fillStyle = colour(failed ? "bad" : "soft");
    c.textAlign = "left";
    c.fillText(row.job + "." + row.partition + (row.attempt > 1 ? " ×" + row.attempt : ""), 0, y + 11);
    c.fillStyle = colour("track");
    c.fillRect(LABEL, y + 2, w - LABEL, ROW - 4);
    const steps = row.steps.map((s) => [groupOf.get(words.steps[s[0]][0]), s]).filter(([g]) => g !== undefined).sort((a, b) => a[0] - b[0]);
    for (const [g, [, begin, end, open]] of steps) {
      const x = LABEL + Math.max(0, (begin - from) * px), right = LABEL + (end - from) * px;
      if (right < LABEL) continue;
      c.fillStyle = colour(groups[g][1]);
      c.globalAlpha = open ? 0.55 : 1; // not over yet
      c.fillRect(x, y + 2, Math.max(1, right - x), ROW - 4);
      c.globalAlpha = 1;
    }
    if (failed) { c.strokeStyle = colour("bad"); c.strokeRect(LABEL + 0.5, y + 1.5, w - LABEL - 1, ROW - 3); }
  });
  c.fillStyle = colour("faint");
  c.textAlign = "left";
  c.fillText("0", LABEL, rows.length * ROW + 13);
  c.textAlign = "right";
  c.fillText(length(to - from), w, rows.length * ROW + 13);
}
function pointWaterfall(e) {
  const row = shown.rows[Math.floor(e.offsetY / ROW)], w = $("waterfall").clientWidth;
  if (!row) return;
  const t = shown.from + ((e.offsetX - LABEL) / (w - LABEL)) * (shown.to - shown.from), slack = (2 / (w - LABEL)) * (shown.to - shown.from);
  const at = row.steps.filter((s) => s[1] - slack <= t && t <= s[2] + slack).sort((a, b) => a[2] - a[1] - (b[2] - b[1]));
  const state = row.state !== undefined ? words.states[row.state].toLowerCase() + " for " + length(row.age_ms * 1000) : row.outcome ? "failed" : "settled";
  $("flow-hint").textContent = "job " + row.job + " partition " + row.partition + " (" + state + ")" + (row.gpud ? " on " + row.gpud : "") + at.slice(0, 3).map((s) => " · " + plain(words.steps[s[0]][0]) + " " + length(s[2] - s[1])).join("");
}

// --- tables -------------------------------------------------------------------------------------

function table(at, columns, rows, empty) {
  if (!rows.length) { fill(at, typeof empty === "string" ? make("p", empty, "empty") : empty); return; }
  // On a phone a long text has a line of its own below its row.
  const below = window.innerWidth < 760, across = columns.filter(([, kind]) => !below || kind !== "text");
  const head = make("tr"), body = rows.flatMap((row) => {
    const tr = make("tr"), lines = [tr];
    for (const [, kind, get, tint] of columns) {
      const value = get(row), text = value === undefined || value === null ? "" : String(value), td = make("td", text, kind);
      if (tint && tint(row)) td.classList.add(tint(row));
      if (!below || kind !== "text") { tr.append(td); continue; }
      if (!text) continue;
      const line = make("tr");
      td.colSpan = across.length;
      tr.className = "joined";
      line.append(td);
      lines.push(line);
    }
    return lines;
  });
  for (const [title, kind] of across) head.append(make("th", title, kind));
  const t = make("table"), box = make("div", undefined, "scroll");
  t.append(head, ...body);
  box.append(t);
  fill(at, box);
}
const tints = { done: "good", failed: "bad", deadline: "bad", cancelled: "warn", running: "", queued: "soft" };
function drawJobs() {
  const jobs = [...sample.jobs].reverse().slice(0, window.innerWidth < 760 ? 8 : 12), s = sample.desk.status || {};
  $("jobs-note").textContent = s.jobs_open ? s.jobs_open + " open" : "";
  const first = (sample.circuits || [])[0], how = make("p", "No job yet. Submit one: ", "empty");
  how.append(make("code", "curl --data-binary @witness.wtns '" + location.origin + "/v1/jobs?circuit=" + (first ? first.alias || first.circuit : "NAME") + "&wait=30'"));
  table($("joblist"), [
    ["job", "n", (j) => j.job],
    ["state", "", (j) => j.state, (j) => tints[j.state]],
    ["circuit", "", (j) => j.circuit.length > 24 ? j.circuit.slice(0, 12) + "…" : j.circuit],
    ["proved", "n", (j) => j.proved + " of " + j.partitions],
    ["took", "n", (j) => length((j.took_ms !== undefined ? j.took_ms : j.age_ms) * 1000)],
    ["", "text", (j) => j.reason || (j.priority ? "priority " + j.priority : "")],
  ], jobs, how);
}
function drawNodes() {
  const order = words.states.filter((s) => s !== "FREE"), memory = (sample.desk.status || {}).memory;
  const parts = sample.nodes.map((n) => {
    const box = make("div", undefined, "node"), line = make("p"), meter = make("div", undefined, "meter"), used = make("i"), states = make("p", undefined, "states");
    line.append(make("span", "node " + n.node), make("span", bytes(n.used_bytes) + " of " + bytes(n.total_bytes), "soft"));
    used.style.width = 100 * (n.total_bytes ? n.used_bytes / n.total_bytes : 0) + "%";
    meter.append(used);
    const held = order.filter((s) => n.leases[s].n).map((s) => n.leases[s].n + " " + s.toLowerCase() + " (" + length(n.leases[s].oldest_ms * 1000) + ")");
    states.append(held.length ? held.join(" · ") : "no lease is held");
    box.append(line, meter, states);
    return box;
  });
  if (memory) {
    const line = make("p", undefined, "soft");
    line.textContent = "budget " + bytes(memory.charged_bytes) + " of " + bytes(memory.limit_bytes) + ", of it keys and matrices " + bytes(memory.key_bytes);
    parts.push(line);
  }
  fill($("nodes"), ...(parts.length ? parts : [make("p", "The arenas are not there: the instance is down.", "empty")]));
}
function drawDaemons() {
  table($("daemonlist"), [
    ["daemon", "", (d) => d.name],
    ["", "", (d) => (d.running ? (d.heartbeat_ms > 5000 ? "late" : "up") : "gone"), (d) => (d.running ? (d.heartbeat_ms > 5000 ? "warn" : "good") : "bad")],
    ["holds", "n", (d) => d.stats.in_flight],
    ["done", "n", (d) => d.done],
    ["a second", "n", (d) => number(d.rate)],
    ["keys", "n", (d) => (d.stats.charged_bytes ? bytes(d.stats.charged_bytes) : "")],
    ["since", "n", (d) => length((sample.time_ms - d.started_ms) * 1000)],
    ["doing", "text", (d) => d.step],
  ], sample.daemons, "No daemon of this instance runs. Start it: millrace up");
}
function drawCircuits() {
  table($("circuitlist"), [
    ["name", "", (c) => c.alias || c.circuit.slice(0, 12) + "…"],
    ["curve", "", (c) => c.curve || c.trouble],
    ["constraints", "n", (c) => (c.constraints || 0).toLocaleString("en")],
    ["public", "n", (c) => c.publics],
    ["key", "n", (c) => (c.bytes ? bytes(c.bytes) : "")],
    ["resident", "n", (c) => c.resident],
    ["takes", "text", (c) => (c.program ? "witness, input.json" : "witness")],
  ], sample.circuits || [], "No circuit yet. Add one: millrace circuit add KEY.zkey");
}

// --- history ------------------------------------------------------------------------------------

// A point is [time_ms, proofs a second, busy share, memory share, waiting, in flight].
const isShare = (k) => k === 2 || k === 3;
function drawSeries(canvas, points, labelled) {
  const [c, w, h] = surface(canvas), k = Number(canvas.dataset.series), top = labelled ? 14 : 2, bottom = labelled ? h - 14 : h - 1;
  const now = sample.time_ms;
  // As far back as there is something to show: ten minutes at least, an hour at most.
  const age = points.length ? now - points[0][0] : 0, span = labelled ? (age > 1800e3 ? 3600e3 : age > 600e3 ? 1800e3 : 600e3) : 600e3;
  const begin = now - span;
  const at = points.filter((p) => p[0] >= begin && p[k] >= 0);
  const most = isShare(k) ? 1 : Math.max(1e-9, ...at.map((p) => p[k]));
  c.strokeStyle = colour("line");
  c.beginPath(); c.moveTo(0, bottom + 0.5); c.lineTo(w, bottom + 0.5); c.stroke();
  if (labelled) {
    c.fillStyle = colour("faint");
    c.textAlign = "left"; c.fillText("−" + Math.round(span / 60e3) + " min", 0, h - 2);
    c.textAlign = "right"; c.fillText("now", w, h - 2);
    c.textAlign = "left";
    c.fillText(at.length < 2 ? "a point comes every five seconds" : isShare(k) ? "100 %" : most < 1e-6 ? "0" : number(most), 0, 10);
  }
  if (at.length < 2) return;
  const x = (p) => ((p[0] - begin) / span) * w, y = (p) => bottom - (p[k] / most) * (bottom - top);
  c.beginPath();
  let last = null;
  for (const p of at) {
    if (last && p[0] - last[0] < 30e3) c.lineTo(x(p), y(p)); else c.moveTo(x(p), y(p));
    last = p;
  }
  c.strokeStyle = colour("busy");
  c.lineWidth = 1.5;
  c.lineJoin = "round";
  c.stroke();
  c.lineWidth = 1;
}

// --- the whole ----------------------------------------------------------------------------------

function drawTiles() {
  const s = sample.desk.status || {}, desk = sample.daemons.find((d) => d.name === "finalizd");
  const used = sample.nodes.reduce((n, x) => n + x.used_bytes, 0), total = sample.nodes.reduce((n, x) => n + x.total_bytes, 0);
  $("rate").textContent = number(desk ? desk.rate : 0);
  $("waiting").textContent = s.partitions_waiting || 0;
  $("flight").textContent = s.partitions_in_flight || 0;
  fill($("memory"), bytes(used), make("small", "of " + bytes(total)));
}
function drawState() {
  const s = sample.desk.status || {}, away = Date.now() - heard > 6000;
  const [text, kind] = away ? ["no word from the gateway", "bad"]
    : !sample.daemons.length ? ["the instance is down", "bad"]
    : !sample.desk.present ? ["the desk does not answer", "bad"]
    : s.ledger_trouble ? ["ledger: " + s.ledger_trouble, "bad"]
    : s.state === "draining" ? ["draining", "warn"] : ["running", "good"];
  $("state").textContent = text;
  $("state").className = "pill " + kind;
  $("where").textContent = s.dir || "";
  $("clock").textContent = new Date(sample.time_ms).toLocaleTimeString();
  document.title = text === "running" ? "Millrace · " + $("rate").textContent + "/s" : "Millrace · " + text;
  document.body.classList.toggle("stale", away);
}
function draw() {
  if (!sample || document.hidden) return;
  $("main").hidden = false;
  drawTiles();
  drawState();
  drawLanes();
  drawWaterfall();
  drawJobs();
  drawNodes();
  drawDaemons();
  drawCircuits();
  for (const canvas of document.querySelectorAll("canvas.spark")) drawSeries(canvas, history, false);
  for (const canvas of document.querySelectorAll("canvas.chart")) drawSeries(canvas, history, true);
}

// --- the stream: by fetch, since EventSource cannot send a token ------------------------------------

function take(event, data) {
  const value = JSON.parse(data);
  heard = Date.now();
  if (event === "words") words = value;
  if (event === "history") history = value;
  if (event === "point") { history.push(value); if (history.length > 720) history.shift(); }
  if (event === "sample") { sample = value; draw(); }
}
async function listen() {
  const token = sessionStorage.getItem("token");
  const answer = await fetch("/events", token ? { headers: { Authorization: "Bearer " + token } } : {});
  if (answer.status === 401 || answer.status === 403) {
    const why = await answer.json();
    $("ask").hidden = false;
    $("denied").textContent = token ? why.error.message : "";
    $("state").textContent = "closed";
    return false;
  }
  if (!answer.ok) throw new Error("status " + answer.status);
  $("ask").hidden = true;
  const reader = answer.body.getReader(), decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return true;
    rest += decoder.decode(value, { stream: true });
    for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) {
      const lines = rest.slice(0, end).split("\n");
      take(lines[0].slice(7), lines[1].slice(6));
    }
  }
}
async function keepListening() {
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    const began = Date.now();
    try {
      if (!(await listen())) return; // until a token is given
    } catch (e) {
      if (!sample) { $("state").textContent = "no word from the gateway"; $("state").className = "pill bad"; }
    }
    if (Date.now() - began > 10000) pause = 500;
    await new Promise((go) => setTimeout(go, pause));
  }
}
$("ask").addEventListener("submit", (e) => {
  e.preventDefault();
  sessionStorage.setItem("token", $("token").value.trim());
  $("token").value = "";
  keepListening();
});
for (const kind of ["pointermove", "pointerdown"]) $("waterfall").addEventListener(kind, pointWaterfall);
window.addEventListener("resize", draw);
document.addEventListener("visibilitychange", draw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
setInterval(() => { if (sample) drawState(); }, 2000);
keepListening();
