// Actions by buttons and keys: one at a time. A key or button that is held goes on at the pace of the replies.
const KEY_NAMES = { " ": "Space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };

class Pad {
  #held = null; // what is held down: { source, action, params }
  #next = null; // what was pressed while a call was pending
  #pending = false;
  #keys = new Map(); // by key: { action, params }

  /** `send(action, params)`: a promise of the reply; `ready()`: whether the player may act now. */
  constructor(send, ready = () => true) {
    Object.assign(this, { send, ready });
    // Before the script that passes keys on to the page around this document.
    addEventListener("keydown", (event) => this.#onKey(event), true);
    addEventListener("keyup", (event) => this.release(nameOf(event)), true);
    addEventListener("blur", () => { this.#held = null; });
  }

  /** Take the reply of the command `keys`. */
  learn(keys) {
    this.#keys = new Map(keys.map(({ key, action, params }) => [key, { action, params }]));
  }

  /** The key of an action, as buttons show it; empty if there is none. Arrows and letters may do the same: `last`. */
  keyOf(action, params = {}) {
    const same = ([, known]) => known.action === action && JSON.stringify(known.params) === JSON.stringify(params);
    const [key] = [...this.#keys].find(same) ?? [""];
    return KEY_NAMES[key] ?? key.toUpperCase();
  }

  /** A button that acts when it is pressed, and while it is held if it `repeats`. Its label is shown, or read out. */
  button(action, params, { label, content = label, repeats = false, ...attributes }) {
    const button = h("button", { type: "button", "data-action": action, "aria-label": label, title: label, ...attributes }, content);
    button.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault(); // the focus stays where it is, so that the space bar goes on doing what it does
      button.setPointerCapture(event.pointerId);
      this.press(button, action, params, repeats);
    });
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) button.addEventListener(kind, () => this.release(button));
    button.addEventListener("contextmenu", (event) => event.preventDefault()); // of a long touch
    button.addEventListener("click", ({ detail }) => { if (!detail) this.press(button, action, params, false); }); // by a key or a screen reader
    return button;
  }

  /** Begin to hold something down. */
  press(source, action, params, repeats = true) {
    if (source.disabled || source.getAttribute?.("aria-disabled") === "true") return;
    this.#held = repeats ? { source, action, params } : null;
    if (this.#pending) this.#next = { action, params };
    else this.act(action, params);
  }

  release(source) {
    if (this.#held?.source === source) this.#held = null;
  }

  async act(action, params) {
    this.#pending = true;
    document.body.toggleAttribute("data-pending", true);
    try {
      await this.send(action, params);
    } finally {
      this.#pending = false;
      document.body.toggleAttribute("data-pending", false);
    }
    this.goOn();
  }

  /** What is held goes on, as soon as the player may act. Call it for every view. */
  goOn() {
    if (this.#pending || !this.ready()) return;
    const next = this.#next ?? this.#held;
    this.#next = null;
    if (next) this.act(next.action, next.params);
  }

  #onKey(event) {
    const { target, repeat, ctrlKey, metaKey, altKey } = event, focused = target.closest?.("button, a, summary, [role=tab]");
    if (context.replay || ctrlKey || metaKey || altKey || target.closest?.("input, textarea, select, dialog[open], [contenteditable]")) return;
    const name = nameOf(event), known = this.#keys.get(name);
    if (!known) return;
    // With a button in focus Enter and the space bar do what they do in every document.
    if (focused && (name === " " || name === "Enter")) return event.stopImmediatePropagation();
    event.preventDefault();
    if (!repeat) this.press(name, known.action, known.params);
  }
}

const nameOf = ({ key }) => (key.length === 1 ? key.toLowerCase() : key);
