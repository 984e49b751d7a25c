// SPDX-License-Identifier: GPL-2.0-or-later
// Curves by Bokeh: of a running drive over its time, and of finished runs.
import {colour, element} from "./text.js";

const KEPT = 600; // points
window.Bokeh.set_log_level("error");
const DASHES = {solid: [], dashed: [6, 3], dotted: [2, 2]};

export class Chart {
  // lines: {name: {label, colour, dash}}; log: of the y axis; zero: it begins there.
  constructor(place, lines, {log = false, zero = true, unit = ""} = {}) {
    Object.assign(this, {lines, log, zero, unit});
    this.host = host(Object.values(lines));
    place.append(this.host, legend(Object.values(lines)));
    this.clear();
  }

  clear() {
    this.data = Object.fromEntries(["t", ...Object.keys(this.lines)].map(name => [name, []]));
    if (this.source)
      this.source.data = this.#copy();
  }

  // In the colours of now.
  restyle() {
    if (this.source)
      paint(this.figure, Object.values(this.lines));
  }

  #copy() {
    return Object.fromEntries(Object.entries(this.data).map(([name, v]) => [name, [...v]]));
  }

  // values by name; null is a gap.  An axis has a range, and the figure is drawn, from
  // the first value on.
  add(seconds, values) {
    const row = {t: [seconds]};
    for (const name of Object.keys(this.lines))
      row[name] = [values[name] ?? NaN];
    for (const [name, [value]] of Object.entries(row)) {
      this.data[name].push(value);
      if (this.data[name].length > KEPT)
        this.data[name].shift();
    }
    if (this.source)
      this.source.stream(row, KEPT);
    else if (Object.values(row).slice(1).some(([value]) => Number.isFinite(value)))
      this.#draw();
  }

  #draw() {
    this.source = new window.Bokeh.ColumnDataSource({data: this.#copy()});
    this.figure = axes(this);
    for (const [name, one] of Object.entries(this.lines))
      line(this.figure, this.source, name, one);
    show(this.figure, Object.values(this.lines), this.host);
  }
}

// Curves of finished runs, each with its own points.
export class Curves {
  // lines: [{label, colour, dash, run, points, kind}]; points(from, to): {x, y} in a range of
  // seconds; kind: line, step or points.  span: the time that is shown; null: x is no time.
  // title: above it; draw() makes the figure.  Further options as of Chart, and of axes().
  constructor(place, lines, {span = null, title = "", ...options}) {
    Object.assign(this, {lines, span, log: false, zero: true, unit: ""}, options);
    this.host = host(lines);
    this.hidden = new Set();
    this.legend = legend(lines);
    place.append(...title ? [element("h3", {}, title)] : [], this.host, this.legend);
    this.span?.listeners.push(() => this.#move());
  }

  // Do not show some runs.
  hide(hidden) {
    this.hidden = hidden;
    this.#fill();
  }

  restyle() {
    if (this.figure)
      paint(this.figure, this.lines);
    this.view?.paint(); // print does not wait for the next frame
  }

  // Ends when it is shown.
  async draw() {
    const more = this.span ? {x_range: this.#range(), tools: "xbox_zoom"} : {};
    this.figure = axes(this, more);
    this.sources = this.lines.map(one => {
      const source = new window.Bokeh.ColumnDataSource({data: {t: [], y: []}});
      line(this.figure, source, "y", one);
      return source;
    });
    this.#fill();
    this.view = await show(this.figure, this.lines, this.host);
  }

  // Of the axis of time.  A box drawn in one figure is for all: figures share no models.
  #range() {
    this.range = new window.Bokeh.Range1d({start: this.span.from, end: this.span.to});
    this.range.change.connect(() => this.span.show(this.range.start, this.range.end));
    return this.range;
  }

  #move() {
    this.range?.setv({start: this.span.from, end: this.span.to});
    this.#fill();
  }

  #fill() {
    this.sources?.forEach((source, i) => {
      const one = this.lines[i];
      const found = this.hidden.has(one.run) ? {x: [], y: []}
        : one.points(this.span?.from, this.span?.to);
      source.data = {t: found.x, y: found.y};
    });
  }
}

function host(lines) {
  return element("div", {class: "chart", role: "img",
                         "aria-label": `curves: ${lines.map(one => one.label).join(", ")}`});
}

function legend(lines) {
  return element("ul", {class: "legend"}, ...lines.map(one => {
    const swatch = element("span", {"aria-hidden": "true"});
    const [style, width] = one.kind === "points" ? ["dotted", 6] : [one.dash ?? "solid", 3];
    swatch.style.cssText = "display:inline-block;width:1.8em;margin-right:.35em;" +
      `vertical-align:middle;border-top:${width}px ${style} var(--${one.colour})`;
    return element("li", {"data-run": one.run ?? 0}, swatch, one.label);
  }));
}

// A figure without curves.  powers: labels of y are powers of ten.
function axes({log, zero, unit, powers = false, xunit = "", xlog = false}, more = {}) {
  const {BasicTicker, DataRange1d, LogTicker, NumeralTickFormatter, Plotting} = window.Bokeh;
  const range = !log && zero ? {y_range: new DataRange1d({start: 0})} : {};
  const figure = Plotting.figure({
    height: 150, sizing_mode: "stretch_width", toolbar_location: null, tools: "",
    y_axis_type: log ? "log" : "linear", y_axis_label: unit,
    x_axis_type: xlog ? "log" : "linear", x_axis_label: xunit, min_border: 4,
    ...range, ...more});
  figure.yaxis.ticker = new (log ? LogTicker : BasicTicker)({desired_num_ticks: 4});
  if (!powers)
    figure.yaxis.formatter = new NumeralTickFormatter({format: "0.[0]a"});
  figure.xaxis.minor_tick_line_color = figure.yaxis.minor_tick_line_color = null;
  figure.xgrid.grid_line_alpha = figure.ygrid.grid_line_alpha = 0.5;
  return figure;
}

function line(figure, source, name, one) {
  const [x, y] = [{field: "t"}, {field: name}];
  const more = {source, line_width: 2, line_dash: DASHES[one.dash ?? "solid"]};
  if (one.kind === "points")
    figure.scatter(x, y, {source, size: 7, line_color: null});
  else if (one.kind === "step")
    figure.step(x, y, "after", more);
  else
    figure.line(x, y, more);
}

// A figure and its lines in the colours of now.
function paint(figure, lines) {
  figure.background_fill_color = figure.border_fill_color = colour("panel");
  figure.outline_line_color = colour("line");
  for (const axis of [figure.xaxis, figure.yaxis]) {
    axis.axis_label_text_color = axis.major_label_text_color = colour("quiet");
    axis.axis_line_color = axis.major_tick_line_color = colour("line");
  }
  figure.xgrid.grid_line_color = figure.ygrid.grid_line_color = colour("line");
  lines.forEach(({kind, colour: name}, i) => {
    figure.renderers[i].glyph[kind === "points" ? "fill_color" : "line_color"] = colour(name);
  });
}

// Gives the view of the figure.
async function show(figure, lines, place) {
  paint(figure, lines);
  const view = await window.Bokeh.Plotting.show(figure, place);
  // Nothing in it takes keys; the numbers beside it have its last values.
  view.el.tabIndex = -1;
  return view;
}
