// For members who manage a room: how many bytes each backend got, the budgets that limit it, and a signed copy.

import { escapeInvisible, h, memberName, setText, throttled } from "./dom.js";

const UNITS = ["bytes", "kB", "MB", "GB"];
const ABOUT = "What was sent to each member, over every interface.";

export class Egress {
  /** `call(command, args)` is a call in this room. `onChange()`: a budget has changed. */
  constructor(call, onChange) {
    this.call = call;
    this.onChange = onChange;
    this.step = 1; // budgets and counts of others are multiples of it
    this.people = new Set();
    this.handles = [];
    this.former = [];
    this.list = h("ul", { class: "consent" });
    this.member = h("select", { id: "budget-member" }, h("option", { value: "" }, "every member"));
    this.budget = h("input", { id: "budget-bytes", type: "number", min: "0", step: "1", inputmode: "numeric", "aria-describedby": "budget-about" });
    this.result = h("p", { class: "result", role: "status" });
    this.form = h("form", { class: "invite-form" },
      h("p", { class: "field" }, h("label", { for: "budget-member" }, "Budget of"), this.member),
      h("p", { class: "field" }, h("label", { for: "budget-bytes" }, "Bytes in all"), this.budget),
      h("button", {}, "Set the budget"));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.about = h("p", { class: "muted" }, ABOUT);
    this.budgetAbout = h("p", { class: "muted", id: "budget-about" });
    this.copied = h("p", { class: "result", role: "status" });
    this.budgets = h("section", { "aria-label": "Budget" }, h("h3", {}, "Budget"), this.budgetAbout, this.form, this.result);
    this.element = h("div", {}, this.about, this.list,
      h("p", { class: "buttons" }, h("button", { type: "button", onclick: () => this.save() }, "Save a signed copy")), this.copied, this.budgets);
    this.drawStep();
    this.refresh = throttled(() => this.fetch(), 700);
  }

  async submit() {
    this.show("");
    const budget = this.budget.value === "" ? null : Number(this.budget.value);
    if (budget && budget < this.step) return this.show(`${budget} bytes would be nothing here until the game is over. Enter at least ${exact(this.step)}, or 0 for no limit.`, true);
    try {
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

  /** Save what the house signs, for those who check it with its public key. */
  async save() {
    setText(this.copied, "");
    try {
      const { export: signed } = await this.call("export_egress");
      const url = URL.createObjectURL(new Blob([`${signed}\n`], { type: "text/plain" }));
      h("a", { href: url, download: "data-sent.egress" }).click();
      URL.revokeObjectURL(url);
      setText(this.copied, "Saved as data-sent.egress. It can be checked with the public key of this house.");
    } catch (error) {
      setText(this.copied, error.message);
    }
  }

  drawStep() {
    const rounded = this.step > 1;
    setText(this.about, rounded ? `${ABOUT} This room is sealed: until the game is over, the numbers of others are rounded up to steps of ${exact(this.step)}.` : ABOUT);
    setText(this.budgetAbout, `When a budget is used up, that member gets nothing more. 0 is no limit; leave the field empty for the default of this house.${rounded ? ` Until the game is over, a budget counts in whole steps of ${exact(this.step)}, rounded down.` : ""}`);
  }

  /** `members`: those that can have a budget of their own. `archived`: nothing can be changed. */
  draw(members, archived = false) {
    this.budgets.hidden = archived;
    const drawn = JSON.stringify(members.map(({ handle, kind }) => [handle, kind]));
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.handles = members.map((member) => member.handle);
    this.people = new Set(members.filter((member) => member.kind === "human").map((member) => member.handle));
    this.drawMembers();
    if (this.handles.length === 1) this.member.value ||= this.handles[0];
  }

  /** Those who have left join again only if something is left of their budget. */
  drawMembers() {
    const { value } = this.member;
    const left = this.former.filter(({ member }) => !this.handles.includes(member)).map(({ who, member }) => [who, `${member} (left)`]);
    const choices = [["", "every member"], ...this.handles.map((handle) => [handle, handle]), ...left];
    this.member.replaceChildren(...choices.map(([key, name]) => h("option", { value: key }, escapeInvisible(name))));
    if (choices.some(([key]) => key === value)) this.member.value = value;
  }

  async fetch() {
    try {
      const { members, step = 1 } = await this.call("egress");
      this.step = step;
      this.drawStep();
      const former = members.filter(({ who, budget }) => /^i-/.test(who) && typeof budget === "number");
      if (former.length + this.former.length) {
        this.former = former;
        this.drawMembers();
      }
      this.list.replaceChildren(...members.filter((member) => member.bytes).map((member) => line(member, step, this.people.has(member.member))));
    } catch {
      // Lost, or our own budget is used up: it can still be raised.
    }
  }
}

function line({ member, budget, left, backends }, step, isPerson) {
  return h("li", {}, h("p", { class: "who" }, memberName(member), h("span", { class: "muted" }, ` ${limit(budget, left, step)}`)),
    backends.map(({ backend, outside, bytes, kinds }) => h("p", { class: "disclosure", "data-level": outside ? "leaves" : "stays" },
      `${size(bytes)} to ${typeof outside === "boolean" ? escapeInvisible(backend) : isPerson ? "a person" : "a backend that is not disclosed"}`,
      h("span", { class: "muted" }, ` ${parts(kinds, bytes)}`))));
}

function limit(budget, left, step) {
  if (budget === null || budget === undefined) return "no limit";
  if (!budget) return `gets nothing: the budget is below ${exact(step)}`;
  return `${size(left)} left of ${size(budget)}`;
}

/** What the bytes are. Where each amount is rounded up, together they would be more than the whole. */
function parts(kinds, bytes) {
  const entries = Object.entries(kinds);
  const isRounded = entries.reduce((sum, [, amount]) => sum + amount.bytes, 0) > bytes;
  return entries.map(([kind, amount]) => (isRounded ? kind : `${kind} ${size(amount.bytes)}`)).join(", ");
}

function exact(bytes) {
  return `${bytes.toLocaleString("en")} bytes`;
}

/** A number of bytes in words: "3.4 MB". */
function size(bytes) {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return unit ? `${value.toFixed(1)} ${UNITS[unit]}` : `${value} ${value === 1 ? "byte" : "bytes"}`;
}
