// SPDX-License-Identifier: GPL-2.0-or-later
// Bars and tables of finished runs.
import {element, whole} from "./text.js";

const LONG = 30; // letters of a cell that is prose

// Bars of several runs: rows of [name, values of the runs]; rows without any value are left
// out.  text(value): beside a bar.  most: what the longest bar stands for.
export function bars(place, title, runs, rows, text, most = null) {
  const some = rows.filter(([, values]) => values.some(value => value));
  if (!some.length)
    return;
  const longest = most ?? Math.max(...some.flatMap(([, values]) => values.map(v => v ?? 0)));
  const grid = element("div", {class: "bars", "data-title": title});
  for (const [name, values] of some)
    values.forEach((value, i) => {
      const bar = element("div", {class: "bar"});
      bar.style.width = `${100 * (value ?? 0) / longest}%`;
      bar.style.background = `var(--${runs[i].colour})`;
      const cells = [element("span", {}, i ? "" : name),
                     element("div", {class: "room"}, bar),
                     element("span", {"data-value": value ?? "", "data-name": name},
                             value === null ? "–" : text(value))];
      for (const cell of cells)
        cell.dataset.run = runs[i].index;
      grid.append(...cells);
    });
  place.append(element("h3", {}, title), grid);
}

// A table; cells are texts.
export function table(place, title, head, rows) {
  const prose = head.map((_, i) => i > 0 && rows.some(row => row[i].length > LONG));
  const row = (name, texts, scope) => element("tr", {}, ...texts.map((text, i) => element(
    i ? name : "th", {...i && name === "td" ? {} : {scope}, ...prose[i] ? {class: "text"} : {}},
    text)));
  place.append(
    ...title ? [element("h3", {}, title)] : [],
    element("div", {class: "scroll", tabindex: 0, role: "group", "aria-label": title},
            element("table", {}, element("thead", {}, row("th", head, "col")),
                    element("tbody", {}, ...rows.map(texts => row("td", texts, "row"))))));
}

// A value of a result.
export function cell(value) {
  if (value === null || value === undefined)
    return "–";
  if (typeof value !== "number")
    return String(value);
  return Math.abs(value) >= 1000 ? whole(value) : String(Number(value.toPrecision(4)));
}
