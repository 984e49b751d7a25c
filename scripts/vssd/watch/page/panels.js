// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers of the panels, the same for a running drive and for finished runs.
import {element, ns, percent, si, whole} from "./text.js";

export const panel = name => document.getElementById(`p-${name}`);
const SHARES = [0.5, 0.99, 0.999];

// The numbers of each panel: id, label, word of the glossary, value, as text.  A label of
// two texts is that of a running drive and that of a finished run; null: it has no such
// number.  The value is of a view, which has
//   value(path)             of a counter or a gauge
//   rate(path)              growth for each second of the drive's time
//   mean(path, count)       mean over what was added to the count
//   quantiles(name, shares) of a histogram, in ns
//   drive                   buffer_units, gc_marks
//   inFlight                commands in the drive
// of the last second of a running drive, or of a whole run; null: not there.
export const NUMBERS = {
  io: [
    ["iops", "IOPS", "", v => v.rate("requests"), x => si(x)],
    ["read", "read", "", v => v.rate("host_bytes_read"), x => si(x, "B/s")],
    ["written", "written", "", v => v.rate("host_bytes_written"), x => si(x, "B/s")],
    ["failed", "failed", "", v => v.rate("commands_failed"), x => si(x, "", "/s")]],
  latency: ["read", "write"].flatMap(op => ["p50", "p99", "p99.9"].map((name, i) =>
    [`${op}-${name.replace(".", "")}`, `${op} ${name}`, "",
     v => v.quantiles(`latency.${op}`, SHARES)[i], ns])),
  waf: [
    ["waf", ["now", null], "", v => v.mean("waf", "host_bytes_written"), x => si(x)],
    ["waf-all", ["since the reset", "WAF"], "", v => v.value("waf"), x => si(x)],
    ["waf-gc", ["by GC, now", "by GC"], "gc",
     v => v.mean("waf_by_cause.gc", "host_bytes_written"), x => si(x)]],
  buffer: [
    ["used", "used", "", v => share(v.value("buffer.units_used"), v), percent],
    ["dirty", "dirty", "dirty", v => share(v.value("buffer.units_dirty"), v), percent],
    ["units", "units used", "unit", v => v.value("buffer.units_used"), whole]],
  gc: [
    ["free", "free blocks", "free block", v => v.value("gc.free_blocks"), whole],
    ["victims", "victims", "victim", v => v.rate("gc.victims"), x => si(x, "", "/s")],
    ["copies", "copies", "copy", v => v.rate("gc.copied_units"), x => si(x, "", "units/s")],
    ["erases", "erases", "", v => v.rate("nand.erases"), x => si(x, "", "/s")],
    ["low", "GC begins at", "foreground gc", v => v.drive.gc_marks?.low ?? null, whole],
    ["high", "GC ends at", "foreground gc", v => v.drive.gc_marks?.high ?? null, whole]],
  queues: [
    ["depth", ["commands in the drive", "commands in the drive, mean"], "", v => v.inFlight,
     x => si(x)]],
  heat: [
    ["celsius", "temperature", "", v => v.value("thermal.celsius"), x => si(x, "°C")],
    ["watts", "mean power", "", v => v.value("power.mean_w"), x => si(x, "W")]],
  lateness: [
    ["late", ["mean now", "mean"], "", v => v.mean("lateness_ns.mean", "lateness_ns.count"), ns],
    ["late-p99", ["p99 since the reset", "p99"], "", v => v.value("lateness_ns.p99"), ns]],
};

function share(units, view) {
  const all = view.drive.buffer_units;
  return units === null || !all ? null : units / all;
}

export function put(place, text) {
  if (place.textContent !== text)
    place.textContent = text;
}

// The numbers' elements: of one view, or of several runs side by side.
export class Numbers {
  // runs: of finished ones, each with index and colour; null: a running drive.
  constructor(runs = null) {
    this.finished = runs !== null;
    this.runs = runs ?? [{index: 0}];
    this.rows = {};
    for (const [name, rows] of Object.entries(NUMBERS)) {
      const list = element("dl");
      this.rows[name] = rows.filter(row => this.#label(row) !== null);
      for (const row of this.rows[name])
        list.append(this.#row(row));
      panel(name).querySelector("h2").after(list);
    }
  }

  #label([, label]) {
    return Array.isArray(label) ? label[Number(this.finished)] : label;
  }

  #row(row) {
    const [id, , word] = row, label = this.#label(row);
    return element("div", {}, element("dt", {}, word
      ? element("span", {"data-word": word}, label) : label),
      ...this.runs.map(({index, colour}) => {
        const place = element("dd", {id: index ? `n-${id}-${index}` : `n-${id}`,
                                     "data-run": index}, "–");
        if (this.runs.length > 1)
          place.style.borderLeft = `.4em solid var(--${colour})`;
        return place;
      }));
  }

  // The values of a view, for that run.  Returns the panels that have one.
  show(view, index = 0) {
    const some = new Set();
    for (const [name, rows] of Object.entries(this.rows))
      for (const [id, , , value, text] of rows) {
        const found = value(view);
        const place = document.getElementById(index ? `n-${id}-${index}` : `n-${id}`);
        put(place, text(found));
        place.dataset.value = found ?? "";
        if (found !== null && !Number.isNaN(found))
          some.add(name);
        else if (this.finished)
          place.classList.add("none");
      }
    return some;
  }
}
