// SPDX-License-Identifier: GPL-2.0-or-later
// Pictures of a live file: sections by the layout, and what lies between two pictures.
// A message is the first HEAD_BYTES of the file's header, then the picture.

const HEAD_BYTES = 128;
const ARRAYS = {u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array,
                f64: Float64Array};
const SPAN_NS = 1e9; // of host time, that "now" stands for
const KEPT = 64; // pictures, at most

export class Picture {
  constructor(layout, buffer) {
    this.layout = layout;
    this.buffer = buffer;
  }

  // The elements of a section; null without it.
  array(name) {
    const one = this.layout.byName[name];
    return one ? new ARRAYS[one.type](this.buffer, HEAD_BYTES + one.offset, one.count) : null;
  }

  // One element as a number; null without the section.
  number(name, i = 0) {
    const found = this.array(name);
    return found && i < found.length ? Number(found[i]) : null;
  }

  // A counter or a gauge by its path; null if the drive has none.
  value(path) {
    const place = this.layout.paths[path];
    return place ? this.number(place[0], place[1]) : null;
  }

  // The word of an element whose value is the number of a word.
  word(name, i) {
    const one = this.layout.byName[name], at = this.number(name, i);
    return at === null || !one.words ? null : one.words[at] ?? String(at);
  }
}

// The layout with its sections by name, and counters and gauges by path.
export function prepared(layout) {
  layout.byName = {};
  layout.paths = {};
  for (const one of layout.sections) {
    layout.byName[one.name] = one;
    if (one.name === "counter" || one.name === "gauge")
      (one.words ?? []).forEach((path, i) => { layout.paths[path] = [one.name, i]; });
  }
  return layout;
}

// The newest picture, and one of a second of host time earlier.
export class View {
  constructor(layout) {
    this.layout = layout;
    this.pictures = [];
  }

  get now() { return this.pictures.at(-1); }
  get before() { return this.pictures[0]; }

  // true: the statistics were reset, or it is the first picture.
  add(picture) {
    const last = this.now;
    const fresh = !last || wentBack(last, picture);
    if (fresh)
      this.pictures = [];
    this.pictures.push(picture);
    const from = picture.number("host_ns") - SPAN_NS;
    while (this.pictures.length > KEPT ||
           this.pictures.length > 2 && this.pictures[1].number("host_ns") <= from)
      this.pictures.shift();
    return fresh;
  }

  // Seconds of the drive between the two.
  get seconds() {
    return (this.now.number("sim_ns") - this.before.number("sim_ns")) / 1e9;
  }

  // The same on the host.
  get hostSeconds() {
    return (this.now.number("host_ns") - this.before.number("host_ns")) / 1e9;
  }

  get drive() { return this.layout.drive; }

  // Commands in the drive; null if it does not say.
  get inFlight() {
    const depths = this.now.array("queue.depth");
    return depths && depths.reduce((sum, depth) => sum + Number(depth), 0);
  }

  // A counter or a gauge now.
  value(path) {
    return this.now.value(path);
  }

  // Growth of a counter; null if the drive has none.
  growth(path) {
    const value = this.now.value(path);
    return value === null ? null : value - this.before.value(path);
  }

  // Growth for each second of the drive's time, which stands still in an idle drive.
  rate(path) {
    return this.perSecond(this.growth(path));
  }

  perSecond(growth) {
    return growth === null || growth === 0 ? growth
      : this.seconds > 0 ? growth / this.seconds : null;
  }

  // Growth of an element of a section.
  added(name, i = 0) {
    const value = this.now.number(name, i);
    return value === null ? null : value - this.before.number(name, i);
  }

  // The mean over what was added to `count`, of a mean over all of it.
  mean(mean, count) {
    const added = this.growth(count), now = this.now.value(mean);
    if (!added || added < 0 || now === null || Number.isNaN(now))
      return null;
    const old = this.before.value(count) ? this.before.value(mean) * this.before.value(count) : 0;
    return Math.max(0, (now * this.now.value(count) - old) / added);
  }

  // Commands of the interval in each bin of a section of latencies.
  bins(name) {
    const now = this.now.array(name), before = this.before.array(name);
    return now && Array.from(now, (n, i) => Number(n - before[i]));
  }

  // Quantiles of the interval: ends of their bins, in ns; null without commands.  The last
  // bin has no end: it stands for its begin.
  quantiles(name, shares) {
    const bins = this.bins(name);
    const total = bins ? bins.reduce((a, b) => a + b, 0) : 0;
    if (!total)
      return shares.map(() => null);
    const edges = this.layout.byName[name].edges_ns; // where each bin begins
    return shares.map(share => {
      let left = Math.max(1, Math.ceil(share * total));
      const i = bins.findIndex(n => (left -= n) <= 0);
      return edges[Math.min(i + 1, edges.length - 1)];
    });
  }
}

// A counter is smaller than before.
function wentBack(a, b) {
  const old = a.array("counter"), now = b.array("counter");
  return b.number("sim_ns") < a.number("sim_ns") ||
    now !== null && now.some((n, i) => n < old[i]);
}
