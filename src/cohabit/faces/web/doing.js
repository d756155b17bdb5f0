// The parts of a room where somebody does something: choices when it is their turn, seats, messages.

import { card, h, say } from "./dom.js";

const MOST_CHOICES = 60;

// -- moves ------------------------------------------------------------------------------------
export class Moves {
  /** `act(choice)` does it and resolves to what came of it. */
  constructor(act) {
    this.act = act;
    this.buttons = new Map();
    this.label = h("h2", { id: "moves-label", tabindex: "-1" }, "Your move");
    this.group = h("div", { class: "choices", role: "group", "aria-labelledby": "moves-label" });
    this.more = h("p", { class: "muted", hidden: true });
    this.asking = h("div", { class: "moves", hidden: true }, this.label, this.group, this.more);
    this.outcome = h("p", { class: "outcome", role: "status" });
    this.element = h("div", {}, this.asking, this.outcome);
  }

  /** Show these choices: `{label, …}` each. A button that stays keeps its place and its focus. */
  draw(title, choices) {
    say(this.label, title);
    const shown = choices.slice(0, MOST_CHOICES);
    const wanted = new Map(shown.map((choice) => [JSON.stringify(choice), choice]));
    const focused = this.group.contains(document.activeElement);
    for (const [key, button] of this.buttons) {
      if (wanted.has(key)) continue;
      button.remove();
      this.buttons.delete(key);
    }
    for (const [key, choice] of wanted) {
      if (!this.buttons.has(key)) {
        this.buttons.set(key, h("button", { class: "choice", onclick: () => this.pick(choice) }, choice.label));
      }
    }
    const order = [...wanted.keys()].map((key) => this.buttons.get(key));
    if (order.some((button, i) => this.group.children[i] !== button)) this.group.append(...order);
    this.more.hidden = choices.length <= MOST_CHOICES;
    say(this.more, `… and ${choices.length - shown.length} more, by their commands`);
    this.asking.hidden = !shown.length;
    if (focused && !this.group.contains(document.activeElement)) this.outcome.closest(".card").querySelector(".turn")?.focus();
  }

  async pick(choice) {
    if (this.busy) return;
    this.busy = true;
    this.group.setAttribute("aria-busy", "true");
    this.tell("");
    try {
      this.tell((await this.act(choice)) ?? "");
    } catch (error) {
      this.tell(error.message, true);
    } finally {
      this.busy = false;
      this.group.removeAttribute("aria-busy");
    }
  }

  tell(text, wrong = false) {
    this.outcome.classList.toggle("error", wrong);
    say(this.outcome, text);
  }
}

/** What is on the button of an action: "take 2", "walk x 3, y 4". */
export function actionLabel({ action, params }) {
  const values = Object.entries(params ?? {});
  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const rest = values.length === 1 ? shown(values[0][1]) : values.map(([name, value]) => `${name} ${shown(value)}`).join(", ");
  return `${action.replaceAll("_", " ")} ${rest}`.trim();
}

// -- messages ---------------------------------------------------------------------------------
export class Talk {
  /** `send(to, content)` resolves when it is delivered. */
  constructor(send) {
    this.to = h("select", { id: "talk-to" });
    this.content = h("textarea", {
      id: "talk-content", rows: "2", maxlength: "16000", required: true, placeholder: "Say something …",
    });
    this.button = h("button", { class: "primary" }, "Send");
    this.state = h("p", { class: "outcome", role: "status" });
    this.form = h("form", { class: "talk-form" },
      h("div", { class: "talk-to" }, h("label", { for: "talk-to" }, "To"), this.to),
      h("label", { for: "talk-content", class: "unseen" }, "Message"), this.content, this.button);
    this.none = h("p", { class: "muted", hidden: true }, "Your grant does not let you write here.");
    this.element = card("Message", "talk", this.form, this.none, this.state);
    this.content.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit(send);
    });
  }

  draw(me, members) {
    const may = (what) => me.grant.act.includes(what);
    const options = [];
    if (may("send_broadcast")) options.push(["*", "everybody"]);
    if (may("send_message")) {
      if (me.team) options.push([`team:${me.team}`, `team ${me.team}`]);
      options.push(...members.filter((m) => m.handle !== me.handle).map((m) => [m.handle, m.handle]));
    }
    this.form.hidden = !options.length;
    this.none.hidden = options.length > 0;
    const drawn = JSON.stringify(options);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const chosen = this.to.value;
    this.to.replaceChildren(...options.map(([value, label]) => h("option", { value }, label)));
    if (options.some(([value]) => value === chosen)) this.to.value = chosen;
  }

  async submit(send) {
    const content = this.content.value.trim();
    if (!content || this.button.disabled) return;
    this.button.disabled = true;
    this.state.classList.remove("error");
    say(this.state, "");
    try {
      await send(this.to.value, content);
      this.content.value = "";
    } catch (error) {
      this.state.classList.add("error");
      say(this.state, error.message);
    } finally {
      this.button.disabled = false;
    }
  }
}
