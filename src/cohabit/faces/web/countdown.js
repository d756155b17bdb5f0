// The time until something happens, as "0:42". It is counted here, so that it ticks, and so that the clock of this machine
// does not matter.

import { h, setText } from "./dom.js";

const TICK_MS = 250;

export class Countdown {
  #ends = null; // by the clock of this page
  #key = null;

  constructor() {
    this.element = h("span", { class: "countdown", role: "timer", "aria-live": "off", hidden: true });
    this.ticking = setInterval(() => this.#tick(), TICK_MS);
  }

  stop() {
    clearInterval(this.ticking);
  }

  /** Count down `seconds`, which are rounded; null: nothing. `key` names what ends then: while it is the same, the end is. */
  set(seconds, key, before = "", after = "") {
    [this.before, this.after] = [before, after];
    const ends = seconds === null ? null : performance.now() + seconds * 1000;
    const moved = this.#ends === null || ends === null || key !== this.#key || Math.abs(ends - this.#ends) > 1500;
    if (moved) this.#ends = ends;
    this.#key = key;
    this.#tick();
  }

  #tick() {
    this.element.hidden = this.#ends === null;
    if (this.#ends === null) return;
    const left = Math.max(Math.ceil((this.#ends - performance.now()) / 1000), 0);
    setText(this.element, `${this.before}${clock(left)}${this.after}`);
    this.element.dataset.soon = String(left <= 10);
  }
}

function clock(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
