// The parts of a room that act: buttons for actions and seats, and the message form.

import { escapeInvisible, h, setText, withoutHints } from "./dom.js";

const MAX_CHOICES = 60;
const NUMBERED = 9; // choices that have a key
const MAX_MESSAGE = 16_000; // characters; the house refuses longer ones

// -- actions and seats ------------------------------------------------------------------------
export class Choices {
  /** `choose(choice)` resolves to `{message, link}`: a text about the result, and where it leads, if anywhere.
   * `onGone()`: the button that had the focus is not offered any more. */
  constructor(choose, onGone) {
    this.choose = choose;
    this.onGone = onGone;
    this.buttons = new Map();
    this.pending = new Set();
    this.last = Promise.resolve();
    this.title = h("h2", { id: "choices-title" });
    this.group = h("div", { class: "choices", role: "group", "aria-labelledby": "choices-title" });
    this.search = h("input", { type: "search", class: "choices-search", placeholder: "Search", "aria-label": "Search the choices", hidden: true, oninput: () => this.draw(this.title.textContent, this.all) });
    this.more = h("p", { class: "muted", hidden: true });
    this.result = h("p", { class: "result", role: "status" });
    this.offer = h("div", { class: "offer", hidden: true }, this.search, this.group, this.more);
  }

  /** Press the button with this number; the first is 1. */
  async press(number) {
    const choice = this.shown?.[number - 1];
    if (choice) await this.select(choice);
  }

  /** Show these choices, `{label, …}` each. A button that is still offered keeps its place and its focus. */
  draw(title, choices) {
    setText(this.title, title);
    this.all = choices;
    this.search.hidden = choices.length <= MAX_CHOICES;
    const wish = this.search.hidden ? "" : this.search.value.toLowerCase();
    const found = choices.filter(({ label }) => label.toLowerCase().includes(wish));
    const shown = (this.shown = found.slice(0, MAX_CHOICES));
    const wanted = new Map(shown.map((choice) => [JSON.stringify(choice), choice]));
    const hadFocus = this.group.contains(document.activeElement);
    for (const [key, button] of this.buttons) {
      if (wanted.has(key)) continue;
      button.remove();
      this.buttons.delete(key);
    }
    for (const [key, choice] of wanted) {
      if (!this.buttons.has(key)) {
        this.buttons.set(key, h("button", { class: "choice", onclick: () => this.select(choice) }, choice.label));
      }
    }
    const order = [...wanted.keys()].map((key) => this.buttons.get(key));
    if (order.some((button, i) => this.group.children[i] !== button)) this.group.append(...order);
    for (const [i, button] of order.entries()) { // the style sheet shows the key beside the label
      if (i < NUMBERED) button.setAttribute("aria-keyshortcuts", String(i + 1));
      else button.removeAttribute("aria-keyshortcuts");
    }
    this.more.hidden = found.length <= MAX_CHOICES;
    setText(this.more, `${found.length - shown.length} more are not shown.`);
    this.offer.hidden = this.title.hidden = !choices.length;
    if (hadFocus && !this.group.contains(document.activeElement)) {
      this.onGone();
    }
  }

  /** Run a choice after those before it: the next choices may appear before the reply to the last one arrives. */
  async select(choice) {
    const key = JSON.stringify(choice);
    if (this.pending.has(key)) return; // a double click
    this.pending.add(key);
    this.group.setAttribute("aria-busy", "true");
    const before = this.last;
    this.last = (async () => {
      await before;
      if (this.buttons.has(key)) await this.run(choice);
      this.pending.delete(key);
      if (!this.pending.size) this.group.removeAttribute("aria-busy");
    })();
    await this.last;
  }

  /** Run a choice, also one that has no button, such as that of a key. */
  async run(choice) {
    this.show("");
    try {
      const { message, link } = await this.choose(choice);
      this.show(message ?? "", false, link);
    } catch (error) {
      this.show(error.message, true);
    }
  }

  show(text, failed = false, link = null) {
    this.result.classList.toggle("error", failed);
    setText(this.result, text);
    if (link) this.result.append(" ", link);
  }
}

/**
 * The label of an action: "take 2", "walk x 3, y 4". `status`: of the view. It may name what a value stands for:
 * "visit Lirsar" for `{town_id: 2}`, "go at Marbury" for the place of that town.
 */
export function actionLabel({ action, params }, status = {}) {
  const { x, y, ...others } = params ?? {};
  const place = x !== undefined && y !== undefined && nameWhere(status, () => true, (entry) => entry.x === x && entry.y === y);
  const values = Object.entries(place ? others : params ?? {}).filter(([, value]) => value !== null);
  const texts = values.map(([name, value]) => (values.length > 1 ? `${spaced(name.replace(ID, ""))} ` : "") + valueText(name, value, status));
  return [spaced(action), texts.join(", "), place && `at ${place}`].filter(Boolean).join(" ");
}

const ID = /_id$/;

function spaced(name) {
  return name.replaceAll("_", " ");
}

function valueText(name, value, status) {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "on" : "off";
  if (name === "percent") return `${value}%`;
  const plural = `${name.replace(ID, "").replace(/y$/, "ie")}s`;
  const found = ID.test(name) && nameWhere(status, (part) => part.split("_").includes(plural), (entry) => entry.id === value);
  return found || JSON.stringify(value);
}

/** The name of the first entry of a status that passes the tests, as in `towns: {Lirsar: {id: 2}}`. */
function nameWhere(status, testPart, testEntry) {
  for (const [part, entries] of Object.entries(status)) {
    if (!entries || typeof entries !== "object" || Array.isArray(entries) || !testPart(part)) continue;
    const found = Object.entries(entries).find(([, entry]) => entry && typeof entry === "object" && testEntry(entry));
    if (found) return escapeInvisible(found[0]);
  }
  return undefined;
}

// -- messages ---------------------------------------------------------------------------------
export class MessageForm {
  /** `send(to, content)` resolves when the message is on record. */
  constructor(send) {
    this.to = h("select", { id: "message-to" });
    this.content = h("textarea", {
      id: "message-content", rows: "2", maxlength: String(MAX_MESSAGE), required: true, placeholder: "Write a message …",
    });
    this.button = h("button", { class: "primary" }, "Send");
    this.result = h("p", { class: "result", role: "status" });
    this.form = h("form", { class: "message-form" },
      h("div", { class: "message-to" }, h("label", { for: "message-to" }, "To"), this.to),
      h("label", { for: "message-content", class: "visually-hidden" }, "Message"), this.content, this.button);
    this.denied = h("p", { class: "muted", hidden: true });
    this.element = h("div", { class: "message" }, this.form, this.denied, this.result);
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

  draw(me, members, archived = false) {
    const options = [];
    if (me.grant.act.includes("send_broadcast")) options.push(["*", "everybody"]);
    if (me.grant.act.includes("send_message")) {
      if (me.team) options.push([`team:${me.team}`, `team ${me.team}`]);
      options.push(...members.filter((m) => m.handle !== me.handle).map((m) => [m.handle, m.handle]));
    }
    this.denied.hidden = options.length > 0 && !archived;
    this.form.hidden = !this.denied.hidden;
    setText(this.denied, archived ? "Nobody can write in an archived room." : "You don't have permission to send messages in this room.");
    const drawn = JSON.stringify(options);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const selected = this.to.value;
    this.to.replaceChildren(...options.map(([value, label]) => h("option", { value }, label)));
    if (options.some(([value]) => value === selected)) this.to.value = selected;
  }

  async submit(send) {
    const content = this.content.value.trim();
    if (!content || this.button.disabled) return;
    this.button.disabled = true;
    this.result.classList.remove("error");
    setText(this.result, "");
    try {
      await send(this.to.value, content);
      this.content.value = "";
    } catch (error) {
      this.result.classList.add("error");
      setText(this.result, withoutHints(error.message));
    } finally {
      this.button.disabled = false;
    }
  }
}
