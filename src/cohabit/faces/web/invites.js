// For members who manage a room: links for people who watch, for people and for agents, and the list of invites.

import { dateTime, escapeInvisible, h, setText, throttled } from "./dom.js";
import { LinkBox, SPECTATOR, agentText, handleFor, inviteSpectators, linkTo } from "./share.js";
import { WatchLink } from "./watch_link.js";

const HOUR = 3_600;
const EXPIRIES = [[HOUR, "1 hour"], [24 * HOUR, "1 day"], [7 * 24 * HOUR, "1 week"], ["", "never"]];
const USES = [[1, "one"], [5, "5"], [20, "20"], [100, "100"]];
const PERMISSIONS = {
  human: [["human", "play and chat"], ["watch", "watch only"]],
  agent: [["", "watch only"], ["chat", "watch and chat"], ["player", "play and write to members"]],
};
const AGENT_CHATS = ["watch", "read_roster", "read_chat", "receive_directed", "send_message", "send_broadcast"];
const SHOWN_ONCE = "Copy this link now; it is not shown again.";

export class Invites {
  /** `call(command, args)` is a call in this room. */
  constructor(call, room) {
    this.call = call;
    this.room = room;
    this.watchLink = new WatchLink(call, room, (button, work) => this.run(button, work));
    this.spectators = new LinkBox("Link for spectators");
    this.spectatorsButton = h("button", { type: "button", class: "primary", onclick: () => this.createForSpectators() }, "Create a link for spectators");
    this.made = new LinkBox("Invite link");
    this.agentText = h("div");
    this.form = this.inviteForm();
    this.result = h("p", { class: "result error", role: "status" });
    this.list = h("ul", { class: "invites" });
    this.empty = h("p", { class: "muted" }, "There are no open invites.");
    this.element = h("div", { class: "invite-panel" }, this.watchLink.element,
      h("section", { "aria-label": "Spectators" }, h("h3", {}, "People who only watch"),
        h("p", { class: "muted" }, "Anyone who has this link can watch under a name of their own. They cannot play or write."),
        this.spectatorsButton, this.spectators.element),
      h("section", { "aria-label": "Players" }, h("h3", {}, "Invite a person or an agent"), this.form, this.made.element, this.agentText),
      this.result,
      h("section", { "aria-label": "Open invites" }, h("h3", {}, "Open invites"), this.empty, this.list));
    this.refresh = throttled(() => this.fetch(), 700);
  }

  inviteForm() {
    const select = (id, options) => h("select", { id }, options.map(([value, label]) => h("option", { value }, label)));
    this.handle = h("input", { id: "invite-handle", required: true, maxlength: "64", autocomplete: "off", spellcheck: "false" });
    this.expires = select("invite-expires", EXPIRIES);
    this.expires.value = String(24 * HOUR);
    this.uses = select("invite-uses", USES);
    this.permissions = h("select", { id: "invite-permissions" });
    this.kinds = Object.entries({ human: "A person", agent: "An agent" }).map(([kind, label]) =>
      h("button", { type: "button", class: "segment", "data-kind": kind, onclick: () => this.setKind(kind) }, label));
    this.button = h("button", { class: "primary" });
    const field = (id, label, input) => h("p", { class: "field" }, h("label", { for: id }, label), input);
    const form = h("form", { class: "invite-form" },
      h("div", { class: "segments", role: "group", "aria-label": "Invite" }, this.kinds),
      field("invite-handle", "Name", this.handle), field("invite-permissions", "May", this.permissions),
      field("invite-expires", "Expires after", this.expires), field("invite-uses", "Can be accepted by", this.uses), this.button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.create();
    });
    this.setKind("human");
    return form;
  }

  setKind(kind) {
    this.kind = kind;
    for (const button of this.kinds) button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
    this.permissions.replaceChildren(...PERMISSIONS[kind].map(([value, label]) => h("option", { value }, label)));
    setText(this.button, kind === "human" ? "Invite a person" : "Invite an agent");
  }

  async createForSpectators() {
    await this.run(this.spectatorsButton, async () => {
      const { code: token, link } = await inviteSpectators((command, args) => this.call(command, args));
      this.spectators.show(linkTo(this.room, token, link), SHOWN_ONCE);
      setText(this.spectatorsButton, "Create another link for spectators");
      this.spectatorsButton.classList.remove("primary");
      this.spectators.field.focus();
    });
  }

  async create() {
    await this.run(this.button, async () => {
      const chosen = this.permissions.value;
      const permissions = chosen === "watch" ? { may: SPECTATOR } : chosen === "chat" ? { may: AGENT_CHATS } : { role: chosen || undefined };
      const name = this.handle.value.trim();
      const args = {
        id: handleFor(name), name, kind: this.kind, ...permissions,
        uses: Number(this.uses.value), expires_in_s: Number(this.expires.value) || undefined,
      };
      const { code: token, link } = await this.call("invite", args);
      const address = linkTo(this.room, token, link);
      this.made.wantsQr = this.kind === "human"; // an agent has no camera
      this.made.show(address, `${SHOWN_ONCE} Anyone who has it can enter the room as ${escapeInvisible(args.id)}.`);
      this.agentText.replaceChildren(...(this.kind === "agent" ? [agentText(this.room, token, address, true)] : []));
      this.handle.value = "";
      this.made.field.focus();
    });
  }

  async revoke(invite) {
    await this.run(null, () => this.call("revoke_invite", { invite }));
  }

  async run(button, work) {
    if (button?.disabled) return;
    if (button) button.disabled = true;
    setText(this.result, "");
    try {
      await work();
      await this.refresh();
    } catch (error) {
      setText(this.result, error.message);
    } finally {
      if (button) button.disabled = false;
    }
  }

  async fetch() {
    try {
      const { invites } = await this.call("invites");
      this.watchLink.draw(invites.some(({ watches }) => watches));
      this.drawList(invites);
    } catch {
      // Lost, or no longer permitted: the next draw decides.
    }
  }

  drawList(invites) {
    const drawn = JSON.stringify(invites);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.empty.hidden = invites.length > 0;
    this.list.replaceChildren(...invites.map((invite) => this.line(invite)));
  }

  line({ invite, member, kind, may, role, uses, expires_at, members = [] }) {
    const name = escapeInvisible(member);
    const details = [
      kind === "agent" ? "agent" : "person", permissionsText(may, role),
      uses ? `${uses} ${uses === 1 ? "use" : "uses"} left` : "used", expires_at && `expires ${dateTime(expires_at)}`,
      members.length && `accepted by ${members.map(escapeInvisible).join(", ")}`,
    ];
    const label = members.length ? `Revoke the invite for ${name} and remove ${members.length}` : `Revoke the invite for ${name}`;
    return h("li", {},
      h("span", {}, name, h("span", { class: "muted" }, ` ${details.filter(Boolean).join(" · ")}`)),
      h("button", { type: "button", class: "quiet", "aria-label": label, onclick: () => this.revoke(invite) }, members.length ? "Revoke and remove" : "Revoke"));
  }
}

function permissionsText(may, role) {
  if (!may) return role === "agent" ? "watch only" : role;
  if (String([...may].sort()) === String([...AGENT_CHATS].sort())) return "watch and chat";
  return may.every((capability) => SPECTATOR.includes(capability)) ? "watch only" : `${may.length} permissions`;
}
