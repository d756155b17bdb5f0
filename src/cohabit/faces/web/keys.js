// The keys of a room: those of its world, those of this page, and a sheet that lists them all.

import { actionLabel } from "./controls.js";
import { h } from "./dom.js";

const NAMES = { " ": "Space", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };
const PAGE = [["1 – 9", "choose one of the first nine actions"], ["?", "show or hide the keys"], ["Esc", "close a panel"]];
const PAD = ["ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight"];

export class Keys {
  #keys = new Map(); // the actions of the world, by key
  #pending = false;

  /** `act(action)`: resolves when an action of a key is done. `choose(number)`: one of the first nine actions. */
  constructor(act, choose) {
    this.act = act;
    this.choose = choose;
    this.list = h("div", {});
    this.sheet = h("dialog", { class: "keys-sheet", "aria-labelledby": "keys-title", onclick: (event) => event.target === this.sheet && this.sheet.close() },
      h("header", {}, h("h2", { id: "keys-title" }, "Keys"), h("button", { type: "button", class: "quiet", onclick: () => this.sheet.close() }, "Close")), this.list);
    this.button = h("button", { type: "button", class: "quiet keys-button", "aria-label": "Keys", title: "Keys", onclick: () => this.toggle() }, "?");
    this.pad = h("div", { class: "key-pad", role: "group", "aria-label": "Key pad", hidden: true });
    this.onKeydown = (event) => this.#receive(event);
    document.addEventListener("keydown", this.onKeydown);
    this.draw([]);
  }

  stop() {
    document.removeEventListener("keydown", this.onKeydown);
  }

  /** `keys`: the reply of the command `keys`. */
  draw(keys) {
    this.#keys = new Map(keys.map(({ key, action, params }) => [key, { action, params }]));
    const worlds = keys.map((line) => [NAMES[line.key] ?? line.key, actionLabel(line)]);
    const part = (title, lines) => [h("h3", {}, title), h("dl", {}, lines.flatMap(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)]))];
    this.list.replaceChildren(...(worlds.length ? part("In this world", worlds) : []), ...part("On this page", PAGE));
    this.pad.replaceChildren(...PAD.filter((key) => this.#keys.has(key)).map((key) =>
      h("button", { type: "button", "data-key": key, "aria-label": actionLabel(this.#keys.get(key)), onclick: () => this.press(key) }, NAMES[key])));
  }

  /** Show the pad, for a touch screen. It has the arrow keys of the world. */
  showPad(shown) {
    this.pad.hidden = !shown || !this.pad.childElementCount;
  }

  toggle() {
    if (this.sheet.open) this.sheet.close();
    else this.sheet.showModal();
  }

  /** Do what a key means. Returns false if it means nothing. While an action of a key is not done, keys do nothing. */
  press(key) {
    if (key === "?") this.toggle();
    else if (this.sheet.open) return false;
    else if (this.#keys.has(key)) this.#run(() => this.act(this.#keys.get(key)));
    else if (/^[1-9]$/.test(key)) this.#run(() => this.choose(Number(key)));
    else return false;
    return true;
  }

  async #run(work) {
    if (this.#pending) return;
    this.#pending = true;
    try {
      await work();
    } finally {
      this.#pending = false;
    }
  }

  #receive(event) {
    const { target, key } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest?.("input, textarea, select, [contenteditable]")) return;
    if (key === " " && target.closest?.("button, a, summary")) return; // it presses the button
    if (key.startsWith("Arrow") && target.closest?.(".drawer, .world-text")) return; // it scrolls
    if (this.press(key)) event.preventDefault();
  }
}
