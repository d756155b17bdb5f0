// For members who only watch, in a room that is open to spectators: the choice between what is public now and everything,
// some steps ago. Of that view the document of the world gets its values and its scene from here.

import { h, setText } from "./dom.js";

const POLL_MS = 1_500; // the house makes one view a second for all spectators
const [NOW, DELAYED] = ["now", "delayed"];
const LATER = "Everything, some steps ago";

/** What the view shows; 0 steps: the game is over, null: nothing is shown yet. */
function ago(steps) {
  if (steps === null) return LATER;
  return steps ? `Everything, ${steps} step${steps === 1 ? "" : "s"} ago` : "Everything, up to the end";
}

export class Spectate {
  #waiting = []; // for another view
  #chosen = null; // until then those who are spectators already see everything

  /** `call(command, args)` and `change(command, args)`: a call in this room. `onView()`: something else is to be seen. */
  constructor(call, change, onView) {
    Object.assign(this, { call, change, onView });
    this.delayed = h("option", { value: DELAYED }, LATER);
    this.choice = h("select", { class: "small", "aria-label": "What you see", onchange: () => this.choose(this.choice.value) },
      h("option", { value: NOW }, "Now, what everybody may see"), this.delayed);
    this.note = h("p", { class: "muted", role: "status", hidden: true });
    this.element = h("div", { class: "spectate", hidden: true }, this.choice, this.note);
    this.polling = setInterval(() => this.fetch(), POLL_MS);
  }

  stop() {
    clearInterval(this.polling);
    this.#wake();
  }

  /** `usable`: the names of the commands that we are offered. */
  draw(usable) {
    this.isSpectator = usable.includes("delayed_view");
    this.element.hidden = !this.isSpectator && !usable.includes("spectate");
    const isOn = !this.element.hidden && (this.#chosen ?? this.isSpectator);
    if (isOn !== this.isOn) this.#turn(isOn);
  }

  async choose(value) {
    this.#chosen = value === DELAYED;
    this.say("");
    try {
      if (this.#chosen && !this.isSpectator) await this.change("spectate");
    } catch (error) {
      this.#chosen = false;
      this.say(error.message);
    }
    this.#turn(this.#chosen);
  }

  #turn(isOn) {
    this.isOn = isOn;
    this.choice.value = isOn ? DELAYED : NOW;
    this.seen = null;
    this.#wake();
    this.onView();
    this.fetch();
  }

  /** Fetch what spectators see now. The next game, or a seat that we took, may have ended that. */
  async fetch() {
    if (!this.isOn || this.fetching || document.hidden) return;
    this.fetching = true;
    try {
      const { id = "", text, view, scene = {}, steps_ago = null } =
        await this.call("delayed_view", { data: true, since: this.seen?.id ?? "" });
      if (!this.isOn) return;
      setText(this.delayed, ago(steps_ago));
      if (view && id === this.seen?.id) return;
      if (view) this.seen = { id, view: { ...view, id }, scene };
      this.say(this.seen ? "" : text);
      if (!view) return;
      this.#wake();
      this.onView();
    } catch (error) {
      if (error.code !== "LOST" && error.code !== "BUSY") this.say(error.message);
    } finally {
      this.fetching = false;
    }
  }

  say(text) {
    this.note.textContent = text;
    this.note.hidden = !text;
  }

  #wake() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  // -- what the document sees --------------------------------------------------------------------
  /** The view in place of the live one; null: the live one is shown. */
  get view() {
    return (this.isOn && this.seen?.view) || null;
  }

  /** Resolves to null when something else is to be seen. */
  changed() {
    return new Promise((resolve) => this.#waiting.push(() => resolve(null)));
  }

  /** Wait until there is another view than the one with this id, or the live one is shown again: then null. */
  async next(since) {
    while (this.view?.id === since) await this.changed();
    return this.view;
  }

  scene() {
    return { id: this.seen.id, layers: this.seen.scene };
  }
}
