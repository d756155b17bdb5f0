// The audit: refused calls, and changes of permissions, members, invites and tokens, newest first.

import { escapeInvisible, h, memberName, throttled, timestamp, withoutHints } from "./dom.js";

const SHOWN = 100;
const NEWCOMER = "(newcomer)";
const KINDS = { refusals: "refused calls", changes: "permissions and policies", admissions: "members", invites: "invites", tokens: "tokens", egress: "data sent outside" };

export class AuditFeed {
  /** `call(command, args)` is a call in this room. */
  constructor(call) {
    this.call = call;
    this.kind = h("select", { id: "audit-kind", onchange: () => this.fetch() }, h("option", { value: "" }, "everything"),
      ...Object.entries(KINDS).map(([kind, words]) => h("option", { value: kind }, words)));
    this.filter = h("select", { id: "audit-member", onchange: () => this.fetch() });
    this.members = [];
    this.former = new Set(); // members in the lines that were shown
    this.kindField = h("p", { class: "field" }, h("label", { for: "audit-kind" }, "Show"), this.kind);
    this.field = h("p", { class: "field", hidden: true }, h("label", { for: "audit-member" }, "Member"), this.filter);
    this.about = h("p", { class: "muted" });
    this.empty = h("p", { class: "muted" }, "Nothing yet.");
    this.list = h("ol", { class: "audit", tabindex: "0", "aria-label": "Audit" });
    this.element = h("div", { class: "audit-panel" }, this.about, this.kindField, this.field, this.empty, this.list);
    this.refresh = throttled(() => this.fetch(), 700);
  }

  draw(me, session) {
    this.isHost = me.grant.act.includes("manage_members");
    this.field.hidden = !this.isHost;
    this.about.textContent = this.isHost
      ? "Refused calls, and changes of permissions, members, invites and tokens."
      : "Your refused calls, and changes that concern you.";
    this.members = (session?.members ?? []).map((m) => m.handle);
    this.drawFilter();
  }

  /** Members, those who have left as far as the lines name them, and newcomers. */
  drawFilter() {
    const handles = [...new Set([...this.members, ...[...this.former].sort(), NEWCOMER])];
    const drawn = JSON.stringify(handles);
    if (drawn === this.drawnHandles) return;
    this.drawnHandles = drawn;
    const selected = this.filter.value;
    this.filter.replaceChildren(h("option", { value: "" }, "everybody"), ...handles.map((handle) => h("option", { value: handle }, this.nameOf(handle))));
    this.filter.value = handles.includes(selected) ? selected : "";
  }

  nameOf(handle) {
    if (handle === NEWCOMER) return "newcomers";
    return escapeInvisible(handle) + (this.members.includes(handle) ? "" : " (left)");
  }

  async fetch() {
    const args = { max: SHOWN, ...(this.isHost && this.filter.value && { member: this.filter.value }), ...(this.kind.value && { kinds: [this.kind.value] }) };
    try {
      this.drawList((await this.call("audit", args)).lines);
    } catch (error) {
      if (error.code !== "LOST") this.drawList([]);
    }
  }

  drawList(lines) {
    const drawn = JSON.stringify(lines);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    for (const { member } of lines) if (member) this.former.add(member);
    this.drawFilter();
    this.empty.hidden = lines.length > 0;
    this.list.hidden = !lines.length;
    this.list.replaceChildren(...lines.map((line) => h("li", { "data-kind": line.what }, timestamp(line.at), ...(line.kind === "refusals" ? refusal(line) : change(line)))));
  }
}

function refusal({ member, command, code, text, count = 1 }) {
  const times = count > 1 ? ` (${count} times)` : "";
  return [h("span", { class: "badge" }, "refused"), h("p", {}, memberName(member), ` called ${escapeInvisible(command)}${times}: `, h("span", { title: code }, escapeInvisible(text)))];
}

function change({ what, text }) {
  return [h("span", { class: "badge soft" }, what), h("p", {}, escapeInvisible(withoutHints(text)))];
}
