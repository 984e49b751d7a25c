// SPDX-License-Identifier: GPL-2.0-or-later
// The page of ./vssd watch: takes pictures from the server and shows them in its panels.
import {Chart} from "./charts.js";
import {Picture, View, prepared} from "./decode.js";
import {Dies, Superblocks} from "./maps.js";
import {Numbers, panel, put} from "./panels.js";
import {Slow} from "./slow.js";
import {element, forget, si, whole} from "./text.js";
import {Time} from "./time.js";
import {explain} from "./words.js";

const CHART_MS = 500, NUMBERS_MS = 250, SLOW_MAP_MS = 500;
const CALM_MS = 1000; // with prefers-reduced-motion
const QUIET_S = 2; // without a picture, of which the page tells
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// The curves of panels, and their values.
const CHARTS = {
  io: [{iops: {label: "IOPS", colour: "one"}}, {},
       v => ({iops: v.rate("requests")})],
  latency: [{read50: {label: "read p50", colour: "one"},
             read99: {label: "read p99", colour: "one", dash: "dashed"},
             write50: {label: "write p50", colour: "two"},
             write99: {label: "write p99", colour: "two", dash: "dashed"}},
            {log: true, unit: "µs"}, v => {
              const [read50, read99, write50, write99] = ["read", "write"].flatMap(op =>
                v.quantiles(`latency.${op}`, [0.5, 0.99]).map(x => x === null ? x : x / 1e3));
              return {read50, read99, write50, write99};
            }],
  waf: [{now: {label: "WAF now", colour: "one"}}, {},
        v => ({now: v.mean("waf", "host_bytes_written")})],
  buffer: [{used: {label: "used", colour: "one"},
            dirty: {label: "dirty", colour: "two", dash: "dashed"}}, {unit: "units"},
           v => ({used: v.value("buffer.units_used"),
                  dirty: v.value("buffer.units_dirty")})],
  gc: [{free: {label: "free blocks", colour: "one"},
        low: {label: "GC begins", colour: "two", dash: "dashed"},
        high: {label: "GC ends", colour: "three", dash: "dotted"}}, {},
       v => ({free: v.value("gc.free_blocks"), low: v.drive.gc_marks?.low,
              high: v.drive.gc_marks?.high})],
  queues: [{depth: {label: "commands in the drive", colour: "one"}}, {},
           v => ({depth: v.inFlight})],
  heat: [{celsius: {label: "temperature", colour: "two"}}, {zero: false, unit: "°C"},
         v => ({celsius: v.value("thermal.celsius")})],
  lateness: [{late: {label: "mean lateness", colour: "one"}}, {unit: "µs"}, v => {
    const late = v.mean("lateness_ns.mean", "lateness_ns.count");
    return {late: late === null ? null : late / 1e3};
  }],
};
const MOST_BARS = 16; // queues shown one by one

let view = null, maps = [], charts = {}, held = false, said = {};
const texts = new Numbers();
const used = new Set(); // queues
const slow = new Slow(panel("slow"));
const time = new Time(panel("time"));

// The parts of the page that change with the pictures, and how often at most; what is
// not due yet is shown later.
const PARTS = [
  {draw: () => draw(Dies), every: 0},
  {draw: () => draw(Superblocks), every: SLOW_MAP_MS},
  {draw: numbers, every: NUMBERS_MS},
  {draw: curves, every: CHART_MS}];
for (const part of PARTS)
  Object.assign(part, {stale: false, at: -Infinity});
let waits = false; // for show()

function show() {
  waits = false;
  let next = Infinity;
  for (const part of PARTS.filter(one => one.stale)) {
    const left = part.at + (calm.matches ? CALM_MS : part.every) - performance.now();
    if (left > 0) {
      next = Math.min(next, left);
      continue;
    }
    part.stale = false;
    part.at = performance.now();
    part.draw();
  }
  if (next < Infinity)
    later(next);
}

function later(milliseconds) {
  waits = true;
  setTimeout(() => requestAnimationFrame(show), milliseconds);
}

function draw(kind) {
  maps.find(map => map instanceof kind)?.draw();
}

function begin(hello) {
  const layout = prepared(hello.layout), drive = layout.drive;
  view = new View(layout);
  const profile = String(drive.profile ?? "").split("/").pop().replace(/\.ini$/, "");
  document.getElementById("who").textContent =
    [hello.run, hello.name, profile].filter(Boolean).join(" · ");
  document.title = `${hello.run || hello.name} – vssd watch`;
  for (const map of maps)
    map.remove();
  maps = [];
  panel("dies").hidden = !layout.byName["die.state"];
  if (layout.byName["die.state"])
    maps.push(new Dies(panel("dies"), view));
  panel("superblocks").hidden = !layout.byName["superblock.state"];
  if (layout.byName["superblock.state"])
    maps.push(new Superblocks(panel("superblocks"), view));
  panel("streams").hidden = !layout.byName["stream.units"];
  panel("queues").hidden = !layout.byName["queue.depth"];
  panel("slow").hidden = !layout.byName["slow.count"];
  slow.clear();
  used.clear();
  for (const chart of Object.values(charts))
    chart.clear();
  shade();
}

function shade() {
  const by = document.querySelector("input[name=by]:checked").value;
  for (const map of maps.filter(one => one instanceof Superblocks)) {
    map.by = by;
    map.draw();
  }
}

function take(buffer) {
  if (!view)
    return;
  const newest = new Picture(view.layout, buffer);
  slow.add(newest);
  if (held)
    return;
  if (view.add(newest))
    for (const chart of Object.values(charts))
      chart.clear();
  for (const part of PARTS)
    part.stale = true;
  if (!waits)
    later(0);
}

function numbers() {
  const some = texts.show(view);
  for (const name of ["heat", "lateness"])
    panel(name).hidden = !some.has(name);
  queues();
  streams();
  tell();
}

// The deepest of the queues that have had commands since the page was opened.
function queues() {
  const depths = Array.from(view.now.array("queue.depth") ?? [], Number);
  depths.forEach((depth, i) => { if (depth) used.add(i); });
  const shown = [...used].sort((a, b) => depths[b] - depths[a] || a - b)
    .slice(0, MOST_BARS).sort((a, b) => a - b);
  const most = Math.max(1, ...depths), bars = panel("queues").querySelector(".bars");
  bars.replaceChildren(...(depths.length < 2 ? [] : shown.flatMap(i => {
    const bar = element("div", {class: "bar"});
    bar.style.width = `${100 * depths[i] / most}%`;
    return [element("span", {}, `queue ${i + 1}`), element("div", {class: "room"}, bar),
            element("span", {"data-queue": i}, String(depths[i]))];
  })));
}

function streams() {
  const one = view.layout.byName["stream.units"];
  if (!one)
    return;
  const rows = Array.from({length: one.count}, (_, i) => {
    const host = view.added("stream.host_bytes", i), nand = view.added("stream.nand_bytes", i);
    const cells = [whole(view.now.number("stream.units", i)),
                   si(view.perSecond(host), "B/s"),
                   si(host ? nand / host : null)];
    return element("tr", {}, element("th", {scope: "row"}, one.words?.[i] ?? String(i)),
                   ...cells.map(text => element("td", {}, text)));
  });
  panel("streams").querySelector("tbody").replaceChildren(...rows);
}

function curves() {
  const seconds = view.now.number("sim_ns") / 1e9;
  for (const [name, [, , values]] of Object.entries(CHARTS))
    if (!panel(name).hidden)
      charts[name].add(seconds, values(view));
}

// The state of drive and page.
function tell() {
  const place = document.getElementById("state");
  const words = {
    ended: "the drive has ended; this is its last picture",
    gone: "the drive's process is gone; this is its last picture",
    closed: "./vssd watch has ended; this is the last picture"};
  let text = words[said.state];
  if (!text && said.control?.state === "paused")
    text = `paused at ${(said.control.sim_ns / 1e9).toFixed(6)} s of the drive`;
  if (!text && said.silent_s >= QUIET_S)
    text = `no picture for ${Math.round(said.silent_s)} s: the drive stands still`;
  if (!text && view?.now) {
    const speed = view.hostSeconds > 0 ? view.seconds / view.hostSeconds : 0;
    text = (speed > 0 ? `running at ${si(speed)} times real time, ` : "idle, ") +
      `${(view.now.number("sim_ns") / 1e9).toFixed(1)} s of the drive`;
  }
  put(place, (held ? "held; " : "") + (text ?? "waits for the first picture"));
}

function connect() {
  const socket = new WebSocket(new URL("pictures", location.href.replace(/^http/, "ws")));
  socket.binaryType = "arraybuffer";
  socket.onmessage = ({data}) => {
    if (data instanceof ArrayBuffer)
      return take(data);
    const message = JSON.parse(data);
    if (message.layout)
      begin(message);
    else if (message.asked)
      time.answered(message.asked, message.answer);
    else {
      said = message;
      time.show(said.state === "running" ? said.control : null);
      tell();
    }
  };
  time.ask = line => socket.send(line);
  socket.onclose = () => {
    said = {state: "closed"};
    time.show(null);
    document.getElementById("again").hidden = false;
    tell();
  };
}

function build() {
  for (const [name, [lines, options]] of Object.entries(CHARTS))
    charts[name] = new Chart(panel(name), lines, options);
  for (const radio of document.querySelectorAll("input[name=by]"))
    radio.addEventListener("change", shade);
  const hold = document.getElementById("hold");
  hold.addEventListener("click", () => {
    held = !held;
    hold.setAttribute("aria-pressed", String(held));
    tell();
  });
  document.getElementById("again").addEventListener("click", () => location.reload());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    forget();
    for (const part of [...maps, ...Object.values(charts)])
      part.restyle ? part.restyle() : part.draw();
  });
}

build();
fetch("words.json").then(answer => answer.json())
  .then(words => explain(document.body, words)).catch(() => {});
connect();
