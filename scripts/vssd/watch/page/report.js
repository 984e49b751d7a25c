// SPDX-License-Identifier: GPL-2.0-or-later
// The page of ./vssd report: finished runs side by side in the panels of ./vssd watch.
import {bars, cell, table} from "./bars.js";
import {Curves} from "./charts.js";
import {Shades} from "./maps.js";
import {Numbers, panel} from "./panels.js";
import {Run} from "./run.js";
import {Slow} from "./slow.js";
import {Span} from "./span.js";
import {element, forget, ns, percent, si, whole} from "./text.js";
import {explain} from "./words.js";

const SERIES = "--series SECONDS of vssd-sim run";
const CSV = "--csv X.csv of vssd-sim run, beside X.json";
const OPLOG = "--oplog X.oplog of vssd-sim run or ./vssd run, beside X.json";

let runs = [], span = null;
const curves = [], maps = []; // maps: with the run of each

async function data() {
  const text = atob(document.getElementById("data").textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) // from() with a function takes 15 times as long
    bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// ---- parts of panels ----

// Runs without data, and the option that records it.
function lacks(name, some, option) {
  if (some.length)
    panel(name).append(element("p", {class: "lacks"}, `Without data: ${
      some.map(run => run.name).join(", ")}. `, element("code", {}, option), " records it."));
}

// A curve for each of the runs and measures that have points.
function chart(place, title, lines, options = {}) {
  const found = lines.filter(one => one.points(0, span.whole)?.x.length);
  if (found.length)
    curves.push(new Curves(place, found, {span, title, xunit: "s", ...options}));
}

function line(run, points, more = {}) {
  return {label: [run.name, more.measure].filter(Boolean).join(", "), colour: run.colour,
          run: run.index, points, ...more};
}

// Curves of the time series; a run without one is named.
function course(name, title, member, scale = () => x => x, unit = "") {
  chart(panel(name), title, runs.map(run => line(run, () => run.series(member, scale(run)))),
        {unit});
}

// A place for charts beside each other.
function grid(name) {
  const place = element("div", {class: "charts"});
  panel(name).append(place);
  return place;
}

// ---- panels ----

function summary({origins, numbers}) {
  const names = runs.map(run => run.name), several = runs.length > 1;
  const text = (name, value) => value === null && name.startsWith("options.")
    ? "default" : cell(value);
  if (origins.length)
    table(panel("summary"), several ? "Options and origins that differ" : "Options",
          [several ? "origin" : "option", ...names],
          origins.map(row => [row.name, ...row.values.map(v => text(row.name, v))]));
  const ratio = (a, b) => typeof a === "number" && typeof b === "number" && a && a !== b
    ? ` (${cell(b / a)} ×)` : "";
  table(panel("summary"), several ? "Statistics, those that differ most first"
    : "Statistics", ["statistic", ...names], numbers.map(row => [
    row.unit ? `${row.name} (${row.unit})` : row.name,
    ...row.values.map((v, i) => cell(v) + (i ? ratio(row.values[0], v) : ""))]));
}

function why() {
  const place = panel("why"), several = runs.length > 1;
  for (const run of runs.filter(one => one.why)) {
    const {bound, latency, slow, changes, measure, now} = run.why;
    const sentences = [bound, latency, slow].map(text =>
      `${text[0].toUpperCase()}${text.slice(1)}.`).join(" ");
    place.append(element("p", {class: "why", "data-run": run.index},
                         several ? `${run.name}: ${sentences}` : sentences));
    if (changes.length)
      table(place, `${several ? `${run.name}: what` : "What"} one option would change`,
            ["option", "now", "then", measure, "ratio", "rests on"], changes.map(one =>
              [one.option, one.before, one.after, whole(now * one.ratio),
               one.ratio.toFixed(3), one.because]));
  }
  const some = runs.filter(run => run.at("explain", "object"));
  const rows = (path, value) => [...new Set(some.flatMap(run =>
    Object.keys(run.at(path, "object") ?? {})))].map(name =>
    [name, some.map(run => value(run, `${path}.${name}`))]);
  const beside = grid("why");
  for (const [title, path, value, text, most] of [
    ["Busy share of the stages", "explain.stages", (run, at) =>
      run.value(`${at}.servers`) ? run.value(`${at}.utilization`) : null, percent, 1],
    ["Work of the array by cause", "explain.work_by_cause", (run, at) => run.value(at), percent, 1],
    ["Mean latency by part", "explain.latency_ns", (run, at) => run.value(at), ns, null]]) {
    const one = element("div");
    bars(one, title, some, rows(path, value), text, most);
    beside.append(one);
  }
}

function requests() {
  const per = run => x => x / (run.value("series.interval_ns") / 1e9);
  chart(panel("io"), "Requests a second over time", runs.map(run => line(run, (from, to) =>
    run.commands ? run.rateOver(from, to) : run.series("requests", per(run)))));
  lacks("io", recorded().filter(run => !run.commands && !run.series("requests")),
        `${CSV}; or ${SERIES}`);
}

// Those that have commands of their own: not a drive of an array.
function recorded() {
  return runs.filter(run => run.at("latency_ns", "object"));
}

const MEASURES = [["p50", "solid"], ["p99", "dashed"], ["max", "dotted"]];

function latency() {
  const place = panel("latency"), kinds = new Set(runs.flatMap(run => run.kinds));
  for (const kind of kinds)
    chart(place, `Latency of ${kind}s over time`, runs.filter(run => run.commands).flatMap(
      run => MEASURES.map(([measure, dash]) => line(
        run, (from, to) => run.commandsOver(kind, measure, from, to), {measure, dash}))),
    {log: true, unit: "µs"});
  const us = x => x / 1e3;
  const others = recorded().filter(run => !run.commands);
  chart(place, "Latency of all commands over time", others.flatMap(run => [
    line(run, () => run.series("mean_ns", us), {measure: "mean"}),
    line(run, () => run.series("max_ns", us), {measure: "max", dash: "dotted"})]),
  {log: true, unit: "µs"});
  const beside = grid("latency");
  for (const kind of kinds)
    distribution(beside, kind, runs.filter(run => run.kinds.includes(kind)));
  lacks("latency", others.filter(run => run.series("mean_ns")), CSV);
  lacks("latency", others.filter(run => !run.series("mean_ns")), `${CSV}; or ${SERIES}`);
}

function distribution(beside, kind, those) {
  const lines = share => those.map(run => {
    const {x, above} = run.distribution(kind);
    return line(run, () => ({x, y: above.map(share)}),
                run.commands ? {} : {kind: "points", measure: "quantiles"});
  });
  for (const [title, share, more] of [
    [`Share of ${kind}s that took at most this`, above => 1 - above, {}],
    [`Share of ${kind}s that took longer`, above => above, {log: true, powers: true}]]) {
    const one = element("div");
    beside.append(one);
    chart(one, title, lines(share), {span: null, xlog: true, xunit: "µs", ...more});
  }
}

// Bytes of a program: those that the run's WAF has for each.
function programBytes(run) {
  const drives = runs.filter(one => one.name.startsWith(`${run.name}, drive `));
  const all = drives.length && run.value("waf") === null ? drives : [run];
  const sum = path => all.reduce((total, one) => total + (one.value(path) ?? 0), 0);
  const written = all.reduce((total, one) =>
    total + (one.value("waf") ?? 0) * (one.value("host_bytes_written") ?? 0), 0);
  return sum("nand.programs") ? written / sum("nand.programs") : 0;
}

function amplification() {
  chart(panel("waf"), "WAF over time", runs.map(run => line(run, () => {
    const bytes = run.list("series.bytes_written"), size = programBytes(run);
    const found = run.series("nand_programs", x => x * size);
    return found && {x: found.x, y: found.y.map((x, i) => bytes[i] ? x / bytes[i] : NaN)};
  })));
  const some = runs.filter(run => run.at("waf_by_cause", "object"));
  bars(panel("waf"), "WAF by cause", some, Object.keys(some[0]?.at("waf_by_cause") ?? {}).map(
    cause => [cause, some.map(run => run.value(`waf_by_cause.${cause}`))]), x => si(x));
  lacks("waf", recorded().filter(run => !run.series("nand_programs")), SERIES);
}

function buffer() {
  chart(panel("buffer"), "Dirty units over time", runs.map(run => line(run, () => ({
    x: run.list("buffer.over_time.at_ns").map(at => at / 1e9),
    y: run.list("buffer.over_time.units_dirty")}))), {unit: "units"});
}

function collection() {
  chart(panel("gc"), "Free blocks over time", runs.map(run => line(run, () => ({
    x: run.list("gc.free_blocks_over_time").map(([at]) => at / 1e9),
    y: run.list("gc.free_blocks_over_time").map(([, n]) => n)}), {kind: "step"})));
  course("gc", "Units copied a second over time", "copied_units",
         run => x => x / (run.value("series.interval_ns") / 1e9));
  lacks("gc", recorded().filter(run => !run.series("copied_units")), SERIES);
}

function superblocks() {
  const some = runs.filter(run => run.list("gc.full_blocks_by_valid").length);
  const tenths = Math.max(0, ...some.map(run => run.list("gc.full_blocks_by_valid").length));
  bars(panel("superblocks"), "Full blocks by tenths of valid units, rounded up", some,
       Array.from({length: tenths}, (_, i) =>
         [String(i), some.map(run => run.list("gc.full_blocks_by_valid")[i] ?? null)]), whole);
  const worn = runs.filter(run => run.at("nand.erase_counts", "object"));
  const names = ["min", "p10", "p50", "p90", "max"];
  if (worn.length)
    table(panel("superblocks"), "Erases of a block",
          ["run", "least", "10 %", "median", "90 %", "most", "mean", "% used"],
          worn.map(run => [run.name, ...[...names.map(name => `nand.erase_counts.${name}`),
            "nand.mean_erase_count", "nand.percent_used"].map(path => cell(run.value(path)))]));
  for (const run of runs.filter(one => one.log)) {
    const {erases, joined, blocks} = run.log, columns = erases[0].length;
    map("superblocks", run, {
      name: "Erases", title: `${run.name}: erases of blocks in the operation log`,
      hint: "Point at a block, or choose one with the arrow keys.",
      rows: erases.length, columns, values: erases.flat(), text: n => `${whole(n)} erases`,
      describe: i => {
        const first = i % columns * joined, last = Math.min(first + joined, blocks) - 1;
        return `Plane ${Math.floor(i / columns)}, ` + (joined > 1
          ? `blocks ${first} to ${last}: at most ${erases.flat()[i]} erases each.`
          : `block ${first}: ${erases.flat()[i]} erases.`);
      }});
  }
  lacks("superblocks", arrays().filter(run => !run.log), OPLOG);
}

function map(name, run, options) {
  maps.push({run: run.index, map: new Shades(panel(name), options)});
}

// Those with an array.
function arrays() {
  return runs.filter(run => run.list("nand.busy_ns.die").length);
}

function dies() {
  for (const run of arrays()) {
    const busy = run.list("nand.busy_ns.die"), channels = run.list("nand.busy_ns.channel");
    const whole = run.value("nand.elapsed_ns") || 1, columns = busy.length / channels.length;
    map("dies", run, {
      name: "Dies", title: `${run.name}: busy share of each die`, most: 1,
      hint: "Point at a die, or choose one with the arrow keys.", sizes: [14, 30],
      rows: channels.length, columns, values: busy.map(time => time / whole), text: percent,
      describe: die => {
        const channel = Math.floor(die / columns);
        return `Die ${die}: busy ${percent(busy[die] / whole)}. ` +
          `Channel ${channel}: busy ${percent(channels[channel] / whole)}.`;
      }});
    if (run.log)
      diesOverTime(run);
  }
  lacks("dies", arrays().filter(run => !run.log), OPLOG);
}

function diesOverTime(run) {
  const {busy, end_s: end} = run.log, columns = busy[0].length, values = busy.flat();
  map("dies", run, {
    name: "Dies over time", title: `${run.name}: busy share of each die over the time of the` +
      " operation log, which begins with the fill", most: 1,
    hint: "Point at a time of a die, or choose one with the arrow keys.",
    rows: busy.length, columns, values, text: percent,
    describe: i => {
      const at = i % columns * end / columns;
      return `Die ${Math.floor(i / columns)}, ${ns(1e9 * at)} to ` +
        `${ns(1e9 * (at + end / columns))}: busy ${percent(values[i])}.`;
    }});
}

function streams() {
  const rows = runs.flatMap(run => run.list("streams").map(one => [
    runs.length > 1 ? `${run.name}: ${one.id}` : String(one.id), whole(one.host_units ?? null),
    si(run.seconds ? one.host_bytes_written / run.seconds : null, "B/s"), si(one.waf ?? null)]));
  panel("streams").hidden = !rows.length;
  if (rows.length)
    table(panel("streams"), "", ["stream", "units written", "host writes", "WAF"], rows);
}

function slowest() {
  const all = runs.flatMap(run => (run.commands?.slowest ?? []).map(one => ({
    ...one, run: runs.length > 1 ? run.name : "", place: `Offset ${one.offset}`})));
  all.sort((a, b) => b.latency - a.latency);
  new Slow(panel("slow")).show(all.map((one, number) => ({...one, number})));
  lacks("slow", recorded().filter(run => !run.commands), CSV);
}

// ---- the page ----

function choices() {
  const place = document.getElementById("runs");
  place.hidden = runs.length < 2;
  for (const run of runs) {
    const box = element("input", {type: "checkbox", checked: "", value: run.index});
    const swatch = element("span", {class: "swatch", "aria-hidden": "true"});
    swatch.style.background = `var(--${run.colour})`;
    box.addEventListener("change", hide);
    place.append(element("label", {}, box, swatch, run.name));
  }
}

function hide() {
  const hidden = new Set([...document.querySelectorAll("#runs input:not(:checked)")].map(
    box => Number(box.value)));
  for (const one of document.querySelectorAll("main [data-run]"))
    one.hidden = hidden.has(Number(one.dataset.run));
  for (const {run, map: one} of maps)
    one.all.hidden = hidden.has(run);
  for (const one of curves)
    one.hide(hidden);
}

function restyle() {
  forget();
  for (const one of curves)
    one.restyle();
  for (const {map: one} of maps)
    one.draw();
}

function head(how) {
  const names = runs.map(run => run.name);
  document.querySelector("h1").textContent = "vssd report";
  document.getElementById("who").textContent = names.join(", ");
  document.getElementById("state").textContent =
    `ended, ${ns(1e9 * span.whole)} of the drive`;
  document.getElementById("main").after(element("p", {id: "made"}, "Made by ",
                                                element("code", {}, how)));
}

async function begin({how, runs: given, summary: found, words}) {
  runs = given.map((run, index) => new Run(run, index));
  document.documentElement.classList.add("report");
  for (const one of document.querySelectorAll(".running"))
    one.remove();
  for (const one of document.querySelectorAll(".finished"))
    one.hidden = false;
  span = new Span(document.getElementById("time"),
                  Math.max(...runs.map(run => run.seconds), 1e-9));
  const texts = new Numbers(runs), some = new Set();
  for (const run of runs)
    for (const name of texts.show(run, run.index))
      some.add(name);
  for (const name of ["queues", "heat", "lateness"])
    panel(name).hidden = !some.has(name);
  head(how);
  choices();
  latency();
  const timeline = curves.length;
  for (const part of [() => summary(found), why, requests, amplification, buffer, collection,
                      superblocks, dies, streams, slowest])
    part();
  explain(document.body, words);
  for (const query of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(query).addEventListener("change", restyle);
  await draw(curves.slice(0, timeline), "timeline");
  await draw(curves.slice(timeline), "all");
}

// One after the other; the page answers between them.
async function draw(some, name) {
  for (const one of some) {
    await one.draw();
    await new Promise(resolve => setTimeout(resolve, 0));
  }
  document.documentElement.dataset.shown = name;
}

data().then(begin);
