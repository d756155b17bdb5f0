// Building elements, on the page and in the player of films. Data only ever becomes text nodes and attributes: no
// script of ours parses HTML.

/** Create an element: h("p", {class: "note", onclick: f}, "some text", element, [more, elements]). */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) { // one by one: the number of arguments of a call is limited
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** Set the text of an element if it differs: an update would clear a selection and be read out again. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A name with control and bidirectional characters escaped, so that it cannot pass for another name. */
export function escapeInvisible(name) {
  return name.replace(INVISIBLE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
