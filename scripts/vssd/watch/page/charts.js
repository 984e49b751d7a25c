// SPDX-License-Identifier: GPL-2.0-or-later
// Curves over the drive's time, by Bokeh.
import {colour, element} from "./text.js";

const KEPT = 600; // points
window.Bokeh.set_log_level("error");
const DASHES = {solid: [], dashed: [6, 3], dotted: [2, 2]};

export class Chart {
  // lines: {name: {label, colour, dash}}; log: of the y axis; zero: it begins there.
  constructor(place, lines, {log = false, zero = true, unit = ""} = {}) {
    Object.assign(this, {lines, log, zero, unit});
    this.host = element("div", {class: "chart", role: "img",
                                "aria-label": `curves: ${Object.values(lines)
                                  .map(one => one.label).join(", ")}`});
    place.append(this.host, this.#legend());
    this.clear();
  }

  clear() {
    this.data = Object.fromEntries(["t", ...Object.keys(this.lines)].map(name => [name, []]));
    if (this.source)
      this.source.data = this.#copy();
  }

  // Again, in the colours of now.
  restyle() {
    if (this.source)
      this.#draw();
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

  #legend() {
    return element("ul", {class: "legend"}, ...Object.values(this.lines).map(one => {
      const swatch = element("span", {"aria-hidden": "true"});
      swatch.style.cssText = "display:inline-block;width:1.8em;margin-right:.35em;" +
        `vertical-align:middle;border-top:3px ${one.dash ?? "solid"} var(--${one.colour})`;
      return element("li", {}, swatch, one.label);
    }));
  }

  #draw() {
    const {BasicTicker, ColumnDataSource, DataRange1d, LogTicker, NumeralTickFormatter,
           Plotting} = window.Bokeh;
    this.source = new ColumnDataSource({data: this.#copy()});
    const range = !this.log && this.zero ? {y_range: new DataRange1d({start: 0})} : {};
    const figure = Plotting.figure({
      height: 150, sizing_mode: "stretch_width", toolbar_location: null, tools: "",
      y_axis_type: this.log ? "log" : "linear", y_axis_label: this.unit,
      background_fill_color: colour("panel"), border_fill_color: colour("panel"),
      outline_line_color: colour("line"), min_border: 4, ...range});
    for (const axis of [figure.xaxis, figure.yaxis]) {
      axis.axis_label_text_color = axis.major_label_text_color = colour("quiet");
      axis.axis_line_color = axis.major_tick_line_color = colour("line");
      axis.minor_tick_line_color = null;
    }
    figure.yaxis.ticker = new (this.log ? LogTicker : BasicTicker)({desired_num_ticks: 4});
    figure.yaxis.formatter = new NumeralTickFormatter({format: "0.[0]a"});
    figure.xgrid.grid_line_color = figure.ygrid.grid_line_color = colour("line");
    figure.xgrid.grid_line_alpha = figure.ygrid.grid_line_alpha = 0.5;
    for (const [name, one] of Object.entries(this.lines))
      figure.line({field: "t"}, {field: name}, {
        source: this.source, line_color: colour(one.colour), line_width: 2,
        line_dash: DASHES[one.dash ?? "solid"]});
    this.host.replaceChildren();
    // Nothing in it takes keys; the numbers beside it have its last values.
    Plotting.show(figure, this.host).then(shown => { shown.el.tabIndex = -1; });
  }
}
