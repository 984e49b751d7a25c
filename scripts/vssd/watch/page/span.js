// SPDX-License-Identifier: GPL-2.0-or-later
// The part of the time that all curves over time show, and its buttons.
import {element, ns} from "./text.js";

const LEAST = 1e-6; // of the whole

export class Span {
  // place: for buttons and text; seconds: the whole.
  constructor(place, seconds) {
    this.whole = seconds;
    this.from = 0;
    this.to = seconds;
    this.listeners = []; // called after a change
    this.text = element("output", {});
    place.append(...[
      ["Earlier", () => this.#move(-0.5)], ["Later", () => this.#move(0.5)],
      ["Zoom in", () => this.#zoom(0.5)], ["Zoom out", () => this.#zoom(2)],
      ["Whole run", () => this.show(0, this.whole)]].map(([name, act]) => {
      const button = element("button", {type: "button"}, name);
      button.addEventListener("click", act);
      return button;
    }), this.text);
    this.#say();
  }

  // A range of seconds, within the whole.
  show(from, to) {
    const width = Math.max(Math.min(to - from, this.whole), LEAST * this.whole);
    const start = Math.max(0, Math.min(from, this.whole - width));
    if (start === this.from && start + width === this.to)
      return;
    this.from = start;
    this.to = start + width;
    this.#say();
    for (const listener of this.listeners)
      listener();
  }

  #zoom(factor) {
    const middle = (this.from + this.to) / 2, half = factor * (this.to - this.from) / 2;
    this.show(middle - half, middle + half);
  }

  #move(share) {
    const step = share * (this.to - this.from);
    this.show(this.from + step, this.to + step);
  }

  #say() {
    this.text.textContent = `${ns(1e9 * this.from)} to ${ns(1e9 * this.to)}`;
  }
}
