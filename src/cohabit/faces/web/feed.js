// What happened in the room, oldest first. What members say is their words: shown quoted, with their name.

import { card, h, moment, named } from "./dom.js";

const KEPT = 500;

export class Feed {
  constructor() {
    this.list = h("ol", { class: "events", role: "log", "aria-live": "off", "aria-label": "Events", tabindex: "0" });
    this.newer = h("button", { class: "newer", hidden: true, onclick: () => this.toEnd() }, "Newer events ↓");
    this.empty = h("p", { class: "muted empty" }, "Nothing has happened yet.");
    this.element = card("Events", "feed", this.empty, this.list, this.newer);
    this.list.addEventListener("scroll", () => {
      if (this.atEnd()) this.newer.hidden = true;
    });
  }

  clear() {
    this.list.replaceChildren();
    this.empty.hidden = false;
  }

  /** From now on screen readers are told of what comes; what happened before they can read. */
  announce() {
    this.list.setAttribute("aria-live", "polite");
  }

  add(items, people = []) {
    if (!items.length) return;
    const follow = this.atEnd();
    this.empty.hidden = true;
    this.list.append(...items.map((item) => line(item, people)));
    while (this.list.childElementCount > KEPT) this.list.firstElementChild.remove();
    if (follow) this.toEnd();
    else this.newer.hidden = false;
  }

  atEnd() {
    return this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 40;
  }

  toEnd() {
    this.list.scrollTop = this.list.scrollHeight;
    this.newer.hidden = true;
  }
}

function line(item, people) {
  const message = item.do === "send_message" && item.by;
  const who = item.by ? named(item.by) : null;
  const via = item.via && h("span", { class: "via", title: "played by a built-in player" }, item.via);
  const body = message ? quoted(item, people) : [who, via, h("span", { class: "text" }, item.text)];
  const why = item.why && h("p", { class: "why" }, h("span", {}, "why: "), h("q", {}, item.why));
  return h("li", { "data-kind": message ? "message" : item.kind ?? "info" }, moment(item.at), h("div", {}, ...body, why));
}

/** "ann to bob: hello" as ann → bob, with hello in quotes. Who sent it is the record's word, not the text's. */
function quoted(item, people) {
  const lead = `${item.by} to `;
  const rest = item.text.startsWith(lead) ? item.text.slice(lead.length) : `?: ${item.text}`;
  const to = people.filter((name) => rest.startsWith(`${name}: `)).sort((a, b) => b.length - a.length)[0]
    ?? rest.slice(0, rest.indexOf(": "));
  return [
    named(item.by), h("span", { class: "to" }, ` to ${to}`),
    h("blockquote", {}, rest.slice(to.length + 2)),
  ];
}
