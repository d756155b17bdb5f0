// What stands beside a film: the lines of the story, which follow the position, and why an agent did what it did.

import { escapeInvisible, h, setText } from "./elements.js";
import { lastUntil } from "./film.js";
import { tintOf } from "./timeline.js";

const MAX_LINES = 200; // that are in the list at once

/** A time since the beginning: 3:20, or 1:03:20. */
export function clock(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, String(seconds % 60).padStart(2, "0")];
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** The events of a film. One of them is the current one; those after it are still to come. */
export class Story {
  #shown = [0, 0]; // from which event to which
  #events = [];
  #began = null;
  #current = null;

  constructor(onSeek) {
    this.onSeek = onSeek;
    this.list = h("ol", { class: "film-lines", "aria-label": "Events" });
    this.empty = h("p", { class: "film-empty" }, "Nothing has happened yet.");
    this.element = h("div", { class: "film-story" }, this.empty, this.list);
  }

  /** `began`: from when on times count; null: entries are counted instead. */
  draw(events, seq, began) {
    const now = lastUntil(events, seq);
    if (events !== this.#events || began !== this.#began || now < this.#shown[0] || now >= this.#shown[1]) this.#fill(events, now, began);
    this.empty.hidden = events.length > 0;
    const line = this.list.children[now - this.#shown[0]] ?? null;
    if (line === this.#current) return;
    this.#current?.removeAttribute("aria-current");
    this.#current = line;
    this.list.classList.toggle("before", line === null);
    line?.setAttribute("aria-current", "true");
    if (!this.list.matches(":hover, :focus-within")) this.list.scrollTop = line ? line.offsetTop - this.list.clientHeight / 2 : 0;
  }

  #fill(events, now, began) {
    const from = events.length <= MAX_LINES ? 0 : Math.max(0, now - MAX_LINES / 2);
    this.#shown = [from, Math.min(events.length, from + MAX_LINES)];
    [this.#events, this.#began] = [events, began];
    this.#current = undefined;
    this.list.replaceChildren(...events.slice(...this.#shown).map((event) => this.#line(event, began)));
  }

  #line({ seq, at, kind, text, by }, began) {
    const author = by && !text.startsWith(by) && h("b", {}, `${escapeInvisible(by)} `);
    return h("li", { "data-tint": tintOf(kind) },
      h("button", { type: "button", onclick: () => this.onSeek(seq) }, h("span", { class: "film-time" }, began === null ? String(seq) : clock(at - began)), h("span", {}, author, text)));
  }
}

/** The decisions of one agent: the newest one at the position. */
export class Why {
  constructor(onSeek, onChoose) {
    this.onSeek = onSeek;
    this.chooser = h("select", { "aria-label": "Agent", onchange: () => onChoose() });
    this.count = h("span", { class: "film-time" });
    this.back = h("button", { type: "button", class: "film-button", "data-icon": "back", "aria-label": "Previous decision", onclick: () => this.#go(-1) });
    this.next = h("button", { type: "button", class: "film-button", "data-icon": "next", "aria-label": "Next decision", onclick: () => this.#go(1) });
    this.action = h("p", { class: "film-action" });
    this.reason = h("blockquote");
    this.failure = h("p", { class: "error" });
    this.cost = h("p", { class: "film-time" });
    this.texts = [["saw", "What it saw"], ["asked", "What it was asked"], ["answered", "What it answered"]].map(([name, title]) => {
      const text = h("pre", { tabindex: "0", "aria-label": title });
      return { name, text, element: h("details", {}, h("summary", {}, title), text) };
    });
    this.element = h("div", { class: "film-why" },
      h("div", { class: "film-agent" }, this.chooser, this.back, this.count, this.next),
      h("div", { class: "film-decision", tabindex: "0", role: "group", "aria-label": "Decision" },
        this.action, this.reason, this.failure, this.cost, ...this.texts.map(({ element }) => element)));
  }

  /** The decisions of the agent that is chosen. */
  decisions = [];

  draw(decisions, seq) {
    const members = [...new Set(decisions.map(({ member }) => member))].sort();
    if (String(members) !== this.members) {
      this.members = String(members);
      const chosen = this.chooser.value;
      this.chooser.replaceChildren(...members.map((member) => h("option", { value: member, selected: member === chosen }, escapeInvisible(member))));
    }
    this.decisions = decisions.filter(({ member }) => member === this.chooser.value);
    this.index = lastUntil(this.decisions, seq);
    setText(this.count, `${this.index + 1} / ${this.decisions.length}`);
    this.back.disabled = this.index < 0;
    this.next.disabled = this.index >= this.decisions.length - 1;
    this.#show(this.decisions[this.index]);
  }

  #show(decision) {
    const { action = "", reason = "", failure = "", tokens_in: read = 0, tokens_out: wrote = 0, dollars = 0, ms = 0 } = decision ?? {};
    setText(this.action, decision ? action || "It did nothing." : "It has not decided anything yet.");
    setText(this.reason, reason);
    setText(this.failure, failure);
    this.reason.hidden = !reason;
    this.failure.hidden = !failure;
    setText(this.cost, [
      (read || wrote) && `${read.toLocaleString("en")} tokens read, ${wrote.toLocaleString("en")} written`,
      dollars && `$${dollars.toFixed(4)}`, ms && `${(ms / 1000).toFixed(1)} s`,
    ].filter(Boolean).join(" · "));
    for (const { name, text, element } of this.texts) {
      element.hidden = !decision?.[name];
      setText(text, decision?.[name] ?? "");
    }
  }

  #go(steps) {
    const to = this.decisions[this.index + steps];
    if (to) this.onSeek(to.seq);
  }
}
