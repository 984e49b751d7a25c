// SPDX-License-Identifier: GPL-2.0-or-later
// The run's time: pause, step, speed, marks, options.  Shown for a run that takes
// requests; the server passes them on, a line each (docs/live-format.md).
import {element} from "./text.js";

export class Time {
  constructor(place) {
    this.place = place;
    this.said = place.querySelector(".said");
    this.marks = place.querySelector(".marks");
    this.options = place.querySelector(".options");
    this.go = place.querySelector("#go");
    this.speed = place.querySelector("#speed");
    this.state = null;
    this.ask = () => {};
    const on = (id, event, line) =>
      place.querySelector(id).addEventListener(event, () => this.ask(line()));
    on("#go", "click", () => this.state?.state === "runs" ? "pause" : "go");
    on("#step", "click", () => `step ${place.querySelector("#kind").value}`);
    on("#speed", "change", () => `speed ${this.speed.value}`);
    on("#mark", "click", () => "mark");
    on("details", "toggle", () => "options");
    this.options.addEventListener("submit", event => event.preventDefault());
    this.options.addEventListener("change", ({target}) =>
      this.ask(`set ${target.name}=${target.value}`));
  }

  // The run as it is now; null: it takes no requests.
  show(state) {
    this.place.hidden = !state;
    this.state = state;
    if (!state)
      return;
    const runs = state.state === "runs";
    this.go.textContent = runs ? "Pause" : "Go";
    this.go.setAttribute("aria-pressed", String(!runs));
    if (document.activeElement !== this.speed)
      this.speed.value = state.speed ? String(state.speed) : "max";
    this.place.querySelector("#mark").disabled = Boolean(state.no_marks);
    this.#showMarks(state.no_marks ? `no marks with ${state.no_marks}` : "", state.marks_ns);
  }

  // What the run said to a request of this page.
  answered(line, answer) {
    if (answer.options)
      this.#showOptions(answer.options);
    else if (answer.error)
      this.said.textContent = answer.error;
    else
      this.said.textContent = answer.key ? `${answer.key}=${answer.value}` : "";
    if (line.startsWith("back") || answer.error)
      this.#learnOptions();
  }

  #learnOptions() {
    if (this.place.querySelector("details").open)
      this.ask("options");
  }

  #showMarks(why, marks) {
    if (this.marks.dataset.shown === String(marks))
      return;
    this.marks.dataset.shown = String(marks);
    this.marks.replaceChildren(why, ...marks.map((at, i) => {
      const button = element("button", {type: "button"}, `Back to ${(at / 1e9).toFixed(6)} s`);
      button.addEventListener("click", () => this.ask(`back ${i + 1}`));
      return button;
    }));
  }

  #showOptions(options) {
    const keys = Object.keys(options);
    if (this.options.children.length !== keys.length)
      this.options.replaceChildren(...keys.map(key => element(
        "label", {title: options[key].help}, key, element("input", {name: key}))));
    for (const key of keys) {
      const input = this.options.elements[key];
      input.title = `${options[key].help}: ${options[key].range}`;
      if (document.activeElement !== input || this.said.textContent)
        input.value = options[key].value;
    }
  }
}
