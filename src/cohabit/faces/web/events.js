// The events of a room, oldest first. Messages of members are shown as quotations with the name of their author.

import { escapeInvisible, h, memberName, timestamp, withoutHints } from "./dom.js";
import { reportForm } from "./report.js";

const MAX_EVENTS = 500;

export class EventLog {
  /** `report(item, reason)` reports a message to the hosts; null: nobody can. `warning(author)`: for who reports it. */
  constructor(report = null, warning = () => "") {
    this.report = report;
    this.warning = warning;
    this.reasons = new Map(); // why actions were taken, for lines that come later
    this.reader = null; // the handle of a member who may report messages
    this.list = h("ol");
    this.log = h("div", { class: "events", role: "log", "aria-live": "off", "aria-label": "Events", tabindex: "0" }, this.list);
    this.toNewest = h("button", { class: "to-newest", hidden: true, onclick: () => this.scrollToEnd() }, "Newer events ↓");
    this.empty = h("p", { class: "muted" }, "No events yet.");
    this.element = h("div", { class: "event-log" }, this.empty, this.log, this.toNewest);
    this.log.addEventListener("scroll", () => {
      const { scrollTop } = this.log;
      if (this.isAtEnd()) this.follows = this.toNewest.hidden = true;
      else if (scrollTop < this.top) this.follows = false; // scrolled up: lines that grew are not a reason
      this.top = scrollTop;
    });
    this.top = 0;
    this.follows = true; // the newest events stay in sight, also when the log shrinks or its lines grow
    const sizes = new ResizeObserver(() => this.follows && this.scrollToEnd());
    sizes.observe(this.log);
    sizes.observe(this.list);
  }

  clear() {
    this.list.replaceChildren();
    this.empty.hidden = false;
  }

  /** Have screen readers announce events from now on, but not those that are already listed. */
  announce() {
    this.log.setAttribute("aria-live", "polite");
  }

  /** `recipients`: the names that a message can be addressed to. */
  add(items, recipients = []) {
    if (!items.length) return;
    items = items.filter((item, i) => !isToldTwice(item, items[i - 1]));
    const follow = this.isAtEnd();
    this.empty.hidden = true;
    this.list.append(...items.map((item) => this.line(item, recipients)));
    while (this.list.childElementCount > MAX_EVENTS) this.list.firstElementChild.remove();
    if (follow) this.scrollToEnd();
    else this.toNewest.hidden = false;
  }

  /** Say why members acted. `decisions`: those of the reply of decisions. */
  explain(decisions) {
    for (const { at, member, action, reason } of decisions) {
      if (!reason) continue;
      const key = keyOf(at, member, action.split(" ")[0]);
      this.reasons.set(key, reason);
      if (this.reasons.size > MAX_EVENTS) this.reasons.delete(this.reasons.keys().next().value);
      const line = [...this.list.children].findLast((line) => line.dataset.action === key);
      if (line && !line.querySelector(".why")) line.lastElementChild.append(whyLine(reason));
    }
  }

  line(item, recipients) {
    const key = keyOf(item.at, item.by, item.do);
    const line = eventLine({ ...item, why: item.why ?? this.reasons.get(key) }, recipients);
    line.dataset.action = key;
    if (line.dataset.kind !== "message" || !this.report) return line;
    line.dataset.by = item.by;
    const button = h("button", { type: "button", class: "quiet report", hidden: !this.mayReport(item.by), onclick: () => {
      button.hidden = true;
      line.lastElementChild.append(reportForm((reason) => this.report(item, reason), () => (button.hidden = false), this.warning(item.by)));
    } }, "Report");
    line.lastElementChild.append(button);
    return line;
  }

  mayReport(author) {
    return this.reader !== null && author !== this.reader;
  }

  /** Offer to report the messages of others. `reader`: our handle; null: we may not report. */
  offerReports(reader) {
    if (reader === this.reader) return;
    this.reader = reader;
    for (const button of this.list.querySelectorAll("button.report")) button.hidden = !this.mayReport(button.closest("li").dataset.by);
  }

  isAtEnd() {
    return this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
  }

  scrollToEnd() {
    this.log.scrollTop = this.log.scrollHeight;
    this.toNewest.hidden = true;
  }
}

/** Of a change of our own token: it was told to us, and then to all. */
function isToldTwice(item, before) {
  return item.do === "credential" && item.kind === "roster" && before?.do === "credential" && before.kind === "account" && before.at === item.at;
}

function keyOf(at, member, action) {
  return [at, member, action].join(" ");
}

function whyLine(reason) {
  return h("p", { class: "why" }, h("span", {}, "why: "), h("q", {}, reason));
}

function eventLine(item, recipients) {
  const isMessage = (item.do === "send_message" || item.do === "say") && item.by;
  const body = isMessage ? message(item, recipients) : action(item);
  const why = item.why && whyLine(item.why);
  return h("li", { "data-kind": isMessage ? "message" : item.kind ?? "info" }, timestamp(item.at), h("div", {}, ...body, why));
}

/** The author and the text; many texts begin with the name of their author already. Those about members are sentences. */
function action({ by, via, text, kind, do: command, args }) {
  if (kind === "roster" || kind === "account") {
    text = withoutHints(text) + (command === "set_chat_limits" ? limitsIn(args) : "");
    if (!text.startsWith(`${by} `)) by = null;
  }
  const builtIn = via && h("span", { class: "via", title: "played by a built-in player" }, via);
  if (!by) return [builtIn, h("span", { class: "text" }, text)];
  if (!text.startsWith(`${by} `)) return [memberName(by), builtIn, h("span", { class: "text" }, text)];
  return [builtIn, h("span", { class: "text" }, memberName(by), text.slice(by.length))];
}

/** Which limits were changed, for those who see the arguments of the call. */
function limitsIn(args) {
  const { slow_mode_s: slow, blocked_words: words, cooldown_ms: cooldown, messages_per_minute: rate, agents_apart: apart } = args ?? {};
  const parts = [
    slow !== undefined && (slow ? `slow mode of ${slow} s` : "no slow mode"),
    words && (words.length ? `blocked words ${words.map(escapeInvisible).join(", ")}` : "no blocked words"),
    cooldown !== undefined && `cooldown of ${cooldown / 1000} s`,
    rate !== undefined && (rate ? `at most ${rate} messages a minute` : "no limit of messages a minute"),
    apart !== undefined && `agents ${apart ? "do not get" : "get"} each other's messages`,
  ].filter((part) => part);
  return parts.length ? `: ${parts.join("; ")}` : "";
}

/** "ann to bob: hello" as "ann to bob" and a quotation. The author comes from the record, never from the text. */
function message(item, recipients) {
  const prefix = `${item.by} to `;
  const rest = item.text.startsWith(prefix) ? item.text.slice(prefix.length) : `?: ${item.text}`;
  const to = recipients.filter((name) => rest.startsWith(`${name}: `)).sort((a, b) => b.length - a.length)[0]
    ?? rest.slice(0, rest.indexOf(": "));
  return [
    memberName(item.by), h("span", { class: "to" }, ` to ${to}`),
    h("blockquote", {}, rest.slice(to.length + 2)),
  ];
}
