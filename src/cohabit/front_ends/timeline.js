// The timeline of a film: a slider over its entries, with marks for what happened.

import { h } from "./elements.js";

const MAX_MARKS = 80;
const TINTS = 8;

export class Timeline {
  /** `onSeek(seq)`: the slider was moved, or a mark was chosen. */
  constructor(onSeek) {
    this.onSeek = onSeek;
    this.slider = h("input", { type: "range", class: "film-slider", "aria-label": "Position", step: "1", oninput: () => onSeek(Number(this.slider.value)) });
    this.loaded = h("div", { class: "film-loaded" });
    this.marks = h("div", { class: "film-marks", "aria-hidden": "true" });
    this.ticks = h("div", { class: "film-marks film-ticks", "aria-hidden": "true" });
    this.element = h("div", { class: "film-track" }, this.loaded, this.marks, this.ticks, this.slider);
  }

  /** The entries of the film, and which of them are loaded, as [first, last]. */
  setRange(first, last, loaded) {
    [this.first, this.last] = [first, last];
    [this.slider.min, this.slider.max] = [String(first), String(last)];
    this.loaded.replaceChildren(...loaded.map(([from, to]) => {
      const part = h("i");
      part.style.left = this.#place(from);
      part.style.right = `calc(100% - ${this.#place(to)})`;
      return part;
    }));
  }

  setPosition(seq, text) {
    this.slider.value = String(seq);
    this.slider.setAttribute("aria-valuetext", text);
    this.element.style.setProperty("--at", this.#place(seq));
  }

  /** `events`: those to jump to; `decisions`: those of the agent that is shown. */
  setMarks(events, decisions) {
    this.marks.replaceChildren(...events.map((event) => this.#mark(event, event.text, tintOf(event.kind))));
    this.ticks.replaceChildren(...decisions.map((decision) => this.#mark(decision, decision.action, "")));
  }

  #mark({ seq }, title, tint) {
    const mark = h("button", { type: "button", tabindex: "-1", title, "data-tint": tint, onclick: () => this.onSeek(seq) });
    mark.style.left = this.#place(seq);
    return mark;
  }

  #place(seq) {
    const share = (seq - this.first) / Math.max(1, this.last - this.first);
    return `${(100 * Math.min(Math.max(share, 0), 1)).toFixed(3)}%`;
  }
}

/** The events that get a mark: of the rarest kinds, as long as there is room for all events of a kind. */
export function marked(events) {
  const kinds = Map.groupBy(events, (event) => event.kind);
  let room = MAX_MARKS;
  const shown = [...kinds.values()].sort((one, other) => one.length - other.length).filter((kind) => (room -= kind.length) >= 0);
  return shown.flat().sort((one, other) => one.seq - other.seq);
}

export function tintOf(kind) {
  let sum = 0;
  for (const character of kind) sum = (sum * 31 + character.codePointAt(0)) % 997;
  return String(sum % TINTS);
}
