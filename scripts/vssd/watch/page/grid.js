// SPDX-License-Identifier: GPL-2.0-or-later
// A map of cells on a canvas, with a cell that is chosen by pointer or arrow keys and
// described in a line of text.

export class Grid {
  // place: has .map and .detail.  rows of `columns` cells each; label(row): text before it.
  // paint(context, cell, x, y, size): draws one.  describe(cell): text.  sizes: least and
  // greatest side of a cell; height: that the map should not exceed.
  constructor(place, options) {
    Object.assign(this, {rows: 1, columns: 1, label: null, sizes: [14, 30], height: 1e9},
                  options);
    this.detail = place.querySelector(".detail");
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", `${options.name}: arrow keys choose one`);
    this.host = place.querySelector(".map");
    this.host.replaceChildren(this.canvas);
    this.chosen = null;
    this.canvas.addEventListener("keydown", event => this.#key(event));
    this.canvas.addEventListener("pointermove", event => this.#point(event));
    this.canvas.addEventListener("pointerdown", event => this.#point(event));
    this.watcher = new ResizeObserver(() => this.#layOut());
    this.watcher.observe(this.host);
    this.#layOut();
  }

  get cells() { return this.rows * this.columns; }

  remove() {
    this.watcher.disconnect();
  }

  choose(cell) {
    this.chosen = Math.max(0, Math.min(cell, this.cells - 1));
    this.draw();
  }

  #layOut() {
    const width = this.host.clientWidth;
    if (!width)
      return;
    this.margin = this.label ? 34 : 0;
    const room = width - this.margin;
    const [least, most] = this.sizes;
    const byHeight = Math.floor(Math.sqrt(room * this.height / this.cells));
    this.size = Math.max(least, Math.min(most, byHeight, Math.floor(room / this.columns) || 1));
    if (this.rows === 1)
      this.size = Math.max(least, Math.min(most, byHeight));
    this.line = Math.max(1, Math.min(this.columns, Math.floor(room / this.size)));
    this.lines = Math.ceil(this.columns / this.line);
    this.ratio = devicePixelRatio || 1;
    const high = this.rows * this.lines * this.size;
    this.canvas.style.width = `${this.margin + this.line * this.size}px`;
    this.canvas.style.height = `${high}px`;
    this.canvas.width = Math.round((this.margin + this.line * this.size) * this.ratio);
    this.canvas.height = Math.round(high * this.ratio);
    this.draw();
  }

  // The corner of a cell.
  at(cell) {
    const row = Math.floor(cell / this.columns), column = cell % this.columns;
    const line = row * this.lines + Math.floor(column / this.line);
    return [this.margin + column % this.line * this.size, line * this.size];
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
      for (let row = 0; row < this.rows; row++)
        this.label(context, row, this.margin, row * this.lines * this.size, this.size);
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
    const column = Math.floor((event.clientX - box.left - this.margin) / this.size);
    const line = Math.floor((event.clientY - box.top) / this.size);
    const within = line % this.lines * this.line + column;
    if (column < 0 || column >= this.line || within >= this.columns)
      return;
    this.choose(Math.floor(line / this.lines) * this.columns + within);
  }

  #key(event) {
    const down = this.rows > 1 ? this.columns : this.line;
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -down, ArrowDown: down,
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
