// SPDX-License-Identifier: GPL-2.0-or-later
// A finished run: the view of its numbers that panels.js describes, and its curves.

const COLOURS = ["one", "two", "three", "four", "five", "six"]; // then again
const QUANTILES = new Map([[0.5, "p50"], [0.99, "p99"], [0.999, "p999"]]);
const ALIKE = {commands_failed: "errors"}; // a name of vssd-sim
const MOST_POINTS = 1024; // of a curve that has levels of detail

export class Run {
  // run: one of the page's data; index: its place among them.
  constructor(run, index) {
    Object.assign(this, run);
    this.index = index;
    this.colour = COLOURS[index % COLOURS.length];
  }

  // What the result has at a path: null, or of the type if one is given.
  at(path, type = null) {
    let found = this.data;
    for (const step of path.split("."))
      found = found !== null && typeof found === "object" ? found[step] ?? null : null;
    return type && typeof found !== type ? null : found;
  }

  value(path) { return this.at(path, "number"); }

  // The elements of a list; empty if there is none.
  list(path) {
    const found = this.at(path);
    return Array.isArray(found) ? found : [];
  }

  get seconds() { return (this.value("sim_ns") ?? this.value("nand.elapsed_ns") ?? 0) / 1e9; }

  get drive() { return {buffer_units: this.value("buffer.units")}; }

  get inFlight() { return this.value("explain.commands_in_flight"); }

  rate(path) {
    const found = this.value(path) ?? (path in ALIKE ? this.value(ALIKE[path]) : null);
    return found === null || !this.seconds ? null : found / this.seconds;
  }

  mean(path) { return this.value(path); }

  // name: as latency.read
  quantiles(name, shares) {
    const path = name.replace("latency", "latency_ns");
    return shares.map(share => this.value(`${path}.count`)
      ? this.value(`${path}.${QUANTILES.get(share)}`) : null);
  }

  // Kinds of commands that it has had.
  get kinds() {
    return Object.entries(this.at("latency_ns", "object") ?? {})
      .filter(([name, one]) => name !== "all" && one?.count).map(([name]) => name);
  }

  // The finest level of which at most MOST_POINTS bins lie in a range of seconds.
  level(from, to) {
    const levels = this.commands.levels;
    return levels.find(one => (to - from) * 1e9 / one.width_ns <= MOST_POINTS) ??
      levels[levels.length - 1];
  }

  // Points of a measure (p50, ...) of one kind of commands, in us.
  commandsOver(kind, measure, from, to) {
    const level = this.level(from, to), one = level.kinds[kind];
    if (!one)
      return {x: [], y: []};
    const width = level.width_ns / 1e9;
    const begin = firstAt(one.bin, Math.floor(from / width) - 1);
    const end = firstAt(one.bin, Math.ceil(to / width) + 2);
    return {x: one.bin.slice(begin, end).map(bin => (bin + 0.5) * width),
            y: one[measure].slice(begin, end).map(ns => ns / 1e3)};
  }

  // Commands a second, without the last bin, which the end of the run cuts short.
  rateOver(from, to) {
    const level = this.level(from, to), width = level.width_ns / 1e9;
    const kinds = Object.values(level.kinds);
    const last = Math.max(...kinds.map(one => one.bin[one.bin.length - 1]));
    const begin = Math.max(0, Math.floor(from / width) - 1);
    const end = Math.min(Math.max(last, 1), Math.ceil(to / width) + 2);
    const y = new Array(Math.max(end - begin, 0)).fill(0);
    for (const one of kinds)
      for (let i = firstAt(one.bin, begin); i < one.bin.length && one.bin[i] < end; i++)
        y[one.bin[i] - begin] += one.count[i] / width;
    return {x: y.map((_, i) => (begin + i + 0.5) * width), y};
  }

  // A member of the time series, scaled, without the last interval; null: it has none.
  series(name, scale = x => x) {
    const values = this.list(`series.${name}`), step = this.value("series.interval_ns") / 1e9;
    const whole = values.slice(0, Math.max(values.length - 1, 1));
    return values.length ? {x: whole.map((_, i) => (i + 0.5) * step), y: whole.map(scale)} : null;
  }

  // Shares of the commands above each latency, in us; of a result without commands its
  // quantiles.
  distribution(kind) {
    const known = this.commands?.distribution[kind];
    if (known) {
      const total = known.count.reduce((a, b) => a + b, 0);
      let left = total;
      return {x: known.ns.map(ns => ns / 1e3), above: known.count.map(n => (left -= n) / total)};
    }
    const one = this.at(`latency_ns.${kind}`, "object");
    const shares = {min: 1, p50: 0.5, p99: 1e-2, p999: 1e-3, p9999: 1e-4, p99999: 1e-5,
                    p999999: 1e-6};
    const names = Object.keys(shares).filter(name => typeof one?.[name] === "number");
    return {x: names.map(name => one[name] / 1e3), above: names.map(name => shares[name])};
  }
}

// The index of the first element that is not less, of an ascending list.
function firstAt(list, least) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < least)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
