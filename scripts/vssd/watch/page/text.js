// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers for people, as ./vssd top prints them, and elements.

export function digits(value) {
  return String(Number(value.toPrecision(4)));
}

// Four digits and a prefix: 15.11 k; with a unit 30.61 MB/s, with a word 15.11 k units/s.
export function si(value, unit = "", word = "") {
  if (value === null || Number.isNaN(value))
    return "–";
  if (word)
    return `${si(value)} ${word}`;
  for (const [limit, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]])
    if (Math.abs(value) >= limit)
      return `${digits(value / (prefix === "k" ? 1e3 : limit))} ${prefix}${unit}`;
  return `${digits(value)} ${unit}`.trim();
}

export function ns(value) {
  if (value === null || Number.isNaN(value))
    return "–";
  for (const [limit, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
    if (value >= limit)
      return `${Number((value / limit).toPrecision(3))} ${unit}`;
  return `${Number(value.toPrecision(3))} ns`;
}

export function percent(share) {
  return share === null || Number.isNaN(share) ? "–" : `${Math.round(100 * share)} %`;
}

export function whole(value) {
  return value === null ? "–" : Math.round(value).toLocaleString("en");
}

// An element with attributes and children.
export function element(name, attributes = {}, ...children) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    found.setAttribute(key, value);
  found.append(...children);
  return found;
}

// A colour of watch.css.  Asking for it makes the browser compute all styles that have
// changed, so each is asked for once; forget() them when the scheme changes.
const known = new Map();

export function colour(name) {
  if (!known.has(name))
    known.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`)
      .trim());
  return known.get(name);
}

export function forget() {
  known.clear();
}
