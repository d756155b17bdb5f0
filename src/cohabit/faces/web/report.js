// Reports a message of another member to the hosts of the room.

import { h, setText } from "./dom.js";

/** A form for the reason of a report. `send(reason)` rejects if it is refused; `closed()`: it was cancelled. */
export function reportForm(send, closed) {
  const reason = h("input", { required: true, maxlength: "1000", autocomplete: "off", placeholder: "What is wrong?", "aria-label": "What is wrong?" });
  const result = h("p", { class: "result error", role: "status" });
  const button = h("button", { class: "primary" }, "Send to the hosts");
  const form = h("form", { class: "report-form" }, reason, h("span", { class: "buttons" }, button, h("button", { type: "button", class: "quiet", onclick: () => {
    form.remove();
    closed();
  } }, "Cancel")), result);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await send(reason.value.trim());
      form.replaceWith(h("p", { class: "muted", role: "status" }, "Reported. Only the hosts of this room see it."));
    } catch (error) {
      setText(result, error.message);
      button.disabled = false;
    }
  });
  setTimeout(() => reason.focus());
  return form;
}

/** The number that a shown message has in our inbox (the items of the reply of recv_messages); undefined if it is not there. */
export function numberOf(shown, inbox) {
  const authors = [shown.by, `${shown.by} (left)`]; // another member may have the handle by now
  return inbox.find(({ from, sent_utc, content }) => authors.includes(from) && Date.parse(sent_utc) === shown.at && shown.text.endsWith(content))?.seq;
}
