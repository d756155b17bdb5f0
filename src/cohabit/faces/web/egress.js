// For members who manage a room: how many bytes each backend got, and the budgets that limit it.

import { escapeInvisible, h, memberName, setText, throttled } from "./dom.js";

const UNITS = ["bytes", "kB", "MB", "GB"];

export class Egress {
  /** `call(command, args)` is a call in this room. `onChange()`: a budget has changed. */
  constructor(call, onChange) {
    this.call = call;
    this.onChange = onChange;
    this.list = h("ul", { class: "consent" });
    this.member = h("select", { id: "budget-member" }, h("option", { value: "" }, "every member"));
    this.budget = h("input", { id: "budget-bytes", type: "number", min: "0", step: "1", inputmode: "numeric", "aria-describedby": "budget-about" });
    this.result = h("p", { class: "result", role: "status" });
    const form = h("form", { class: "invite-form" },
      h("p", { class: "field" }, h("label", { for: "budget-member" }, "Budget of"), this.member),
      h("p", { class: "field" }, h("label", { for: "budget-bytes" }, "Bytes in all"), this.budget),
      h("button", {}, "Set the budget"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.element = h("div", {},
      h("p", { class: "muted" }, "What was sent to each member, over every interface. In a sealed room the numbers of players are rounded until the game is over."),
      this.list,
      h("section", { "aria-label": "Budget" }, h("h3", {}, "Budget"),
        h("p", { class: "muted", id: "budget-about" }, "When a budget is used up, that member gets nothing more. 0 is no limit; nothing is the default of this house."),
        form, this.result));
    this.refresh = throttled(() => this.fetch(), 700);
  }

  async submit() {
    this.show("");
    try {
      const budget = this.budget.value === "" ? null : Number(this.budget.value);
      await this.call("set_egress_budget", { budget, ...(this.member.value && { member: this.member.value }) });
      this.show(`The budget of ${this.member.selectedOptions[0].textContent} is set.`);
    } catch (error) {
      this.show(error.message, true);
    }
    this.refresh();
    this.onChange();
  }

  show(text, failed = false) {
    this.result.classList.toggle("error", failed);
    setText(this.result, text);
  }

  /** `handles`: the members that can have a budget of their own. */
  draw(handles) {
    const drawn = JSON.stringify(handles);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const { value } = this.member;
    this.member.replaceChildren(h("option", { value: "" }, "every member"), ...handles.map((handle) => h("option", { value: handle }, escapeInvisible(handle))));
    if (handles.includes(value)) this.member.value = value;
    else if (handles.length === 1) this.member.value = handles[0];
  }

  async fetch() {
    try {
      const { members } = await this.call("egress");
      this.list.replaceChildren(...members.filter((member) => member.bytes).map(line));
    } catch {
      // Lost, or our own budget is used up: it can still be raised.
    }
  }
}

function line({ member, budget, left, backends }) {
  const limit = budget === null || budget === undefined ? "no limit" : `${size(left)} left of ${size(budget)}`;
  return h("li", {}, h("p", { class: "who" }, memberName(member), h("span", { class: "muted" }, ` ${limit}`)),
    backends.map(({ backend, outside, bytes, kinds }) => h("p", { class: "disclosure", "data-level": outside ? "leaves" : "stays" },
      `${size(bytes)} ${outside === null || outside === undefined ? "to a backend that is not disclosed" : `to ${escapeInvisible(backend)}`}`,
      h("span", { class: "muted" }, ` ${Object.entries(kinds).map(([kind, amount]) => `${kind} ${size(amount.bytes)}`).join(", ")}`))));
}

/** A number of bytes in words: "3.4 MB". */
function size(bytes) {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit ? value.toFixed(1) : value} ${UNITS[unit]}`;
}
