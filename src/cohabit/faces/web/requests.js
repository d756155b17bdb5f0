// Newcomers in the lobby, requests for permissions, and the members who look through your seat.
// Also the buttons with which a member asks for permissions.

import { card, escapeInvisible, h, memberName, setText, throttled } from "./dom.js";
import { CAPABILITY_NAMES } from "./consent.js";

const PLAY = ["act", "read_own"];
const CHAT = ["send_broadcast", "send_message"];

export class Requests {
  /** `call(command, args)` is a call in this room. `onChange()`: something was answered. */
  constructor(call, onChange) {
    this.call = call;
    this.onChange = onChange;
    this.list = h("ul", { class: "requests-list" });
    this.result = h("p", { class: "result error", role: "status" });
    this.element = card("Requests", "requests", this.list, this.result);
    this.element.hidden = true;
    this.asking = h("div", { class: "asking", role: "group", "aria-label": "Ask for permissions", hidden: true });
    this.refresh = throttled(() => this.fetch(), 500);
    this.may = [];
  }

  /** `commands`: the names of those that we may use. */
  draw(me, session, commands) {
    this.me = me;
    this.may = commands;
    this.drawAsking(me, session);
  }

  async fetch() {
    if (!this.me) return;
    try {
      const { requests, watchers = [] } = await this.call("requests");
      const waiting = this.may.includes("lobby") ? (await this.call("lobby")).waiting : [];
      this.drawList(requests, watchers, waiting);
    } catch {
      // Lost, or no longer permitted: the next draw decides.
    }
  }

  drawList(requests, watchers, waiting) {
    const drawn = JSON.stringify([requests, watchers, waiting]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.mine = requests.filter((request) => request.yours);
    const open = waiting.filter((knock) => !knock.denied);
    const denied = waiting.filter((knock) => knock.denied);
    this.list.replaceChildren(
      ...open.map((knock) => this.knock(knock)),
      ...requests.filter((request) => request.you_may_answer).map((request) => this.request(request)),
      ...this.mine.map((request) => this.ownRequest(request)),
      ...watchers.map((watcher) => this.watcher(watcher)),
      ...denied.map((knock) => this.knock(knock)));
    this.element.hidden = !this.list.childElementCount;
    this.drawAsking(this.me, this.session);
  }

  line(text, ...buttons) {
    return h("li", {}, h("p", {}, text), h("span", { class: "buttons" }, buttons));
  }

  button(label, about, command, args, kind = "") {
    return h("button", { type: "button", class: kind, "aria-label": `${label}: ${about}`, onclick: (event) => this.answer(event.target, command, args) }, label);
  }

  knock({ knock, name, kind, how, denied }) {
    const shown = escapeInvisible(name);
    const about = `${kind === "agent" ? "agent" : "person"}, by ${how}`;
    return this.line(
      [h("strong", {}, shown), denied ? ` (${about}) was denied entry.` : ` (${about}) waits in the lobby.`],
      this.button("Admit", shown, "admit", { knock }, denied ? "" : "primary"),
      !denied && this.button("Deny", shown, "deny", { knock }));
  }

  request({ request, member, may = [], through, why }) {
    const about = `${escapeInvisible(member)}, request ${request}`;
    return this.line(
      [memberName(member), ` asks to ${asked(may, through)}.`, why && h("q", {}, why)],
      this.button("Allow for 10 minutes", about, "allow", { request, lasts: "now" }, "primary"),
      this.button("Allow for this game", about, "allow", { request, lasts: "game" }),
      this.button("Decline", about, "decline", { request }));
  }

  ownRequest({ request, may = [], through }) {
    return this.line([`You asked to ${asked(may, through)}. Nobody has answered yet.`],
      this.button("Take back", `request ${request}`, "decline", { request }));
  }

  watcher(member) {
    return this.line([memberName(member), " sees what your seat sees."],
      this.button("Stop", escapeInvisible(member), "withdraw", { member }));
  }

  async answer(button, command, args) {
    button.disabled = true;
    setText(this.result, "");
    try {
      await this.call(command, args);
    } catch (error) {
      setText(this.result, error.message);
    }
    button.disabled = false;
    this.refresh();
    this.onChange();
  }

  // -- asking ------------------------------------------------------------------------------------
  drawAsking(me, session) {
    this.session = session;
    const held = [...me.grant.act, ...me.grant.perceive];
    const missing = (wanted) => wanted.filter((capability) => !held.includes(capability));
    const hasAsked = (wanted) => this.mine?.some((request) => wanted.every((capability) => request.may?.includes(capability)));
    const offers = [...(session?.is_played === false ? [] : [["Ask to play", "act", missing(PLAY)]]), ["Ask to chat", "send_broadcast", missing(CHAT)]]
      .filter(([, needed, may]) => !held.includes(needed) && !held.includes("manage_members") && may.length && !hasAsked(may));
    const seats = this.seatsToSee(me, session, held);
    const drawn = JSON.stringify([offers, seats, this.may.includes("ask")]);
    if (drawn === this.drawnAsking) return;
    this.drawnAsking = drawn;
    this.asking.hidden = !this.may.includes("ask") || !(offers.length || seats.length);
    this.asking.replaceChildren(
      ...offers.map(([label, , may]) => h("button", { type: "button", class: "small", onclick: (event) => this.answer(event.target, "ask", { may }) }, label)),
      ...(seats.length ? [this.seatSelect(seats)] : []));
  }

  /** Seats with a player, for somebody who has no seat and does not see everything. */
  seatsToSee(me, session, held) {
    if (!session || me.seat || me.grant.through || held.includes("read_all") || held.includes("manage_members")) return [];
    const asked = (this.mine ?? []).map((request) => request.through);
    return session.members.filter((m) => m.seat && !asked.includes(m.seat)).map((m) => [m.seat, m.handle]);
  }

  seatSelect(seats) {
    const select = h("select", { class: "small", "aria-label": "Ask to see what a player sees", onchange: async () => {
      const through = select.value;
      if (through) await this.answer(select, "ask", { through });
    } }, h("option", { value: "" }, "Ask to see what a player sees …"), seats.map(([seat, handle]) => h("option", { value: seat }, `${escapeInvisible(handle)} (${escapeInvisible(seat)})`)));
    return select;
  }
}

function asked(may, through) {
  if (through) return `see what seat ${escapeInvisible(through)} sees`;
  const words = may.map((capability) => (CAPABILITY_NAMES[capability] ?? capability).toLowerCase());
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words.join("");
}
