// The agents that play in a room: what each one did and thought, and what it cost. And who plays your seat: you or yours.

import { h, memberName, setText } from "./dom.js";
import { actionLabel } from "./controls.js";

export class Agents {
  /** `call(command)` is a call in this room; `onChange()` is called when your seat changes hands. */
  constructor(call, onChange) {
    this.call = call;
    this.onChange = onChange;
    this.mine = h("p", {}, "");
    this.button = h("button", { onclick: () => this.hand() }, "");
    this.result = h("p", { class: "result error", role: "status" });
    this.yours = h("div", { class: "handover", hidden: true }, this.mine, this.button, this.result);
    this.list = h("ul", { class: "agents" });
    this.element = h("div", { class: "agents-card" }, this.yours, this.list);
    this.hasAny = false;
  }

  /** `me`: the reply of whoami. `agents`: the lines of the reply of agents. `status`: of our view, for names. */
  draw(me, agents, status) {
    const drawn = JSON.stringify([me.stand_in, me.played_by, agents]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.command = me.played_by ? "take_over" : "hand_back";
    this.yours.hidden = !me.stand_in;
    setText(this.mine, me.played_by ? `${me.played_by} plays your seat.` : `You play. ${me.stand_in} can play for you.`);
    setText(this.button, me.played_by ? "Take over" : `Let ${me.stand_in} play`);
    this.list.replaceChildren(...agents.map((a) => agentLine(a, status)));
    this.hasAny = Boolean(me.stand_in || agents.length);
  }

  async hand() {
    this.button.disabled = true;
    try {
      await this.call(this.command);
      setText(this.result, "");
      this.onChange();
    } catch (error) {
      setText(this.result, error.message);
    } finally {
      this.button.disabled = false;
    }
  }
}

function agentLine(a, status) {
  const failures = a.failures ? ` · ${count(a.failures, "failure")}` : "";
  const facts = [
    count(a.decisions, "decision") + failures,
    (a.prompt_tokens || a.completion_tokens) && `${number(a.prompt_tokens ?? 0)} + ${number(a.completion_tokens ?? 0)} tokens`,
    a.seconds && `${a.seconds.toFixed(1)} s`,
    a.dollars && `$${a.dollars.toFixed(4)}`,
    a.unpriced && `${count(a.unpriced, "answer")} of unknown price`,
  ];
  return h("li", { "data-failing": String(Boolean(a.stopped || a.failures)) },
    h("p", {}, memberName(a.member), ` · ${a.brain}`, !a.playing && h("span", { class: "badge soft" }, a.stopped ? "stopped" : "not playing")),
    h("p", { class: "muted" }, facts.filter(Boolean).join(" · ")),
    a.last && thought(a.last, status),
    a.stopped && h("p", { class: "error" }, a.stopped));
}

/** The last decision. What a model wrote is shown as text, in quotation marks. */
function thought({ action, outcome, reasoning, problem }, status) {
  return h("div", { class: "thought" },
    h("p", {}, action ? actionLabel(action, status) : "no action", outcome !== "chosen" && h("span", { class: "badge soft" }, outcome)),
    reasoning && h("blockquote", {}, reasoning),
    problem && h("p", { class: "error" }, problem));
}

function count(n, word) {
  return `${number(n)} ${word}${n === 1 ? "" : "s"}`;
}

function number(n) {
  return n.toLocaleString("en");
}
