// Why players acted: their decisions, the newest first, each with its reason, and what it took. The house sends only what
// we may read.

import { actionLabel } from "./controls.js";
import { escapeInvisible, h, memberName, timestamp } from "./dom.js";

const MAX_LINES = 200;

export class Inspector {
  /** `call(args)` is the command decisions in this room. `onNew(decisions)` is called with those that were not known. */
  constructor(call, onNew) {
    this.call = call;
    this.onNew = onNew;
    this.decisions = []; // the newest first
    this.cursor = "";
    this.rights = "";
    this.chosen = ""; // a member; empty: all of them
    this.members = h("select", { onchange: () => this.choose(this.members.value) });
    this.list = h("ol", { class: "decisions", reversed: true });
    this.element = h("div", { class: "inspector" }, h("label", {}, "Decisions of ", this.members), this.list);
  }

  get hasAny() {
    return this.decisions.length > 0;
  }

  /** Fetch what is new. With other rights, or when a game or hand is over, more of the earlier ones may be read. */
  async fetch(me) {
    if (this.fetching) return; // the next fetch finds the rest
    this.fetching = true;
    try {
      await this.#fetch(me);
    } finally {
      this.fetching = false;
    }
  }

  async #fetch(me) {
    const found = await this.call({ after: this.cursor });
    const rights = JSON.stringify([found.hands_over, me?.grant, me?.seat]);
    if (rights !== this.rights) {
      this.rights = rights;
      this.decisions = [];
      this.list.replaceChildren();
      this.draw(this.cursor ? await this.call({}) : found);
    } else this.draw(found);
  }

  /** `items`: decisions, the oldest first. */
  draw({ items, cursor }) {
    this.cursor = cursor;
    if (!items.length) return;
    this.decisions = [...items.toReversed(), ...this.decisions].slice(0, MAX_LINES);
    this.drawMembers();
    for (const made of items) if (!this.chosen || made.member === this.chosen) this.list.prepend(this.line(made));
    while (this.list.childElementCount > MAX_LINES) this.list.lastElementChild.remove();
    this.onNew(items);
  }

  choose(member) {
    this.chosen = member;
    this.list.replaceChildren(...this.decisions.filter((made) => !member || made.member === member).map((made) => this.line(made)));
  }

  drawMembers() {
    const names = [...new Set(this.decisions.map((made) => made.member))].sort();
    if (String(names) === this.drawn) return;
    this.drawn = String(names);
    this.members.replaceChildren(h("option", { value: "" }, "everybody"), ...names.map((name) => h("option", { value: name }, escapeInvisible(name))));
    this.members.value = this.chosen;
  }

  line(made) {
    const reason = made.reason && h("q", { class: "why" }, made.reason);
    const details = h("details", { "data-failed": String(Boolean(made.failure)) },
      h("summary", {}, timestamp(made.at), " ", memberName(made.member), ` ${inWords(made.action)} `, made.failure && h("span", { class: "badge soft" }, "failed"), reason));
    details.addEventListener("toggle", () => this.fill(details, made), { once: true });
    return h("li", {}, details);
  }

  /** What the decision took, and what the agent saw, was asked and answered: fetched when somebody opens it. */
  async fill(details, made) {
    const whole = (await this.call({ id: made.id, full: true }).catch(() => ({ items: [] }))).items[0] ?? made;
    const texts = [["Saw", whole.saw], ["Was asked", whole.asked], ["Answered", whole.answered]];
    details.append(
      ...[whole.failure && h("p", { class: "error" }, whole.failure), h("p", { class: "muted" }, numbers(whole))].filter(Boolean),
      ...texts.filter(([, text]) => text).flatMap(([title, text]) => [h("h3", {}, title), h("pre", { tabindex: "0", "aria-label": title }, text)]));
  }
}

/** An action as it is on a button: the house sends its name, and its parameters as JSON. */
function inWords(text) {
  if (!text) return "did nothing";
  const [name] = text.split(" ", 1);
  try {
    return actionLabel({ action: name, params: JSON.parse(text.slice(name.length)) });
  } catch {
    return text; // it was too long
  }
}

function numbers({ tokens_in: read = 0, tokens_out: written = 0, dollars, ms }) {
  const facts = [
    (read || written) && `${read.toLocaleString("en")} + ${written.toLocaleString("en")} tokens`,
    dollars && `$${dollars.toFixed(4)}`,
    ms && `${(ms / 1000).toFixed(1)} s`,
  ].filter(Boolean);
  return facts.length ? facts.join(" · ") : "It says nothing about what it took.";
}
