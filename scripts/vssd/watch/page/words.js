// SPDX-License-Identifier: GPL-2.0-or-later
// What the glossary says of a word: shown while it is pointed at or has the focus.

const tip = document.getElementById("tip");
let shown = null;

function hide() {
  tip.hidden = true;
  shown?.removeAttribute("aria-describedby");
  shown = null;
}

function show(word, text) {
  hide();
  shown = word;
  tip.textContent = text;
  tip.hidden = false;
  word.setAttribute("aria-describedby", "tip");
  const at = word.getBoundingClientRect(), width = document.documentElement.clientWidth;
  tip.style.left = `${Math.max(4, Math.min(at.left, width - tip.offsetWidth - 4)) + scrollX}px`;
  tip.style.top = `${at.bottom + scrollY + 2}px`;
}

// Give all words below an element their meaning, of the glossary.
export function explain(root, words) {
  for (const word of root.querySelectorAll("[data-word]")) {
    const text = words[word.dataset.word];
    if (!text)
      continue;
    word.tabIndex = 0;
    for (const event of ["mouseenter", "focus"])
      word.addEventListener(event, () => show(word, text));
    word.addEventListener("blur", hide);
    word.addEventListener("mouseleave", event => {
      if (event.relatedTarget !== tip)
        hide();
    });
  }
  tip.addEventListener("mouseleave", hide);
  addEventListener("keydown", event => {
    if (event.key === "Escape")
      hide();
  });
}
