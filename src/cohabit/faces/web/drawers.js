// The panels of a room: a row of buttons, and one panel that is open at a time. On a wide screen the first panel is open
// unless another one is; on a phone a panel is a sheet over the board, and all are closed at first.

import { h, setText } from "./dom.js";

const WIDE = matchMedia("(min-width: 60rem)");

export class Drawers {
  #parts = [];
  #current = null;

  constructor() {
    this.bar = h("div", { class: "drawer-buttons", role: "group", "aria-label": "Panels" });
    this.element = h("div", { class: "drawer", hidden: true });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      this.close();
    });
    this.onWidth = () => this.#show(this.#current);
    WIDE.addEventListener("change", this.onWidth);
  }

  stop() {
    WIDE.removeEventListener("change", this.onWidth);
  }

  /** Add a panel. The first one is the one that wide screens show. `shown()`: false while there is nothing to show.
   * `onOpen()` is called whenever it is opened. */
  add({ id, title, element, shown = () => true, onOpen = null }) {
    const part = { id, shown, onOpen };
    const place = `drawer-${id}`;
    part.button = h("button", { type: "button", "aria-expanded": "false", "aria-controls": place, onclick: () => this.toggle(id) }, title);
    part.heading = h("h2", { tabindex: "-1" }, title);
    part.close = h("button", { type: "button", class: "quiet", "aria-label": `Close ${title}`, onclick: () => this.close() }, "Close");
    part.section = h("section", { id: place, "aria-label": title, hidden: true }, h("header", {}, part.heading, part.close), h("div", { class: "drawer-body" }, element));
    this.#parts.push(part);
    this.bar.append(part.button);
    this.element.append(part.section);
    this.#show(this.#current);
  }

  /** Change a title. `count`: of what waits in the panel. */
  name(id, title, count = 0) {
    const { button, heading, section, close } = this.#part(id);
    setText(button, count ? `${title} (${count})` : title);
    setText(heading, title);
    section.setAttribute("aria-label", title);
    close.setAttribute("aria-label", `Close ${title}`);
  }

  isOpen(id) {
    return !this.#part(id).section.hidden;
  }

  /** Show the buttons of the panels that have something to show, and close a panel that has nothing any more. */
  draw() {
    for (const part of this.#parts) part.button.hidden = !part.shown();
    if (this.#current && this.#part(this.#current).button.hidden) this.#show(null);
  }

  toggle(id) {
    if (this.isOpen(id)) this.close();
    else this.open(id);
  }

  open(id) {
    this.#show(id);
    const part = this.#part(id);
    part.onOpen?.();
    part.heading.focus({ preventScroll: true });
  }

  /** Close what is open; the focus goes back to its button. */
  close() {
    const part = this.#current && this.#part(this.#current);
    this.#show(null);
    part?.button.focus();
  }

  #part(id) {
    return this.#parts.find((part) => part.id === id);
  }

  #show(id) {
    this.#current = id;
    const shown = id ?? (WIDE.matches ? this.#parts[0]?.id : null);
    for (const part of this.#parts) {
      part.section.hidden = part.id !== shown;
      part.close.hidden = id === null;
      part.button.setAttribute("aria-expanded", String(part.id === shown));
    }
    this.element.hidden = !shown;
  }
}
