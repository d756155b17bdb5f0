// The host of a front end: an MCP App in a sandboxed frame. The document has no token and no network. The page shows
// live rooms with it, the player films.

import { h } from "./elements.js";

const PROTOCOL = "2026-01-26";
const MAX_MESSAGE = 64 * 1024; // characters of JSON that a document may send at once
const MAX_CALLS = 6; // unanswered calls
const MESSAGES_PER_SECOND = 40;
const BURST = 120;
const MODE = "fullscreen"; // the frame has a size of its own, and the document fills it
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

export class Host {
  #frame = null;
  #html = "";
  #isReady = false; // the document has said that it is initialized; before that it is sent nothing
  #result = null; // of the newest view
  #calls = 0;
  controls = []; // what people can do in the document: commands, or true for all
  #tokens = BURST; // of a token bucket: each message takes one
  #filledAt = performance.now();

  /**
   * `commandOf(name)`: a function of arguments for a tool that the document may call. `tools()`: all of them, as MCP lists
   * them. `uri` of the document. `address` of an empty frame of the house; without one the document is put into the page.
   * `context`: more of the host context. `onKey(key)`: keys that the document does not use.
   */
  constructor({ commandOf, tools = () => [], uri = "ui://cohabit/front_end", address = "", context = {}, title, onKey }) {
    Object.assign(this, { commandOf, tools, uri, address, context, title, onKey });
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

  /** True if people can use this command in the document. */
  offers(command) {
    return this.controls === true || this.controls.includes(command);
  }

  /** Show the document of a world. */
  show(html) {
    if (this.#frame && html === this.#html) return;
    this.#remove();
    this.#html = html;
    // Without allow-same-origin the document has an origin of its own: no storage, no cookies, no access to this page.
    this.#frame = h("iframe", {
      class: "front-end-frame", title: this.title, sandbox: "allow-scripts", referrerpolicy: "no-referrer",
      allow: "camera 'none'; microphone 'none'; geolocation 'none'; clipboard-read 'none'; clipboard-write 'none'",
      ...(this.address ? { src: this.address } : { srcdoc: html }),
    });
    this.element.prepend(this.#frame);
    this.element.hidden = false;
    this.notice.hidden = true;
  }

  /** Tell the document what is to be seen now; null: nothing. */
  update(view) {
    this.#result = view && { content: [{ type: "text", text: view.text }], structuredContent: view };
    if (this.#result) this.#notify("ui/notifications/tool-result", this.#result);
  }

  hide() {
    this.#remove();
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
    this.controls = [];
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
    } else if (method === "ui/notifications/cohabit/key" && typeof params.key === "string") {
      this.onKey?.(params.key);
    }
  }

  #onRequest(method, params) {
    switch (method) {
      case "ui/initialize": return this.#initialize(params);
      case "ping": return {};
      case "tools/list": return { tools: this.tools() };
      case "tools/call": return this.#callTool(params);
      case "resources/read": return this.#read(params);
      case "ui/request-display-mode": return { mode: MODE };
      case "ui/open-link": throw new Refused(ERRORS.refused, "this host opens no links");
      default: throw new Refused(ERRORS.unknownMethod, `unknown method ${method.slice(0, 80)}`);
    }
  }

  // -- answers -----------------------------------------------------------------------------------
  #initialize({ appCapabilities }) {
    const { controls } = appCapabilities?.experimental?.cohabit ?? {};
    this.controls = controls === true || Array.isArray(controls) ? controls : [];
    this.onControls?.();
    return {
      protocolVersion: PROTOCOL,
      hostInfo: { name: "cohabit", version: "1" },
      hostCapabilities: { serverTools: {}, serverResources: {}, sandbox: { csp: {} } },
      hostContext: {
        ...this.#look(), displayMode: MODE, availableDisplayModes: [MODE], platform: "web",
        locale: navigator.language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        containerDimensions: { width: this.#frame.clientWidth, height: this.#frame.clientHeight },
        deviceCapabilities: { touch: navigator.maxTouchPoints > 0, hover: matchMedia("(hover: hover)").matches },
        ...this.context,
      },
    };
  }

  #look() {
    const ours = getComputedStyle(document.documentElement);
    const variables = Object.fromEntries(Object.entries(STYLES).map(([theirs, name]) => [theirs, ours.getPropertyValue(name).trim()]));
    return { theme: this.dark.matches ? "dark" : "light", styles: { variables } };
  }

  #read({ uri }) {
    if (uri !== this.uri) throw new Refused(ERRORS.badParams, "a document can read itself only");
    return { contents: [{ uri, mimeType: "text/html;profile=mcp-app", text: this.#html }] };
  }

  async #callTool({ name, arguments: args = {} }) {
    const command = typeof name === "string" ? this.commandOf(name) : undefined;
    if (!command) throw new Refused(ERRORS.badParams, "a document cannot call this tool");
    if (args === null || typeof args !== "object" || Array.isArray(args)) throw new Refused(ERRORS.badParams, "arguments must be an object");
    if (this.#calls >= MAX_CALLS) throw new Refused(ERRORS.refused, `a document has at most ${MAX_CALLS} calls at a time`);
    this.#calls += 1;
    try {
      return toolResult(await command(args));
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

/** The result of a command as MCP has it. */
function toolResult(result) {
  if (result?.format && result.base64) return { content: [{ type: "image", data: result.base64, mimeType: `image/${result.format}` }] };
  const values = result !== null && typeof result === "object" && !Array.isArray(result) ? result : { result };
  return { content: [{ type: "text", text: values.text ?? values.message ?? JSON.stringify(result) }], structuredContent: values };
}
