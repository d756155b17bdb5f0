// A host for the front end of a world: an MCP App in a sandboxed frame. The document has no token and no network. It
// gets the member's view, and calls the member's commands through this file, as far as the house says that it may.

import { h } from "./dom.js";

const PROTOCOL = "2026-01-26";
const MAX_MESSAGE = 64 * 1024; // characters of JSON that a document may send at once
const MAX_CALLS = 6; // unanswered calls
const MESSAGES_PER_SECOND = 40;
const BURST = 120;
const MAX_HEIGHT = 1_600;
const ERRORS = { invalid: -32600, unknownMethod: -32601, badParams: -32602, refused: -32000 };
const STYLES = {
  "--color-background-primary": "--card", "--color-background-secondary": "--paper", "--color-background-tertiary": "--screen",
  "--color-text-primary": "--ink", "--color-text-secondary": "--soft", "--color-text-danger": "--warn",
  "--color-border-primary": "--line", "--color-ring-primary": "--accent", "--font-sans": "--sans", "--font-mono": "--mono",
};

/** An error that the document gets as a JSON-RPC error. */
class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

export class FrontEnd {
  #frame = null;
  #html = "";
  #commands = new Map(); // those that a document may call, by tool name
  #isReady = false; // the document has said that it is initialized; before that it is sent nothing
  #result = null; // of the newest view
  #calls = 0;
  #tokens = BURST; // of a token bucket: each message takes one
  #filledAt = performance.now();

  /** `call(name, args, changes)`: a call of the member in this room. `alone`: the frame has the whole window. */
  constructor(room, call, alone) {
    this.room = room;
    this.call = call;
    this.alone = alone;
    this.notice = h("p", { class: "error", role: "status", hidden: true });
    this.element = h("div", { class: "front-end", hidden: true }, this.notice);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.onMessage = (event) => this.#receive(event);
    this.onTheme = () => this.#notify("ui/notifications/host-context-changed", this.#look());
    window.addEventListener("message", this.onMessage);
    this.dark.addEventListener("change", this.onTheme);
  }

  get shown() {
    return this.#frame !== null;
  }

  /** Show the document of a world. `commands`: the reply of `schemas`. */
  show(html, commands) {
    this.#commands = new Map(commands.filter((c) => c.for_front_end).map((c) => [c.tool_name, c]));
    if (this.#frame && html === this.#html) return;
    this.#remove();
    this.#html = html;
    // Without allow-same-origin the document has an origin of its own: no storage, no cookies, no access to this page.
    this.#frame = h("iframe", {
      class: "front-end-frame", title: "The table of this world", sandbox: "allow-scripts", referrerpolicy: "no-referrer",
      allow: "camera 'none'; microphone 'none'; geolocation 'none'; clipboard-read 'none'; clipboard-write 'none'", src: "frame",
    });
    this.element.prepend(this.#frame);
    this.element.hidden = false;
    this.notice.hidden = true;
  }

  /** Tell the document what the member sees now; null: nothing. */
  update(view) {
    this.#result = view && { content: [{ type: "text", text: view.text }], structuredContent: view };
    if (this.#result) this.#notify("ui/notifications/tool-result", this.#result);
  }

  stop() {
    this.#remove();
    window.removeEventListener("message", this.onMessage);
    this.dark.removeEventListener("change", this.onTheme);
  }

  #remove() {
    if (this.#isReady) this.#post({ id: "teardown", method: "ui/resource-teardown", params: {} });
    this.#frame?.remove();
    this.#frame = null;
    this.#isReady = false;
    this.element.hidden = true;
  }

  // -- messages ----------------------------------------------------------------------------------
  #post(message) {
    // The origin of the frame is opaque, so it cannot be named; only this window gets the message.
    this.#frame?.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  #notify(method, params) {
    if (this.#isReady) this.#post({ method, params });
  }

  #receive({ source, data }) {
    if (!this.#frame || source !== this.#frame.contentWindow || !this.#mayGoOn()) return;
    if (data === null || typeof data !== "object" || data.jsonrpc !== "2.0" || typeof data.method !== "string") return;
    const isRequest = typeof data.id === "string" || typeof data.id === "number";
    const params = data.params !== null && typeof data.params === "object" ? data.params : {};
    if (isRequest) this.#answer(data.id, data.method, params);
    else this.#onNotification(data.method, params);
  }

  /** A document that floods the page is removed. */
  #mayGoOn() {
    const now = performance.now();
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#filledAt) / 1000) * MESSAGES_PER_SECOND) - 1;
    this.#filledAt = now;
    if (this.#tokens >= 0) return true;
    this.#remove();
    this.element.hidden = this.notice.hidden = false;
    this.notice.textContent = "The table of this world sent too many messages and was closed. Reload the page to open it again.";
    return false;
  }

  async #answer(id, method, params) {
    const frame = this.#frame;
    let reply;
    try {
      if (sizeOf(params) > MAX_MESSAGE) throw new Refused(ERRORS.invalid, `a message has at most ${MAX_MESSAGE} characters`);
      reply = { result: await this.#onRequest(method, params) };
    } catch (error) {
      reply = { error: { code: typeof error.code === "number" ? error.code : ERRORS.refused, message: error.message } };
    }
    if (frame === this.#frame) this.#post({ id, ...reply });
  }

  #onNotification(method, params) {
    if (method === "ui/notifications/sandbox-proxy-ready") {
      this.#post({ method: "ui/notifications/sandbox-resource-ready", params: { html: this.#html } });
    } else if (method === "ui/notifications/initialized") {
      this.#isReady = true;
      this.#notify("ui/notifications/tool-input", { arguments: {} });
      if (this.#result) this.#notify("ui/notifications/tool-result", this.#result);
    } else if (method === "ui/notifications/size-changed" && !this.alone && Number.isFinite(params.height)) {
      this.#frame.style.height = `${Math.round(Math.min(Math.max(params.height, 60), MAX_HEIGHT))}px`;
    }
  }

  #onRequest(method, params) {
    switch (method) {
      case "ui/initialize": return this.#initialize();
      case "ping": return {};
      case "tools/list": return { tools: [...this.#commands.values()].map(toolOf) };
      case "tools/call": return this.#callTool(params);
      case "resources/read": return this.#read(params);
      case "ui/request-display-mode": return { mode: this.#mode() };
      case "ui/open-link": throw new Refused(ERRORS.refused, "this host opens no links");
      default: throw new Refused(ERRORS.unknownMethod, `unknown method ${method.slice(0, 80)}`);
    }
  }

  // -- answers -----------------------------------------------------------------------------------
  #initialize() {
    return {
      protocolVersion: PROTOCOL,
      hostInfo: { name: "cohabit", version: "1" },
      hostCapabilities: { serverTools: {}, serverResources: {}, sandbox: { csp: {} } },
      hostContext: {
        ...this.#look(), displayMode: this.#mode(), availableDisplayModes: [this.#mode()], platform: "web",
        locale: navigator.language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        containerDimensions: this.alone ? { width: innerWidth, height: innerHeight } : { maxHeight: MAX_HEIGHT },
        deviceCapabilities: { touch: navigator.maxTouchPoints > 0, hover: matchMedia("(hover: hover)").matches },
      },
    };
  }

  #mode() {
    return this.alone ? "fullscreen" : "inline";
  }

  #look() {
    const ours = getComputedStyle(document.documentElement);
    const variables = Object.fromEntries(Object.entries(STYLES).map(([theirs, name]) => [theirs, ours.getPropertyValue(name).trim()]));
    return { theme: this.dark.matches ? "dark" : "light", styles: { variables } };
  }

  #uri() {
    return `ui://${this.room}/front_end`;
  }

  #read({ uri }) {
    if (uri !== this.#uri()) throw new Refused(ERRORS.badParams, "a document can read itself only");
    return { contents: [{ uri, mimeType: "text/html;profile=mcp-app", text: this.#html }] };
  }

  async #callTool({ name, arguments: args = {} }) {
    const command = typeof name === "string" ? this.#commands.get(name) : undefined;
    if (!command) throw new Refused(ERRORS.badParams, "a document cannot call this tool");
    if (args === null || typeof args !== "object" || Array.isArray(args)) throw new Refused(ERRORS.badParams, "arguments must be an object");
    if (this.#calls >= MAX_CALLS) throw new Refused(ERRORS.refused, `a document has at most ${MAX_CALLS} calls at a time`);
    this.#calls += 1;
    try {
      return toolResult(await this.call(command.name, args, Boolean(command.records)));
    } catch (error) {
      const { code, message } = error;
      return { isError: true, content: [{ type: "text", text: `[${code}] ${message}` }], structuredContent: { error: { code, message } } };
    } finally {
      this.#calls -= 1;
    }
  }
}

function sizeOf(value) {
  try {
    return JSON.stringify(value).length;
  } catch {
    return Infinity; // not JSON: a cycle, for example
  }
}

function toolOf({ tool_name: name, description, schema: inputSchema, for_model: forModel = true }) {
  return { name, description, inputSchema, _meta: { ui: { visibility: forModel ? ["model", "app"] : ["app"] } } };
}

/** The result of a command as MCP has it. */
function toolResult(result) {
  if (result?.format && result.base64) return { content: [{ type: "image", data: result.base64, mimeType: `image/${result.format}` }] };
  const values = result !== null && typeof result === "object" && !Array.isArray(result) ? result : { result };
  return { content: [{ type: "text", text: values.text ?? values.message ?? JSON.stringify(result) }], structuredContent: values };
}
