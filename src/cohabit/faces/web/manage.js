// How a room is managed: panels for invites, entry, permissions, moderation, data sent and audit, and a bar to lock it, for its
// turn timer, for a rematch, and to archive it. A member sees the parts that it may use.

import { AuditFeed } from "./audit.js";
import { confirmButton } from "./confirm.js";
import { Consent } from "./consent.js";
import { h, setText, throttled } from "./dom.js";
import { Egress } from "./egress.js";
import { Entry } from "./entry.js";
import { Invites } from "./invites.js";
import { Moderation } from "./moderation.js";
import { Requests } from "./requests.js";
import { TurnTimer } from "./turn_timer.js";

/** What can be used in an archived room. */
const WHEN_ARCHIVED = ["audit", "egress", "export_egress", "reports", "unarchive"];
/** Kinds of events after which something here may have changed. */
const RELEVANT = ["roster", "account"];

export class Manage {
  /** `connection`: of this page. `onChange()`: called after a change. `onCommands()`: what we may use may have changed.
   * `drawers`: the panels of the room. */
  constructor(connection, room, drawers, onChange, onCommands) {
    const call = (command, args = {}) => connection.call(command, args, room);
    const change = (command, args = {}) => connection.callOnce(command, args, room);
    this.call = call;
    this.change = change;
    this.drawers = drawers;
    this.onChange = onChange;
    this.onCommands = onCommands;
    this.commands = [];
    this.commandsFor = null; // the grant that they were fetched for
    this.requests = new Requests((command, args) => (command === "requests" || command === "lobby" ? call : change)(command, args), () => this.changed());
    this.egress = new Egress((command, args) => (command === "set_egress_budget" ? change : call)(command, args), () => this.changed());
    this.moderation = new Moderation((command, args) => (["permissions", "reports"].includes(command) ? call : change)(command, args), (count) => {
      this.drawers.name("moderation", "Moderation", count);
    });
    this.parts = [
      { id: "invite", title: "Invite", needs: "invite", panel: new Invites(call, room) },
      { id: "entry", title: "Entry", needs: "set_entry", panel: new Entry(call, room, () => this.changed()) },
      { id: "permissions", title: "Permissions", needs: "permissions", panel: this.consent = new Consent((command, args) => (command === "permissions" ? call : change)(command, args), () => this.changed()) },
      { id: "moderation", title: "Moderation", needs: "mute", reads: "reports", panel: this.moderation },
      { id: "egress", title: "Data sent", needs: "set_egress_budget", reads: "export_egress", panel: this.egress },
      { id: "audit", title: "Audit", needs: "audit", panel: new AuditFeed(call) },
    ];
    this.audit = this.parts.at(-1).panel;
    this.result = h("p", { class: "result", role: "status" });
    this.layout();
    this.refresh = throttled(() => this.fetch(), 800);
  }

  layout() {
    for (const part of this.parts) part.isOffered = () => this.usable.includes(part.needs) || this.usable.includes(part.reads);
    this.lock = h("button", { type: "button", "aria-pressed": "false", hidden: true, onclick: () => this.setLocked() }, "Lock");
    this.timer = new TurnTimer((seconds) => this.run("set_turn_timer", seconds ? "The running turn starts again." : "Turns have no time limit now.", seconds ? { seconds } : {}));
    this.rematchShown = false;
    this.rematch = confirmButton("Rematch", "End this game and start a new one?", "Start a rematch", () => this.startRematch());
    this.archive = confirmButton("Archive", "Archive this room? Visits end. It stays readable, and you can bring it back.", "Archive it", () => this.run("archive", "")); // the world says that it is archived
    this.unarchive = h("button", { type: "button", hidden: true, onclick: () => this.run("unarchive", "This room is back.") }, "Bring back");
    this.bar = h("div", { class: "manage-bar", role: "group", "aria-label": "Manage this room", hidden: true },
      this.lock, this.timer.element, this.rematch, this.archive, this.unarchive);
  }

  addPanels() {
    for (const { id, title, panel, isOffered } of this.parts) {
      this.drawers.add({ id, title, element: panel.element, shown: isOffered, onOpen: () => panel.refresh() });
    }
  }

  /** `me`: the reply of whoami. `session`: the reply of session_info; null: not known yet. */
  draw(me, session) {
    const grant = JSON.stringify([me.grant, me.seat]);
    this.me = me;
    this.session = session;
    if (grant !== this.grant) {
      this.grant = grant;
      this.refresh();
    }
    this.drawParts();
  }

  /** The commands that are offered here. An archived room is for reading. */
  get usable() {
    return this.session?.archived ? this.commands.filter((name) => WHEN_ARCHIVED.includes(name)) : this.commands;
  }

  drawParts() {
    const may = (name) => this.usable.includes(name);
    this.drawers.draw();
    this.lock.hidden = !may("set_entry");
    this.timer.draw(may("set_turn_timer") && this.session?.is_played !== false, this.session?.turn_seconds);
    this.archive.hidden = !may("archive") || may("unarchive");
    this.unarchive.hidden = !may("unarchive");
    if (this.me) this.requests.draw(this.me, this.session, this.usable);
    if (this.me) this.audit.draw(this.me, this.session);
    this.consent.me = this.me?.handle;
    this.egress.draw(this.session?.members ?? this.usedUp ?? [], this.session?.archived);
    this.moderation.drawArchived(Boolean(this.session?.archived));
    this.drawRematch();
    this.onCommands();
  }

  /** `shown`: a rematch is offered beside the result of the game. */
  drawRematch(shown = this.rematchShown) {
    this.rematchShown = shown;
    this.rematch.hidden = !this.mayRematch || shown;
    this.bar.hidden = [...this.bar.children].every((child) => child.hidden);
  }

  /** Rooms without a game have none. */
  get mayRematch() {
    return this.usable.includes("rematch") && this.session?.is_played !== false;
  }

  /** Events of the room: something that is shown here may have changed. */
  onEvents(items) {
    if (items.some((item) => RELEVANT.includes(item.kind))) this.refresh();
  }

  changed() {
    this.commandsFor = null; // what may be done now can be something else, as in an archived room
    this.refresh();
    this.onChange();
  }

  async fetch() {
    if (!this.me) return;
    try {
      if (this.commandsFor !== this.grant) await this.fetchCommands();
      if (this.commands.includes("entry")) this.drawLock((await this.call("entry")).locked);
    } catch {
      return; // lost; the room tries again
    }
    this.drawParts();
    this.requests.refresh();
    for (const part of this.parts) if (this.drawers.isOpen(part.id) || (part.panel === this.moderation && part.isOffered())) part.panel.refresh();
  }

  /** Nothing more is sent to us, so nothing can be asked. `host`: our handle, if we can raise the budget. */
  onUsedUp(host) {
    this.usedUp = host ? [{ handle: host }] : [];
    this.commands = ["leave", ...(host ? ["set_egress_budget"] : [])];
    this.commandsFor = null;
    this.drawParts();
  }

  async fetchCommands() {
    const { grant } = this;
    this.commands = (await this.call("capabilities")).commands.map((command) => command.name);
    this.commandsFor = grant;
  }

  /** Show the buttons that the grant allows, so that they do not appear later and move the world. */
  async prepare() {
    if (this.commandsFor !== this.grant) await this.fetchCommands();
    this.drawParts();
  }

  /** True if we may use a command. Asking first keeps refusals out of the audit. */
  async may(command) {
    if (this.commandsFor !== this.grant) await this.fetchCommands();
    return this.commands.includes(command);
  }

  drawLock(locked) {
    this.lock.setAttribute("aria-pressed", String(locked));
    setText(this.lock, locked ? "Locked" : "Lock");
  }

  async setLocked() {
    const locked = this.lock.getAttribute("aria-pressed") !== "true";
    await this.run("set_entry", locked ? "The room is locked: no newcomers can join." : "The room is unlocked.", { locked });
  }

  startRematch() {
    return this.run("rematch", "A new game has begun.");
  }

  async run(command, done, args = {}) {
    this.result.classList.remove("error");
    setText(this.result, "");
    try {
      await this.change(command, args);
      setText(this.result, done);
    } catch (error) {
      this.result.classList.add("error");
      setText(this.result, error.message);
    }
    this.changed();
  }
}
