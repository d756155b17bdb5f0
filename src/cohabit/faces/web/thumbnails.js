// Thumbnails of the rooms in a list: what everybody may see, the scores and the players. Only those on the screen are fetched,
// one after another.

import { escapeInvisible, h, memberName, scoreShown, setText } from "./dom.js";

const REFRESH_MS = 5_000;
const MAX_FETCHED = 12; // at a time

export class Thumbnails {
  #shown = new Map(); // by room: its elements and what they show
  #visible = new Set(); // the rooms on the screen

  /** `fetch(room)`: the thumbnail of a room. */
  constructor(fetch) {
    this.fetch = fetch;
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) this.#visible[isIntersecting ? "add" : "delete"](target.dataset.room);
      this.refresh();
    });
    this.polling = setInterval(() => this.refresh(), REFRESH_MS);
  }

  stop() {
    this.stopped = true;
    clearInterval(this.polling);
    this.observer.disconnect();
  }

  /** The element for a room, the same one each time. */
  of(room) {
    let found = this.#shown.get(room);
    if (!found) {
      const lines = h("span", { class: "thumbnail-view", "aria-hidden": "true" }); // a picture of the room: its facts are beside it
      const scores = h("span", { class: "thumbnail-scores" });
      found = { lines, scores, element: h("span", { class: "thumbnail", "data-room": room }, lines, scores), at: -Infinity };
      this.#shown.set(room, found);
    }
    return found.element;
  }

  /** The list was drawn. `rooms`: those that it has. */
  drawn(rooms) {
    this.observer.disconnect();
    this.#visible.clear();
    for (const room of this.#shown.keys()) if (!rooms.includes(room)) this.#shown.delete(room);
    for (const room of rooms) this.observer.observe(this.of(room));
  }

  async refresh() {
    if (this.busy || this.stopped || document.hidden) return;
    this.busy = true;
    const now = performance.now();
    const due = [...this.#visible].filter((room) => this.#shown.get(room)?.at <= now - REFRESH_MS);
    for (const room of due.slice(0, MAX_FETCHED)) {
      const found = this.#shown.get(room);
      if (!found || this.stopped) continue;
      found.at = performance.now();
      try {
        this.draw(found, await this.fetch(room));
      } catch {
        // the connection is lost, or we may not see this room any more: the list is asked for again
      }
    }
    this.busy = false;
  }

  draw({ lines, scores }, { lines: text, scores: standings, players, over }) {
    setText(lines, text.join("\n"));
    lines.style.setProperty("--rows", text.length); // few lines are large, as a small board is
    lines.style.setProperty("--columns", Math.max(...text.map((line) => line.length), 1));
    const drawn = JSON.stringify([standings, players, over]);
    if (scores.dataset.drawn === drawn) return;
    scores.dataset.drawn = drawn;
    const named = standings.map(({ name, score }) => h("span", {}, memberName(players[name] ?? name), ` ${scoreShown(score)}`));
    const others = standings.length ? [] : Object.entries(players).map(([seat, name]) => h("span", {}, `${escapeInvisible(seat)}: `, memberName(name)));
    scores.replaceChildren(...named, ...others, ...(over ? [h("span", { class: "badge soft" }, "over")] : []));
  }
}
