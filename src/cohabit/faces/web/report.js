// Reports a message of another member to the hosts of the room.

import { escapeInvisible, h, setText } from "./dom.js";

/**
 * A form for the reason of a report. `send(reason)` resolves to the reply of report, or rejects if it is refused;
 * `closed()`: it was cancelled. `warning`: a text above it.
 */
export function reportForm(send, closed, warning = "") {
  const reason = h("input", { required: true, maxlength: "1000", autocomplete: "off", placeholder: "What is wrong?", "aria-label": "What is wrong?" });
  const result = h("p", { class: "result error", role: "status" });
  const button = h("button", { class: "primary" }, "Send to the hosts");
  const form = h("form", { class: "report-form" }, warning && h("p", { class: "muted" }, warning), reason, h("span", { class: "buttons" }, button, h("button", { type: "button", class: "quiet", onclick: () => {
    form.remove();
    closed();
  } }, "Cancel")), result);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      const { hosts } = await send(reason.value.trim());
      const readers = hosts ? "Only the hosts of this room see it." : "But this room has no host now: nobody reads it until there is one.";
      form.replaceWith(h("p", { class: "muted", role: "status" }, `Reported. ${readers}`));
    } catch (error) {
      setText(result, error.message);
      button.disabled = false;
    }
  });
  setTimeout(() => reason.focus());
  return form;
}

/** Whom a report about a message goes to, if its author is one of the hosts; else empty. */
export function readersOf(author, hosts) {
  if (!hosts.includes(author)) return "";
  const name = escapeInvisible(author);
  return hosts.length > 1 ? `${name} is a host of this room and will see this report.` : `${name} is the only host of this room: this report goes to nobody else.`;
}

/** The number that a shown message has in our inbox (the items of the reply of recv_messages); undefined if it is not there. */
export function numberOf(shown, inbox) {
  const authors = [shown.by, `${shown.by} (left)`]; // another member may have the handle by now
  return inbox.find(({ from, sent_utc, content }) => authors.includes(from) && Date.parse(sent_utc) === shown.at && shown.text.endsWith(content))?.seq;
}
