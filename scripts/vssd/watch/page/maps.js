// SPDX-License-Identifier: GPL-2.0-or-later
// The maps of dies with their channels, of superblocks, and of values of a finished run.
import {Grid} from "./grid.js";
import {colour, element, ns, percent, whole} from "./text.js";

const LETTERS = {idle: "·", read: "R", program: "P", erase: "E", suspended: "S"};
const CHANNEL = {idle: "·", in: "I", status: "C", out: "O"};
const OWN = "host"; // the cause that gets no stripe
const MANY = 1024; // cells of a map that are drawn small
const LEAST_TEXT = 9; // pixels of a cell that has room for a letter

function legend(grid, items) {
  grid.legend.replaceChildren(...items.map(([mark, name, background]) => {
    const swatch = element("span", {class: "swatch", "aria-hidden": "true"}, mark);
    swatch.style.background = background;
    swatch.classList.toggle("plain", !background.startsWith("var(") || background.includes("idle"));
    return element("li", {}, swatch, name);
  }));
}

function frame(context, x, y, size) {
  context.strokeStyle = colour("focus");
  context.lineWidth = 3;
  context.strokeRect(x + 1, y + 1, size - 2, size - 2);
}

export class Dies extends Grid {
  constructor(place, view) {
    const drive = view.layout.drive;
    super(place, {name: "Dies", rows: drive.channels, columns: drive.dies_per_channel,
                  label: (...where) => this.channel(...where),
                  hint: "Point at a die, or choose one with the arrow keys."});
    this.view = view;
    const states = view.layout.byName["die.state"]?.words ?? [];
    legend(this, [
      ...states.map(name => [LETTERS[name] ?? name[0], name, `var(--${name})`]),
      ["▂", "not for the host: GC and other work of the drive", "var(--idle)"],
      ...Object.entries(CHANNEL).slice(1).map(([name, letter]) =>
        [letter, {in: "channel: data to a die", status: "channel: commands and status",
                  out: "channel: data from a die"}[name], "transparent"])]);
  }

  begin(context) {
    this.ready = Boolean(this.view.now);
    this.colours = Object.fromEntries(
      [...Object.keys(LETTERS), "ink", "text", "panel"].map(name => [name, colour(name)]));
    context.font = `600 ${Math.min(14, this.size * 0.6)}px sans-serif`;
  }

  paint(context, die, x, y, size) {
    if (!this.ready)
      return;
    const state = this.view.now.word("die.state", die);
    const cause = this.view.now.word("die.cause", die);
    context.fillStyle = this.colours[state] ?? this.colours.panel;
    context.fillRect(x + 0.5, y + 0.5, size - 1, size - 1);
    context.fillStyle = state === "idle" ? this.colours.text : this.colours.ink;
    if (size >= LEAST_TEXT)
      context.fillText(LETTERS[state] ?? "", x + size / 2, y + size * 0.45);
    if (state !== "idle" && cause && cause !== OWN)
      context.fillRect(x + size * 0.15, y + size * 0.8, size * 0.7, size * 0.1);
  }

  channel(context, row, x, y) {
    context.fillStyle = this.colours.text;
    const state = this.ready && this.view.now.word("channel.state", row);
    context.fillText(`${row}${CHANNEL[state] ?? ""}`, x, y);
  }

  mark(...where) { frame(...where); }

  describe(die) {
    const now = this.view.now, channel = Math.floor(die / this.columns);
    if (!now)
      return "";
    const state = now.word("die.state", die), cause = now.word("die.cause", die);
    const busy = share(this.view, "die.busy_ns", die);
    const bus = share(this.view, "channel.busy_ns", channel);
    return `Die ${die}: ${state}${state !== "idle" && cause ? ` for ${cause}` : ""}, ` +
      `${now.number("die.waiting", die) ?? "–"} waiting, busy ${percent(busy)}. ` +
      `Channel ${channel}: ${now.word("channel.state", channel) ?? "–"}, busy ${percent(bus)}.`;
  }
}

function share(view, section, i) {
  const added = view.added(section, i);
  return added === null ? null : view.perSecond(added / 1e9);
}

function mix(a, b, share) {
  const of = text => [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16));
  const [x, y] = [of(a), of(b)];
  return `rgb(${x.map((v, i) => Math.round(v + (y[i] - v) * share)).join(" ")})`;
}

// Colours from little to much.
function ramp() {
  const ends = [colour("shade-0"), colour("shade-1")];
  return Array.from({length: 33}, (_, i) => mix(...ends, i / 32));
}

function shadeOf(shades, share) {
  return shades[Math.round(32 * Math.max(0, Math.min(share, 1)))];
}

export class Superblocks extends Grid {
  constructor(place, view) {
    const count = view.layout.byName["superblock.state"].count;
    super(place, {name: "Superblocks", columns: count, sizes: [4, 24], height: 300,
                  hint: "Point at a superblock, or choose one with the arrow keys."});
    this.view = view;
    this.by = "valid";
    legend(this, [
      ["", "little (free: outline alone)", "transparent"], ["▨", "shade: little to much", ""],
      ["O", "open: dot", "transparent"], ["/", "victim: line", "transparent"],
      ["×", "bad: cross", "transparent"]]);
    const ramp = this.legend.querySelectorAll(".swatch")[1];
    ramp.classList.add("ramp");
    ramp.textContent = "";
  }

  begin(context) {
    const now = this.view.now;
    this.states = now?.array("superblock.state");
    this.words = now && this.view.layout.byName["superblock.state"].words;
    this.values = now?.array(`superblock.${this.by}`);
    const used = this.values &&
      this.values.filter((_, i) => !["free", "bad"].includes(this.words[this.states[i]]));
    this.low = this.by === "valid" || !used?.length ? 0 : used.reduce((a, b) => Math.min(a, b));
    this.high = this.by === "valid" ? 255
      : used?.length ? used.reduce((a, b) => Math.max(a, b)) : 1;
    this.shades = ramp();
    this.line_ = colour("mark");
    this.marks = colour("erase");
    context.lineWidth = 1;
  }

  paint(context, cell, x, y, size) {
    if (!this.states)
      return;
    const state = this.words[this.states[cell]], inner = Math.max(size - 1, 1);
    if (state !== "free" && state !== "bad" && this.values) {
      const share = (this.values[cell] - this.low) / Math.max(this.high - this.low, 1);
      context.fillStyle = shadeOf(this.shades, share);
      context.fillRect(x, y, inner, inner);
    }
    context.strokeStyle = state === "victim" || state === "bad" ? this.marks : this.line_;
    context.beginPath();
    if (size > 6 || state === "free")
      context.rect(x + 0.5, y + 0.5, inner - 1, inner - 1);
    if (state === "victim" || state === "bad") {
      context.moveTo(x, y + inner);
      context.lineTo(x + inner, y);
    }
    if (state === "bad") {
      context.moveTo(x, y);
      context.lineTo(x + inner, y + inner);
    }
    context.stroke();
    if (state === "open") {
      context.fillStyle = this.marks;
      context.fillRect(x + inner / 3, y + inner / 3, inner / 3 + 0.5, inner / 3 + 0.5);
    }
  }

  mark(...where) { frame(...where); }

  describe(cell) {
    const now = this.view.now;
    if (!now)
      return "";
    const per = this.view.layout.drive.superblocks_per_cell ?? 1;
    const valid = now.number("superblock.valid", cell);
    const age = now.number("superblock.age", cell);
    const name = per > 1 ? `Superblocks ${cell * per} to ${cell * per + per - 1}`
      : `Superblock ${cell}`;
    return `${name}: ${now.word("superblock.state", cell)}, valid ` +
      `${percent(valid === null ? null : valid / 255)}, age ${whole(age)} pages of the host, ` +
      `${whole(now.number("superblock.erases", cell))} erases.`;
  }
}

// Values of a finished run, each a shade from 0 to the most.
export class Shades extends Grid {
  // values: of each cell, row by row; text(value): of the least and the most.
  constructor(place, {values, most = greatest(values), text, ...options}) {
    super(place, {sizes: [2, values.length > MANY ? 8 : 24],
                  label: (...where) => this.number(...where), ...options});
    Object.assign(this, {values, most});
    this.legend.append(element("li", {}, text(0)),
                       element("li", {}, element("span", {class: "swatch ramp plain"})),
                       element("li", {}, text(most)));
  }

  begin(context) {
    this.shades = ramp();
    this.quiet = colour("quiet");
    context.font = "11px sans-serif";
  }

  paint(context, cell, x, y, size) {
    context.fillStyle = shadeOf(this.shades, this.values[cell] / (this.most || 1));
    const gap = size > 6 ? 1 : 0;
    context.fillRect(x, y, size - gap, size - gap);
  }

  // Of the rows that have room for it.
  number(context, row, x, y) {
    const step = this.turned ? Math.ceil(24 / this.size)
      : Math.ceil(12 / (this.size * this.lines));
    context.fillStyle = this.quiet;
    if (row % step === 0)
      context.fillText(row, x, y);
  }

  mark(...where) { frame(...where); }
}

function greatest(values) {
  return values.reduce((a, b) => Math.max(a, b), 0);
}
