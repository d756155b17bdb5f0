// Making elements. Data only ever becomes text: nothing here, or anywhere on this page, parses HTML.

/** An element: h("p", {class: "note", onclick: f}, "some text", another, [many, others]). */
export function h(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) { // one by one: a call takes only so many arguments
    if (child !== null && child !== undefined && child !== false) made.append(child);
  }
  return made;
}

/** Set an element's text if it differs, so that selections and screen readers are left in peace. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A card with a heading that names it. */
export function card(title, name, ...children) {
  const id = `card-${name}`;
  return h("section", { class: `card ${name}`, "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A name with what turns the writing direction, or cannot be seen at all, written out: it must not look like another. */
export function visible(name) {
  return name.replace(UNSEEN, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const TINTS = 8; // as many as the style sheet has
const tints = new Map();

/** A member's name, in a colour that it keeps. */
export function named(name) {
  if (!tints.has(name)) tints.set(name, String(tints.size % TINTS));
  return h("span", { class: "name", "data-tint": tints.get(name) }, visible(name));
}

/** The time of day of an event, with the date where it is not today. */
export function moment(ms) {
  const at = new Date(ms);
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  const today = at.toDateString() === new Date().toDateString();
  const shown = today ? time : `${at.toLocaleDateString([], { day: "numeric", month: "short" })} ${time}`;
  return h("time", { datetime: at.toISOString(), title: at.toLocaleString() }, shown);
}

/** `work`, run at most once in `gap` ms and never twice at once; what was asked for meanwhile runs after. */
export function gently(work, gap) {
  let busy = false;
  let again = false;
  return async function run() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      await work();
    } finally {
      setTimeout(() => {
        busy = false;
        if (again) {
          again = false;
          run();
        }
      }, gap);
    }
  };
}
