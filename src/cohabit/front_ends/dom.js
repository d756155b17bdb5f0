// Elements of documents. Data only ever becomes text nodes and attributes.
const $ = (id) => document.getElementById(id);

/** An element: `h("button", { class: "tile", onclick }, "Text")`. What is null or false is left out. */
function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) set(element, name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function set(element, name, value) {
  if (name.startsWith("on")) element[name] = value;
  else if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value === true ? "" : value)) element.setAttribute(name, value === true ? "" : value);
}

const setText = (element, text) => { if (element.textContent !== text) element.textContent = text; };

/**
 * Show one child of `parent` for each [key, value]. A key that was there before keeps its element, so that it keeps its
 * focus, and a click is not lost if a new view arrives under the pointer. `make(value)` makes an element, `update(element, value)` renews it.
 */
function keyed(parent, entries, make, update = () => {}) {
  const known = parent.keyed ??= new Map();
  const wanted = new Map(entries.map(([key, value]) => [String(key), value]));
  for (const [key, element] of known) if (!wanted.has(key)) { element.remove(); known.delete(key); }
  let place = null;
  for (const [key, value] of wanted) {
    if (!known.has(key)) known.set(key, make(value, key));
    const element = known.get(key);
    update(element, value, key);
    const next = place ? place.nextSibling : parent.firstChild;
    if (next !== element) parent.insertBefore(element, next);
    place = element;
  }
}
