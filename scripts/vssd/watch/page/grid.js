// SPDX-License-Identifier: GPL-2.0-or-later
// A map of cells on a canvas, with a cell that is chosen by pointer or arrow keys and
// described in a line of text.
import {element} from "./text.js";

export class Grid {
  // The map is added to `place`.  rows of `columns` cells each, which lie below each other
  // if there are fewer cells in a row than rows; label(context, row, x, y): text before a
  // row, around this point.  paint(context, cell, x, y, size): draws one.  describe(cell):
  // text.  sizes: least and greatest side of a cell; height: that the map should not exceed.
  // hint: the text until a cell is chosen; title: above the map.
  constructor(place, options) {
    Object.assign(this, {rows: 1, columns: 1, label: null, sizes: [14, 30], height: 1e9,
                         hint: "", title: ""}, options);
    this.detail = element("p", {class: "detail", "aria-live": "polite"}, this.hint);
    this.canvas = element("canvas", {tabindex: 0, role: "application",
                                     "aria-label": `${this.name}: arrow keys choose one`});
    this.host = element("div", {class: "map"}, this.canvas);
    this.legend = element("ul", {class: "legend"});
    this.all = element("div", {}, ...this.title ? [element("h3", {}, this.title)] : [],
                       this.host, this.detail, this.legend);
    place.append(this.all);
    this.chosen = null;
    this.canvas.addEventListener("keydown", event => this.#key(event));
    this.canvas.addEventListener("pointermove", event => this.#point(event));
    this.canvas.addEventListener("pointerdown", event => this.#point(event));
    this.watcher = new ResizeObserver(() => this.#layOut());
    this.watcher.observe(this.host); // it calls at once
  }

  get cells() { return this.rows * this.columns; }

  remove() {
    this.watcher.disconnect();
    this.all.remove();
  }

  choose(cell) {
    this.chosen = Math.max(0, Math.min(cell, this.cells - 1));
    this.draw();
  }

  #layOut() {
    const width = this.host.clientWidth;
    if (!width)
      return;
    const [least, most] = this.sizes;
    this.turned = Boolean(this.label) && this.columns < this.rows && this.rows * least <= width;
    this.margin = this.label && !this.turned ? 34 : 0;
    this.head = this.turned ? 22 : 0;
    const room = width - this.margin;
    const [across, down] = this.turned ? [this.rows, this.columns] : [this.columns, this.rows];
    const fits = this.label ? Math.floor(room / across)
      : Math.floor(Math.sqrt(room * this.height / this.cells));
    this.size = Math.max(least, Math.min(most, fits));
    this.line = Math.max(1, Math.min(across, Math.floor(room / this.size)));
    this.lines = Math.ceil(across / this.line);
    this.ratio = devicePixelRatio || 1;
    const wide = this.margin + this.line * this.size;
    const high = this.head + down * this.lines * this.size;
    this.canvas.style.width = `${wide}px`;
    this.canvas.style.height = `${high}px`;
    this.canvas.width = Math.round(wide * this.ratio);
    this.canvas.height = Math.round(high * this.ratio);
    this.draw();
  }

  // The corner of a cell.
  at(cell) {
    const row = Math.floor(cell / this.columns), column = cell % this.columns;
    if (this.turned)
      return [row * this.size, this.head + column * this.size];
    const line = row * this.lines + Math.floor(column / this.line);
    return [this.margin + column % this.line * this.size, line * this.size];
  }

  // The cell at a point of the canvas; null: there is none.
  #cell(x, y) {
    const across = Math.floor((x - this.margin) / this.size);
    const down = Math.floor((y - this.head) / this.size);
    const row = this.turned ? across : Math.floor(down / this.lines);
    const column = this.turned ? down : down % this.lines * this.line + across;
    return x < this.margin || y < this.head || across >= this.line || row >= this.rows ||
      column >= this.columns ? null : row * this.columns + column;
  }

  draw() {
    if (!this.line)
      return;
    const context = this.canvas.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.textAlign = "center";
    context.textBaseline = "middle";
    this.begin(context);
    for (let cell = 0; cell < this.cells; cell++)
      this.paint(context, cell, ...this.at(cell), this.size);
    if (this.label)
      for (let row = 0; row < this.rows; row++) {
        const [x, y] = this.at(row * this.columns);
        this.label(context, row, this.turned ? x + this.size / 2 : this.margin / 2,
                   this.turned ? this.head / 2 : y + this.size / 2);
      }
    if (this.chosen === null)
      return;
    const [x, y] = this.at(this.chosen);
    this.mark(context, x, y, this.size);
    const text = this.describe(this.chosen);
    if (this.detail.textContent !== text)
      this.detail.textContent = text;
  }

  #point(event) {
    const box = this.canvas.getBoundingClientRect();
    const cell = this.#cell(event.clientX - box.left, event.clientY - box.top);
    if (cell !== null)
      this.choose(cell);
  }

  #key(event) {
    const far = this.rows > 1 ? this.columns : this.line;
    const [right, down] = this.turned ? [far, 1] : [1, far];
    const step = {ArrowLeft: -right, ArrowRight: right, ArrowUp: -down, ArrowDown: down,
                  Home: -this.cells, End: this.cells}[event.key];
    if (step === undefined)
      return;
    event.preventDefault();
    const to = (this.chosen ?? 0) + step;
    if (this.chosen === null)
      this.choose(0);
    else if (Math.abs(step) === this.cells || to >= 0 && to < this.cells)
      this.choose(to);
  }
}
