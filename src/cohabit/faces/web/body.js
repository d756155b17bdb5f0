// Your body in a world where seats are bodies: the avatars that you have there, entering and leaving them, and the way
// back to the Nexus.

import { escapeInvisible, h, setText } from "./dom.js";

const COMMANDS = {
  respawn: "Come back to life",
  jack_in: "Enter a body",
  jack_out: "Leave the body asleep",
  exit_game: "Return to the Nexus",
  resume_game: "Go to the game",
  leave_game: "Return to the Nexus",
};
const MAIN = ["respawn", "jack_in", "resume_game"]; // what the bar of the room offers, too
const WAITING = ["dormant", "suspended", "unbound"];
const FROM_NEXUS = ["resume_game", "leave_game"]; // only for those who are in a game
const STATES = { bound: "you control it", dormant: "asleep in the world", suspended: "outside the world", destroyed: "dead", unbound: "has no body yet" };

export class Body {
  /** `call(command, args)` changes something in this room; `onChange()` is called afterwards. `linkOf(result)`: a link to the
   * room that a result leads to, or null. */
  constructor(call, onChange, linkOf) {
    this.call = call;
    this.onChange = onChange;
    this.linkOf = linkOf;
    this.list = h("ul", { class: "avatars" });
    this.where = h("p", {}, "");
    this.buttons = Object.entries(COMMANDS).map(([command, label]) =>
      [command, h("button", { onclick: (event) => this.click(command, event.target) }, label)]);
    this.result = h("p", { class: "result", role: "status" });
    this.offer = h("div", { class: "offer", hidden: true }, this.where, this.list,
      h("div", { class: "body-buttons" }, this.buttons.map(([, button]) => button)));
    this.element = h("div", { class: "body" }, this.offer, this.result);
    this.offered = []; // the commands that are shown
  }

  /** What one most likely wants to do now: the command and the label of each. */
  get main() {
    return MAIN.filter((command) => this.offered.includes(command)).map((command) => [command, COMMANDS[command]]);
  }

  /** `commands`: what is offered to us now. `avatars`: ours in this world, or null. `game`: where we are, seen from the Nexus. */
  draw(commands, avatars, game) {
    this.offered = Object.keys(COMMANDS).filter((command) => commands.includes(command) && (!FROM_NEXUS.includes(command) || game));
    for (const [command, button] of this.buttons) {
      button.hidden = !this.offered.includes(command);
    }
    setText(this.where, game ? `You are in the game ${escapeInvisible(game)}.` : "");
    this.where.hidden = !game;
    const waiting = (avatars ?? []).filter(isWaiting).length;
    const choose = commands.includes("transfer") ? "transfer" : commands.includes("jack_in") && waiting > 1 ? "jack_in" : null;
    const drawn = JSON.stringify([avatars, choose]);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.list.replaceChildren(...(avatars ?? []).map((avatar) => this.line(avatar, choose)));
    }
    this.offer.hidden = !this.offered.length;
  }

  /** An avatar, with a button to control it if it waits. `choose`: the command for that, or null. */
  line(avatar, choose) {
    const line = avatarLine(avatar);
    if (choose && isWaiting(avatar)) {
      const { avatar_id } = avatar;
      line.append(" ", h("button", { onclick: (event) => this.click(choose, event.target, { avatar_id }) }, "Control this one"));
    }
    return line;
  }

  /** A call, by a button here. The way to a game is taken at once. */
  async click(command, button, args = {}) {
    button.disabled = true;
    try {
      const { message, link } = await this.run(command, args);
      this.show(message ?? "");
      if (link) this.result.append(" ", link);
    } catch (error) {
      this.show(error.message, true);
    } finally {
      button.disabled = false;
    }
  }

  async run(command, args = {}) {
    const result = await this.call(command, args);
    const link = this.linkOf(result);
    if (link && command === "resume_game") link.click();
    else this.onChange();
    return { message: result.message, link };
  }

  show(text, failed = false) {
    this.result.classList.toggle("error", failed);
    setText(this.result, text);
  }
}

function isWaiting({ state = "unbound" }) {
  return WAITING.includes(state);
}

function avatarLine({ name, avatar_id, state = "unbound", health, max_health }) {
  const alive = state !== "destroyed" && state !== "unbound" && health !== undefined;
  const facts = [STATES[state] ?? state, alive && `health ${Math.round(health)}${max_health !== undefined ? ` of ${Math.round(max_health)}` : ""}`];
  return h("li", {}, escapeInvisible(name || avatar_id), h("span", { class: "muted" }, ` ${facts.filter(Boolean).join(", ")}`));
}
