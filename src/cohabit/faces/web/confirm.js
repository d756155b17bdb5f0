// A button for what cannot be undone: it asks first, in its own place.

import { h } from "./dom.js";

/** `question`: the text next to "Yes", or elements with it. `action()` runs when it is confirmed. */
export function confirmButton(label, question, yes, action, props = {}) {
  const ask = h("button", { type: "button", ...props, onclick: () => set(true) }, label);
  const no = h("button", { type: "button", class: "quiet", onclick: () => set(false) }, "Cancel");
  const confirm = h("button", { type: "button", class: "danger", onclick: () => {
    set(false);
    action();
  } }, yes);
  const asked = h("span", { class: "confirm", role: "group", "aria-label": typeof question === "string" ? question : label, hidden: true }, h("span", {}, question), confirm, no);
  const element = h("span", { class: "confirmed" }, ask, asked);
  function set(asking) {
    ask.hidden = asking;
    asked.hidden = !asking;
    (asking ? no : ask).focus();
  }
  asked.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    set(false);
  });
  return element;
}
