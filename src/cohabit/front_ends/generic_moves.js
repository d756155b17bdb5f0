// What can be done besides clicking on a board: buttons, an arrow pad, a list with a search, and forms.
const MANY = 30; // more buttons than these get a field to search them
const ARROWS = { up: ["↑", 2], north: ["↑", 2], left: ["←", 4], west: ["←", 4], right: ["→", 6], east: ["→", 6], down: ["↓", 8], south: ["↓", 8], northwest: ["↖", 1], northeast: ["↗", 3], southwest: ["↙", 7], southeast: ["↘", 9] };

const plainWords = (name) => name.replaceAll("_", " ").trim();

/** "take 2", "walk x 3, y 4"; of moves that are only a text, the text. */
function choiceLabel({ action, params = {} }, isAlone) {
  const values = Object.entries(params);
  const texts = values.map(([name, value]) => `${values.length > 1 ? `${plainWords(name)} ` : ""}${valueLabel(value)}`);
  if (isAlone && values.length === 1 && typeof values[0][1] === "string") return texts[0];
  return [plainWords(action), texts.join(", ")].filter(Boolean).join(" ");
}

const valueLabel = (value) => (typeof value === "string" ? value.replace(/^\[(.*)\]$/, "$1").replace(/^[a-z_]+$/, plainWords) : typeof value === "boolean" ? (value ? "yes" : "no") : JSON.stringify(value));
const keyOf = ({ action, params }) => JSON.stringify([action, params]);

/** The direction of a choice: "left", `move {direction: "left"}`, "[Left]". */
function directionOf({ action, params = {} }) {
  const values = Object.values(params);
  const word = values.length === 0 ? action.replace(/^(move|go|step|walk)_/, "") : values.length === 1 && typeof values[0] === "string" ? valueLabel(values[0]) : "";
  return ARROWS[word.toLowerCase()] ?? null;
}

function drawMoves(choices, keys, pick) {
  const isAlone = new Set(choices.map(({ action }) => action)).size === 1;
  const directions = choices.map((choice) => directionOf(choice)?.[1]);
  const isFirst = (_, i) => directions[i] && directions.indexOf(directions[i]) === i; // "up" may be stairs where there is a north
  const isPad = choices.filter(isFirst).length >= 3, arrows = isPad ? choices.filter(isFirst) : [];
  const rest = choices.filter((choice) => !arrows.includes(choice));
  const groups = new Map();
  for (const choice of rest) {
    const name = isAlone || rest.length <= 8 ? "" : choice.action;
    groups.set(name, [...(groups.get(name) ?? []), choice]);
  }
  const entries = [...(isPad ? [["pad", arrows]] : []), ...[...groups].map(([name, list]) => [`group ${name}`, list])];
  keyed($("moves"), entries, (_, key) => (key === "pad" ? h("div", { class: "pad", role: "group", "aria-label": "Directions" }) : makeGroup(key.slice(6))), (element, list, key) => {
    if (key !== "pad") return drawGroup(element, list, isAlone || key !== "group ", keys, pick);
    keyed(element, list.map((choice) => [keyOf(choice), choice]), () => h("button", { type: "button" }), (button, choice) => {
      const [arrow, place] = directionOf(choice);
      setText(button, arrow);
      set(button, "aria-label", choiceLabel(choice, isAlone));
      button.style.gridArea = `${Math.ceil(place / 3)} / ${((place - 1) % 3) + 1}`;
      button.onclick = () => pick([choice]);
    });
  });
}

function makeGroup(name) {
  const search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search the moves", hidden: true });
  const list = h("div", { class: "group" });
  const group = h("div", { class: "group" }, name && h("small", {}, plainWords(name)), search, list);
  search.oninput = () => filter(group);
  return Object.assign(group, { list, search });
}

function drawGroup(group, choices, isAlone, keys, pick) {
  group.search.hidden = choices.length <= MANY;
  keyed(group.list, choices.map((choice) => [keyOf(choice), choice]), () => h("button", { type: "button" }), (button, choice) => {
    const label = choiceLabel(choice, isAlone), key = keys.get(keyOf(choice));
    if (button.said !== label + key) button.replaceChildren(label, ...(key ? [h("kbd", {}, key)] : []));
    button.said = label + key;
    button.onclick = () => pick([choice]);
  });
  filter(group);
}

function filter({ search, list }) {
  const words = search.hidden ? "" : search.value.toLowerCase();
  for (const button of list.children) button.hidden = !button.textContent.toLowerCase().includes(words);
}

/** Several moves are meant by one click: ask which. */
function ask(choices, pick) {
  const group = makeGroup("Which move?");
  drawGroup(group, choices, true, new Map(), (picked) => { $("ask").hidden = true; pick(picked); });
  $("ask").replaceChildren(group, h("button", { type: "button", onclick: () => { $("ask").hidden = true; } }, "Cancel"));
  $("ask").hidden = false;
  group.list.querySelector("button")?.focus();
}

// -- forms ----------------------------------------------------------------------------------------
/** A form for an action, made from its JSON Schema: steppers, selects, check boxes, text. Not in a form element: sandboxes block those. */
function makeForm({ name, description = "", inputSchema = {} }, submit) {
  const fields = Object.entries(inputSchema.properties ?? {}).map(([field, schema]) => makeField(field, resolve(schema, inputSchema), (inputSchema.required ?? []).includes(field)));
  const send = () => {
    if (![...form.querySelectorAll("input, select, textarea")].every((control) => control.reportValidity())) return;
    submit({ action: name, params: Object.fromEntries(fields.map(({ field, value }) => [field, value()]).filter(([, value]) => value !== undefined)) });
  };
  const form = h("div", { class: "panel form", role: "group", "aria-label": plainWords(name) }, h("h3", {}, plainWords(name)), description && h("small", {}, description.split("\n")[0]), fields.map(({ element }) => element), h("button", { class: "primary", type: "button", onclick: send }, plainWords(name)));
  form.onkeydown = ({ key, target }) => { if (key === "Enter" && target.matches("input")) send(); };
  return form;
}

function resolve(schema, root) {
  const named = schema.$ref && root.$defs?.[schema.$ref.split("/").at(-1)];
  const one = named ?? (schema.anyOf ?? []).find(({ type }) => type !== "null");
  return one ? { ...schema, ...resolve(one, root) } : schema;
}

function makeField(field, schema, isRequired) {
  const label = (control) => h("label", {}, plainWords(field), control, schema.description && h("small", {}, schema.description));
  const options = schema.enum ?? (schema.const !== undefined ? [schema.const] : null);
  if (options) {
    const select = h("select", {}, isRequired ? null : h("option", { value: "" }, "–"), options.map((option, i) => h("option", { value: i }, plainWords(String(option)))));
    return { field, element: label(select), value: () => (select.value === "" ? undefined : options[select.value]) };
  }
  if (schema.type === "boolean") {
    const box = h("input", { type: "checkbox" });
    box.checked = Boolean(schema.default);
    return { field, element: label(box), value: () => box.checked };
  }
  if (schema.type === "integer" || schema.type === "number") return numberField(field, schema, isRequired, label);
  const isText = schema.type === "string" || schema.type === undefined;
  const input = h((schema.maxLength ?? 0) > 200 ? "textarea" : "input", { required: isRequired, maxlength: schema.maxLength, placeholder: isText ? null : "JSON" });
  return { field, element: label(input), value: () => (input.value === "" && !isRequired ? undefined : isText ? input.value : JSON.parse(input.value)) };
}

function numberField(field, schema, isRequired, label) {
  const [low, high] = [schema.minimum, schema.maximum], step = schema.type === "integer" ? 1 : "any";
  const input = h("input", { type: "number", min: low, max: high, step, required: isRequired, value: schema.default ?? (isRequired ? low ?? 0 : null) });
  const by = (n) => h("button", { type: "button", "aria-label": n > 0 ? `more ${plainWords(field)}` : `less ${plainWords(field)}`, onclick: () => (n > 0 ? input.stepUp() : input.stepDown()) }, n > 0 ? "+" : "−");
  const isSteps = step === 1;
  return { field, element: label(h("span", { class: "stepper" }, isSteps && by(-1), input, isSteps && by(1))), value: () => (input.value === "" ? undefined : Number(input.value)) };
}
