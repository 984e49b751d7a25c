// SPDX-License-Identifier: GPL-2.0-or-later
// The slow commands, and where the time of the chosen one went.
import {element, ns, percent, si} from "./text.js";

const KEPT = 64;
const NO_DIE = 65535;
const MEANS = {
  queue: "wait at the host",
  firmware: "firmware: the controller's cores", link: "link to the host",
  buffer: "wait for room in the buffer", bus_wait: "wait for a channel",
  bus: "transfer on a channel", die_wait: "wait for a die", cell: "cells: tR, tPROG",
  ecc: "ECC and retries", gc_wait: "wait for GC", flush: "flush of the buffer",
  map: "mapping table"};
const WAITS = ["die_wait", "gc_wait", "bus_wait"];

export class Slow {
  constructor(place) {
    this.list = place.querySelector(".list");
    this.where = place.querySelector(".where");
    this.clear();
    this.list.addEventListener("keydown", event => this.#key(event));
    this.list.addEventListener("click", event => {
      const row = event.target.closest("[role=option]");
      if (row)
        this.#choose(Number(row.dataset.number));
    });
  }

  clear() {
    this.commands = []; // newest first
    this.seen = 0;
    this.chosen = null;
    this.list.replaceChildren();
    this.where.replaceChildren(element("p", {}, "No command is chosen."));
  }

  // Take what the picture has beyond the last one.
  add(picture) {
    const count = picture.number("slow.count") ?? 0;
    if (count < this.seen)
      this.clear();
    for (let n = Math.max(this.seen, count - KEPT); n < count; n++)
      this.#insert(command(picture, n));
    this.seen = count;
    for (const old of this.commands.splice(KEPT))
      if (old.number !== this.chosen)
        old.row.remove();
      else
        this.commands.push(old);
  }

  // Those of finished runs, instead.
  show(commands) {
    this.clear();
    this.commands = commands;
    this.list.append(...commands.map(one => this.#row(one)));
  }

  #row(one) {
    const size = one.bytes ? ` ${one.bytes / 1024} KiB` : "";
    one.row = element("div", {role: "option", id: `slow-${one.number}`,
                              "aria-selected": "false", "data-number": one.number},
                      element("span", {}, `${one.run ? `${one.run}: ` : ""}${one.op}${size} at ` +
                                           si(one.start / 1e9, "s")),
                      element("span", {}, ns(one.latency)));
    return one.row;
  }

  #insert(one) {
    this.commands.unshift(one);
    const at = this.list.scrollTop;
    this.list.prepend(this.#row(one));
    if (at) // what is being read stays where it is
      this.list.scrollTop = at + one.row.offsetHeight;
  }

  #choose(number) {
    const one = this.commands.find(c => c.number === number);
    if (!one)
      return;
    this.list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    one.row.setAttribute("aria-selected", "true");
    this.list.setAttribute("aria-activedescendant", one.row.id);
    one.row.scrollIntoView({block: "nearest"});
    this.chosen = number;
    this.where.replaceChildren(...story(one));
  }

  #key(event) {
    const step = {ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity}[event.key];
    if (step === undefined || !this.commands.length)
      return;
    event.preventDefault();
    const at = this.commands.findIndex(one => one.number === this.chosen);
    const to = at < 0 ? 0 : Math.max(0, Math.min(at + step, this.commands.length - 1));
    this.#choose(this.commands[to].number);
  }
}

function command(picture, n) {
  const i = n % KEPT, costs = picture.array("slow.cost");
  const names = picture.layout.byName["slow.cost"]?.words ?? [];
  return {
    number: n, op: picture.word("slow.op", i), start: picture.number("slow.start_ns", i),
    latency: picture.number("slow.latency_ns", i),
    place: `Unit ${picture.number("slow.unit", i)}`,
    bytes: picture.number("slow.bytes", i), die: picture.number("slow.die", i),
    waited: picture.number("slow.waited_for", i) ? picture.word("slow.waited_for", i) : "",
    costs: names.map((name, k) => [name, costs[i * names.length + k]])};
}

// The costs in a row: each bar begins where the one before it ends.
function story(one) {
  const whole = Math.max(one.latency, one.costs.reduce((sum, [, cost]) => sum + cost, 0));
  const bars = element("div", {class: "bars"});
  const longest = one.costs.filter(([name]) => WAITS.includes(name))
    .reduce((a, b) => b[1] > a[1] ? b : a, ["", 0])[0];
  let from = 0;
  for (const [name, cost] of one.costs.filter(([, value]) => value)) {
    const bar = element("div", {class: one.waited && name === longest ? "bar waits" : "bar"});
    bar.style.marginLeft = `${100 * from / whole}%`;
    bar.style.width = `${100 * cost / whole}%`;
    from += cost;
    bars.append(element("span", {}, MEANS[name] ?? name), element("div", {class: "room"}, bar),
                element("span", {"data-cost": name},
                        `${ns(cost)}, ${percent(cost / one.latency)}`));
  }
  const on = one.waited && one.die !== null && one.die !== NO_DIE ? ` on die ${one.die}` : "";
  return [
    element("h3", {}, `${one.op}, ${ns(one.latency)}`),
    element("p", {}, `${one.place}, ${one.bytes} bytes, begun at ${one.start / 1e9} s of` +
                     " the drive's time."),
    bars,
    ...one.waited === undefined ? [] : [element("p", {class: "waited"}, one.waited
      ? `Before it${on}: ${one.waited} (outlined above).`
      : "No operation of NAND was before it.")]];
}
