// For members who manage a room: what every agent has disclosed, and a chip for each capability of each member.

import { confirmButton } from "./confirm.js";
import { dateTime, escapeInvisible, h, memberName, setText, throttled } from "./dom.js";

/** Capabilities as something that a member may do, in the order of the house. */
export const CAPABILITY_NAMES = {
  watch: "See what is public", read_own: "See what its seat sees", read_all: "See everything", read_roster: "See the members",
  read_chat: "Read the chat", receive_directed: "Get private messages", see_screen: "See pictures", hear_audio: "Hear voices",
  read_media: "Get images", read_files: "Get files",
  act: "Play a seat", act_global: "Act anywhere", advance_time: "Control the time", control_world: "Reset and archive",
  send_message: "Write to members", send_broadcast: "Write to everybody", speak: "Speak", publish: "Publish app views",
  manage_members: "Manage members",
};
const PERCEIVE = ["watch", "read_own", "read_all", "read_roster", "read_chat", "receive_directed", "see_screen", "hear_audio", "read_media", "read_files"];
const ACT = Object.keys(CAPABILITY_NAMES).filter((name) => !PERCEIVE.includes(name));
const COOLDOWNS = [[0, "none"], [1_000, "1 second"], [5_000, "5 seconds"], [15_000, "15 seconds"], [60_000, "1 minute"]];

export class Consent {
  /** `call(command, args)` is a call in this room. `onChange()`: a permission has changed. */
  constructor(call, onChange) {
    this.call = call;
    this.onChange = onChange;
    this.rows = new Map(); // by kind and handle, so that a row keeps its focus
    this.disclosure = h("input", { type: "checkbox", role: "switch", onchange: () => this.run("require_disclosure", { required: this.disclosure.checked }) });
    this.apart = h("input", { type: "checkbox", role: "switch", onchange: () => this.run("set_chat_limits", { agents_apart: this.apart.checked }) });
    this.cooldown = h("select", { onchange: () => this.run("set_chat_limits", { cooldown_ms: Number(this.cooldown.value) }) });
    this.agents = h("ul", { class: "consent" });
    this.people = h("ul", { class: "consent" });
    this.bots = h("ul", { class: "consent" });
    this.botsTitle = h("summary");
    this.botsPart = h("details", {}, this.botsTitle, this.bots);
    this.noAgents = h("p", { class: "muted" }, "There are no agents in this room that are not built in.");
    this.peopleTitle = h("summary");
    this.result = h("p", { class: "result error", role: "status" });
    this.element = h("div", { class: "consent-panel" },
      h("section", { "aria-label": "Agents" }, h("h3", {}, "Agents"), this.noAgents, this.agents),
      this.botsPart, h("details", {}, this.peopleTitle, this.people),
      h("section", { class: "policies", "aria-label": "Rules for agents" }, h("h3", {}, "Rules for agents"),
        h("label", { class: "switch" }, h("span", {}, h("strong", {}, "Disclosure"), h("span", { class: "muted" }, "Agents that have not said which model they use see nothing.")), this.disclosure),
        h("label", { class: "switch" }, h("span", {}, h("strong", {}, "Separate agents"), h("span", { class: "muted" }, "Agents do not receive each other's messages.")), this.apart),
        h("label", { class: "switch" }, h("span", {}, h("strong", {}, "Cooldown"), h("span", { class: "muted" }, "The minimum time between two messages of an agent to everyone.")), this.cooldown)),
      this.result);
    this.refresh = throttled(() => this.fetch(), 400);
  }

  async fetch() {
    try {
      this.draw(await this.call("permissions"));
    } catch {
      // Lost, or no longer permitted: the next draw decides.
    }
  }

  /** `reply`: of the command permissions. */
  draw({ members, disclosure_required, chat_limits, grantable }) {
    this.grantable = grantable;
    this.disclosure.checked = disclosure_required;
    this.apart.checked = chat_limits.agents_apart;
    this.drawCooldown(chat_limits.cooldown_ms);
    const isBuiltIn = (member) => member.kind === "agent" && member.built_in;
    const bots = members.filter(isBuiltIn);
    const agents = members.filter((member) => member.kind === "agent" && !isBuiltIn(member));
    const people = members.filter((member) => member.kind !== "agent");
    this.noAgents.hidden = agents.length > 0;
    setText(this.peopleTitle, `People (${people.length})`);
    setText(this.botsTitle, `Built-in players (${bots.length})`);
    this.botsPart.hidden = !bots.length;
    const wanted = new Set(members.map((member) => member.member));
    for (const [handle, row] of this.rows) {
      if (wanted.has(handle)) continue;
      row.element.remove();
      this.rows.delete(handle);
    }
    this.drawRows(this.agents, agents);
    this.drawRows(this.bots, bots);
    this.drawRows(this.people, people);
  }

  drawRows(list, members) {
    members.forEach((member, i) => {
      if (!this.rows.has(member.member)) this.rows.set(member.member, new MemberRow(member.member, (command, args) => this.send(command, args)));
      const row = this.rows.get(member.member);
      row.draw(member, this.grantable, member.member === this.me);
      if (list.children[i] !== row.element) list.insertBefore(row.element, list.children[i] ?? null);
    });
  }

  drawCooldown(ms) {
    const options = COOLDOWNS.some(([value]) => value === ms) ? COOLDOWNS : [...COOLDOWNS, [ms, `${ms / 1000} seconds`]];
    this.cooldown.replaceChildren(...options.map(([value, label]) => h("option", { value }, label)));
    this.cooldown.value = String(ms);
  }

  /** A change by a row: rejects if the house refuses it. */
  async send(command, args) {
    try {
      return await this.call(command, args);
    } finally {
      this.refresh();
      this.onChange();
    }
  }

  async run(command, args) {
    setText(this.result, "");
    try {
      await this.send(command, args);
    } catch (error) {
      setText(this.result, error.message);
    }
  }
}

class MemberRow {
  constructor(handle, send) {
    this.handle = handle;
    this.send = send;
    const name = escapeInvisible(handle);
    this.facts = h("span", { class: "muted" });
    this.disclosed = h("p", { class: "disclosure" });
    this.notes = h("p", { class: "muted" });
    this.chips = new Map();
    const group = (label, names) => h("div", { class: "chips", role: "group", "aria-label": `${name} ${label}` },
      h("span", { class: "muted" }, label), h("span", {}, names.map((capability) => this.chip(capability))));
    this.reset = h("button", { type: "button", class: "quiet", onclick: () => this.run("clear_grant") }, "Back to the default");
    this.result = h("p", { class: "result error", role: "status" });
    this.element = h("li", { "data-handle": handle },
      h("p", { class: "who" }, memberName(handle), this.facts), this.disclosed,
      group("may see", PERCEIVE), group("may do", ACT), this.notes,
      h("p", { class: "buttons" },
        this.revoke = h("button", { type: "button", class: "quiet", "aria-label": `Revoke all permissions of ${name}`, onclick: () => this.run("revoke") }, "Revoke all"),
        this.reset,
        this.removing = [confirmButton("Remove", `Remove ${name} from the room?`, "Remove", () => this.run("remove_member"), { class: "quiet", "aria-label": `Remove ${name}` }),
        confirmButton("Block", `Remove ${name} and keep them out?`, "Remove and block", () => this.run("remove_member", { block: true }), { class: "quiet", "aria-label": `Block ${name}` })]),
      this.result);
  }

  chip(capability) {
    const chip = h("button", { type: "button", class: "chip", "aria-pressed": "false", onclick: () => this.toggle(capability) }, CAPABILITY_NAMES[capability]);
    this.chips.set(capability, chip);
    return chip;
  }

  toggle(capability) {
    const held = this.chips.get(capability).getAttribute("aria-pressed") === "true";
    return this.run(held ? "narrow" : "widen", { may: [capability] });
  }

  async run(command, args = {}) {
    setText(this.result, "");
    try {
      await this.send(command, { member: this.handle, ...args });
    } catch (error) {
      setText(this.result, error.message);
    }
  }

  /** `line`: of the reply of permissions. `grantable`: the capabilities that we may grant. `isMine`: it is our own row. */
  draw(line, grantable, isMine) {
    const drawn = JSON.stringify([line, grantable, isMine]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    for (const button of [this.revoke, ...this.removing]) button.hidden = isMine; // we can leave
    const facts = [line.name && line.name !== line.member && escapeInvisible(line.name), line.role, line.seat && `seat ${line.seat}`];
    setText(this.facts, ` ${facts.filter(Boolean).join(" · ")}`);
    this.disclosed.hidden = line.kind !== "agent";
    setText(this.disclosed, disclosureText(line));
    this.disclosed.dataset.level = line.egress ? "leaves" : line.disclosed || line.built_in ? "stays" : "unknown";
    for (const [capability, chip] of this.chips) {
      const held = line.held.includes(capability);
      chip.disabled = isMine ? !held || capability === "manage_members" : !held && !grantable.includes(capability);
      chip.title = !chip.disabled ? "" : held ? "You cannot take this from yourself. Ask another host." : "You do not have this permission, so you cannot grant it.";
      chip.setAttribute("aria-pressed", String(held));
      chip.classList.toggle("changed", held !== line.by_role.includes(capability));
    }
    const notes = [line.through && `Sees what seat ${line.through} sees.`, line.ends_at && `Some permissions end ${dateTime(line.ends_at)}.`];
    setText(this.notes, notes.filter(Boolean).join(" "));
    this.notes.hidden = !this.notes.textContent;
    this.reset.disabled = !line.changed;
  }
}

function disclosureText({ backend, egress, disclosed, built_in, withheld }) {
  if (backend) return `Uses ${escapeInvisible(backend)}. It sends what it sees outside this house.`;
  if (egress) return "Has not named its model. It sends what it sees outside this house.";
  if (disclosed) return "Says that it keeps what it sees inside this house.";
  if (built_in) return "A built-in player of this house.";
  return `Has not said which model it uses, or whether it sends what it sees outside this house.${withheld ? " Until it does, it sees nothing." : ""}`;
}
