// A form for every action of a world, made from its JSON schema. It is how a world without listed choices is played.

import { escapeInvisible, h, setText } from "./dom.js";

const LONG_TEXT = 200; // characters: longer texts get more lines
const NONE = "—";

export class ActionForms {
  /** `act(command, params)` resolves to the result of an action; `linkOf(result)` is a link to where it leads, or null. */
  constructor(act, linkOf) {
    this.act = act;
    this.linkOf = linkOf;
    this.select = h("select", { id: "form-action", onchange: () => this.drawForm() });
    this.about = h("p", { class: "muted" });
    this.fields = h("div", { class: "fields" });
    this.button = h("button", { class: "primary" });
    this.result = h("p", { class: "result", role: "status" });
    this.form = h("form", { class: "action-form", novalidate: true, "aria-label": "Action" },
      h("p", { class: "field" }, h("label", { for: "form-action" }, "Action"), this.select), this.about, this.fields, this.button, this.result);
    this.element = h("div", { class: "action-forms" }, this.form);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.actions = [];
  }

  get hasAny() {
    return this.actions.length > 0;
  }

  /** `actions`: those of the reply of schemas that act. */
  draw(actions) {
    const drawn = JSON.stringify(actions);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.actions = actions;
    const selected = this.select.value;
    this.select.replaceChildren(...actions.map(({ name, title }) => h("option", { value: name }, escapeInvisible(title || name))));
    if (actions.some(({ name }) => name === selected)) this.select.value = selected;
    this.drawForm();
  }

  drawForm() {
    this.action = this.actions.find(({ name }) => name === this.select.value);
    if (!this.action) return;
    const { schema, description, title, name } = this.action;
    setText(this.about, description);
    setText(this.button, escapeInvisible(title || name));
    this.inputs = Object.entries(schema.properties ?? {}).map(([property, part]) =>
      makeField(property, part, schema, (schema.required ?? []).includes(property)));
    this.fields.replaceChildren(...this.inputs.map((input) => input.element));
    this.show("");
  }

  async submit() {
    if (this.button.disabled || !this.action) return;
    const params = {};
    let firstWrong = null;
    for (const input of this.inputs) {
      const { value, problem } = input.read();
      input.showProblem(problem);
      if (problem) firstWrong ??= input;
      else if (value !== undefined) params[input.name] = value;
    }
    if (firstWrong) {
      this.show("");
      firstWrong.control.focus();
      return;
    }
    this.button.disabled = true;
    this.show("");
    try {
      const result = await this.act(this.action.name, params);
      this.show(result?.message || "Done.", false, this.linkOf(result));
    } catch (error) {
      this.show(error.message, true);
    } finally {
      this.button.disabled = false;
    }
  }

  show(text, failed = false, link = null) {
    this.result.classList.toggle("error", failed);
    setText(this.result, text);
    if (link) this.result.append(" ", link);
  }
}

// -- fields -----------------------------------------------------------------------------------
/** A field for a property of a schema: its element, and `read()`, which returns `{value}` or `{problem}`. */
function makeField(name, part, root, required) {
  const { schema, nullable } = simplified(part, root);
  const id = `form-${name}`;
  const make = schema.enum || schema.const !== undefined ? enumField
    : schema.type === "boolean" ? booleanField
    : schema.type === "integer" || schema.type === "number" ? numberField
    : schema.type === "string" ? textField
    : jsonField;
  const optional = !required || nullable;
  const { control, read } = make(schema, id, optional);
  const problem = h("p", { class: "error", id: `${id}-problem`, role: "alert" });
  control.setAttribute("aria-describedby", `${id}-about ${id}-problem`);
  const about = [part.description ?? schema.description, limits(schema), optional && part.default === undefined && "optional",
    !["", false, undefined, null].includes(part.default) && `default: ${JSON.stringify(part.default)}`];
  const label = h("label", { for: id }, escapeInvisible(name.replaceAll("_", " ")));
  const element = h("div", { class: `field ${control.type === "checkbox" ? "check" : ""}` }, label, control,
    h("p", { class: "muted", id: `${id}-about` }, about.filter(Boolean).join(" · ")), problem);
  return {
    name, control, element,
    read() {
      const found = read();
      if (found.problem || found.value !== undefined || optional) return found;
      return { problem: "This field is required." };
    },
    showProblem(text) {
      setText(problem, text ?? "");
      control.setAttribute("aria-invalid", String(Boolean(text)));
    },
  };
}

/** A schema with its reference followed, and without an alternative that is null. */
function simplified(part, root) {
  let schema = part;
  for (let i = 0; schema.$ref && i < 10; i++) {
    const { $ref, ...rest } = schema;
    schema = { ...(root.$defs ?? {})[$ref.split("/").at(-1)], ...rest };
  }
  const choices = schema.anyOf ?? schema.oneOf;
  const types = Array.isArray(schema.type) ? schema.type.filter((type) => type !== "null") : null;
  if (types?.length === 1) return { schema: { ...schema, type: types[0] }, nullable: schema.type.length > 1 };
  if (!choices) return { schema, nullable: false };
  const real = choices.filter((choice) => choice.type !== "null");
  const nullable = real.length < choices.length;
  if (real.length !== 1) return { schema: { description: schema.description }, nullable };
  return { schema: { ...simplified(real[0], root).schema, ...(schema.description ? { description: schema.description } : {}), default: schema.default }, nullable };
}

function limits({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength }) {
  const between = (low, high, unit) => {
    if (low !== undefined && high !== undefined) return `${low} to ${high}${unit}`;
    if (low !== undefined) return `at least ${low}${unit}`;
    return high !== undefined ? `at most ${high}${unit}` : "";
  };
  if (type === "string") return between(minLength, maxLength, " characters");
  const above = exclusiveMinimum !== undefined ? `more than ${exclusiveMinimum}` : "";
  const below = exclusiveMaximum !== undefined ? `less than ${exclusiveMaximum}` : "";
  return [between(minimum, maximum, ""), above, below].filter(Boolean).join(", ");
}

function enumField(schema, id, optional) {
  const values = schema.enum ?? [schema.const];
  const control = h("select", { id }, optional && h("option", { value: "" }, NONE),
    values.map((value, i) => h("option", { value: String(i) }, escapeInvisible(typeof value === "string" ? value : JSON.stringify(value)))));
  const preset = values.indexOf(schema.default);
  if (preset >= 0) control.value = String(preset);
  return { control, read: () => ({ value: control.value === "" ? undefined : values[Number(control.value)] }) };
}

function booleanField(schema, id, optional) {
  if (optional && typeof schema.default !== "boolean") {
    return enumField({ enum: [true, false] }, id, true);
  }
  const control = h("input", { id, type: "checkbox", checked: schema.default === true });
  return { control, read: () => ({ value: control.checked }) };
}

function numberField(schema, id) {
  const whole = schema.type === "integer";
  const control = h("input", {
    id, type: "number", inputmode: whole ? "numeric" : "decimal", step: whole ? String(schema.multipleOf ?? 1) : "any",
    min: schema.minimum, max: schema.maximum, value: typeof schema.default === "number" ? String(schema.default) : undefined,
  });
  return {
    control,
    read() {
      if (control.validity.badInput) return { problem: "This is not a number." };
      if (control.value === "") return {};
      const value = Number(control.value);
      const isWrong = !control.checkValidity() || value <= schema.exclusiveMinimum || value >= schema.exclusiveMaximum;
      if (isWrong) return { problem: whole && !Number.isInteger(value) ? "This must be a whole number." : `This must be ${limits(schema) || "another number"}.` };
      return { value };
    },
  };
}

function textField(schema, id) {
  const { minLength, maxLength } = schema;
  const long = maxLength === undefined ? false : maxLength > LONG_TEXT;
  const props = { id, maxlength: maxLength, autocomplete: "off", spellcheck: "false" };
  const control = long ? h("textarea", { ...props, rows: "3" }) : h("input", { ...props, type: "text" });
  if (typeof schema.default === "string") control.value = schema.default;
  return {
    control,
    read() {
      if (control.value === "") return schema.default === "" ? { value: "" } : {};
      if (control.value.length < (minLength ?? 0)) return { problem: `This must have ${limits(schema)}.` };
      return { value: control.value };
    },
  };
}

const JSON_EXAMPLES = { array: "[…]", object: "{…}" };

/** Anything else is entered as JSON. */
function jsonField(schema, id) {
  const control = h("textarea", { id, rows: "3", class: "json", spellcheck: "false", autocapitalize: "off", placeholder: `JSON ${JSON_EXAMPLES[schema.type] ?? ""}` });
  return {
    control,
    read() {
      const text = control.value.trim();
      if (!text) return {};
      let value;
      try {
        value = JSON.parse(text);
      } catch (error) {
        return { problem: `This is not JSON: ${error.message}` };
      }
      const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
      if (schema.type in JSON_EXAMPLES && type !== schema.type) return { problem: `This must be ${schema.type === "array" ? "a list, such as [1, 2]" : 'an object, such as {"name": 1}'}.` };
      return { value };
    },
  };
}
