// For members who may set it: the time limit of a turn, a round or a step.

import { h } from "./dom.js";

const NAMES = new Map([[10, "10 s"], [20, "20 s"], [30, "30 s"], [60, "1 min"], [120, "2 min"], [300, "5 min"], [900, "15 min"], [3600, "1 h"], [86_400, "1 day"]]);

export class TurnTimer {
  /** `set(seconds)`: change it; null: no limit. */
  constructor(set) {
    this.choice = h("select", { id: "turn-timer", class: "small", onchange: () => set(Number(this.choice.value) || null) });
    this.element = h("label", { for: "turn-timer", hidden: true }, "Turn timer", this.choice);
  }

  /** `seconds`: the limit now; undefined: none. */
  draw(mayChange, seconds) {
    this.element.hidden = !mayChange;
    if (this.drawn !== seconds || !this.choice.length) {
      const known = [...new Set([...NAMES.keys(), ...(seconds ? [seconds] : [])])].sort((one, other) => one - other);
      this.choice.replaceChildren(h("option", { value: "" }, "off"), ...known.map((each) => h("option", { value: String(each) }, NAMES.get(each) ?? `${each} s`)));
      this.drawn = seconds;
    }
    this.choice.value = seconds ? String(seconds) : "";
  }
}
