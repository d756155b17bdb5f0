// For members who manage a room: reports of abuse, muted members, slow mode and blocked words.

import { dateTime, escapeInvisible, h, memberName, setText, throttled, timestamp } from "./dom.js";

const MINUTE = 60;
const DURATIONS = [[MINUTE, "1 minute"], [10 * MINUTE, "10 minutes"], [60 * MINUTE, "1 hour"], [24 * 60 * MINUTE, "1 day"], ["", "until you unmute them"]];
const SLOW = [[0, "off"], [5, "5 seconds"], [15, "15 seconds"], [60, "1 minute"], [300, "5 minutes"]];

export class Moderation {
  /** `call(command, args)` is a call in this room. `onReports(count)`: how many reports are open. */
  constructor(call, onReports) {
    this.call = call;
    this.onReports = onReports;
    this.reports = h("ul", { class: "consent reports" });
    this.noReports = h("p", { class: "muted" }, "There are no open reports.");
    this.member = h("select", { id: "mute-member" });
    this.duration = h("select", { id: "mute-duration" }, DURATIONS.map(([value, label]) => h("option", { value }, label)));
    this.duration.value = String(10 * MINUTE);
    this.duration.addEventListener("change", () => this.nameMutes());
    this.muted = h("ul", { class: "invites" });
    this.slow = h("select", { onchange: () => this.run("set_chat_limits", { slow_mode_s: Number(this.slow.value) }) });
    this.words = h("textarea", { id: "blocked-words", rows: "2", spellcheck: "false", autocapitalize: "off", "aria-describedby": "blocked-words-about" });
    this.result = h("p", { class: "result error", role: "status" });
    this.archived = false;
    this.changes = [
      h("section", { "aria-label": "Mute" }, h("h3", {}, "Mute a member"),
        h("p", { class: "muted" }, "A muted member says nothing here, but can still play and report."), this.muteForm(), this.muted),
      h("section", { "aria-label": "Limits of what is said" }, h("h3", {}, "Limits of what is said"),
        h("label", { class: "switch" }, h("span", {}, h("strong", {}, "Slow mode"), h("span", { class: "muted" }, "How long every member waits between two messages. Hosts do not wait.")), this.slow),
        this.wordsForm()),
    ];
    this.element = h("div", { class: "moderation-panel" },
      h("section", { "aria-label": "Reports" }, h("h3", {}, "Reports of abuse"), this.noReports, this.reports), this.changes, this.result);
    this.refresh = throttled(() => this.fetch(), 400);
  }

  muteForm() {
    return form("invite-form", () => this.mute(this.member.value),
      h("p", { class: "field" }, h("label", { for: "mute-member" }, "Member"), this.member),
      h("p", { class: "field" }, h("label", { for: "mute-duration" }, "For"), this.duration),
      h("button", {}, "Mute"));
  }

  wordsForm() {
    return form("words-form", () => this.run("set_chat_limits", { blocked_words: this.words.value.split("\n").map((line) => line.trim()).filter(Boolean) }),
      h("p", { class: "field" }, h("label", { for: "blocked-words" }, "Blocked words"), this.words,
        h("span", { class: "muted", id: "blocked-words-about" }, "Words and phrases that nobody but hosts may use here, one on each line.")),
      h("button", {}, "Save the words"));
  }

  mute(member) {
    return this.run("mute", { member, ...(this.duration.value && { seconds: Number(this.duration.value) }) });
  }

  async run(command, args) {
    setText(this.result, "");
    try {
      await this.call(command, args);
    } catch (error) {
      setText(this.result, error.message);
    }
    await this.fetch();
  }

  async fetch() {
    try {
      this.drawReports((await this.call("reports")).reports);
      if (this.archived) return;
      const { members, chat_limits } = await this.call("permissions");
      this.drawLimits(members, chat_limits);
    } catch {
      // Lost, or no longer permitted: the next draw decides.
    }
  }

  /** In an archived room reports can be read, and nothing can be changed. */
  drawArchived(archived) {
    this.archived = archived;
    for (const part of [...this.changes, ...this.reports.querySelectorAll(".buttons")]) part.hidden = archived;
  }

  /** The buttons that mute say for how long. */
  nameMutes() {
    const { value, selectedOptions } = this.duration;
    for (const button of this.reports.querySelectorAll("button[data-mute]")) {
      setText(button, `Mute ${escapeInvisible(button.dataset.mute)} ${value ? "for " : ""}${selectedOptions[0].textContent}`);
    }
  }

  /** `limits`: of the reply of permissions. What a host is writing stays. */
  drawLimits(members, limits) {
    const drawn = JSON.stringify([members.map((m) => [m.member, m.held.includes("manage_members")]), limits]);
    if (drawn === this.drawnLimits) return;
    this.drawnLimits = drawn;
    const { slow_mode_s = 0, blocked_words = [], muted = [] } = limits;
    fill(this.member, members.filter((m) => !m.held.includes("manage_members")).map((m) => [m.member, escapeInvisible(m.member)]));
    fill(this.slow, SLOW.some(([value]) => value === slow_mode_s) ? SLOW : [...SLOW, [slow_mode_s, `${slow_mode_s} seconds`]]);
    this.slow.value = String(slow_mode_s);
    const words = blocked_words.join("\n");
    if (words !== this.drawnWords) this.words.value = this.drawnWords = words;
    this.muted.replaceChildren(...muted.map(({ member, until }) => {
      const name = escapeInvisible(member);
      return h("li", {}, h("span", {}, memberName(member), h("span", { class: "muted" }, until ? ` muted until ${dateTime(until)}` : " muted")),
        h("button", { type: "button", class: "quiet", "aria-label": `Unmute ${name}`, onclick: () => this.run("unmute", { member }) }, "Unmute"));
    }));
  }

  drawReports(reports) {
    const drawn = JSON.stringify(reports);
    if (drawn === this.drawnReports) return;
    this.drawnReports = drawn;
    this.onReports(reports.length);
    this.noReports.hidden = reports.length > 0;
    const kept = new Map([...this.reports.children].map((line) => [line.dataset.report, line]));
    this.reports.replaceChildren(...reports.map((report) => kept.get(String(report.report)) ?? this.report(report))); // a report never changes
    this.nameMutes();
    this.drawArchived(this.archived);
  }

  report({ report, by, at, reason, about = [], lines = [] }) {
    const note = h("input", { maxlength: "400", autocomplete: "off", placeholder: `Note for ${escapeInvisible(by)}, if you like`, "aria-label": `Note to report ${report}` });
    return h("li", { "data-report": String(report) },
      h("p", {}, memberName(by), about.length ? " reports " : " made a report", about.map((member, i) => [i ? ", " : "", memberName(member)]).flat(), " ", timestamp(at)),
      h("q", {}, reason),
      lines.map((line) => h("div", {}, h("p", { class: "muted" }, memberName(line.member), ` to ${escapeInvisible(line.to === "*" ? "everybody" : line.to)} `, timestamp(line.at)), h("blockquote", {}, line.text))),
      h("p", { class: "buttons" }, note,
        h("button", { type: "button", class: "primary", "aria-label": `Close report ${report}`, onclick: () => this.run("close_report", { report, note: note.value.trim() }) }, "Close"),
        about.map((member) => h("button", { type: "button", class: "quiet", "data-mute": member, onclick: () => this.mute(member) }))));
  }
}

function form(name, submit, ...children) {
  const element = h("form", { class: name }, children);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return element;
}

/** Set the options of a select, `[value, label]` each. The selected one stays. */
function fill(select, options) {
  const { value } = select;
  select.replaceChildren(...options.map(([value, label]) => h("option", { value }, label)));
  if (options.some(([option]) => String(option) === value)) select.value = value;
}
