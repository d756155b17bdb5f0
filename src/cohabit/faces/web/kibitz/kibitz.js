// Agents in a room, in the vocabulary of Kibitz: `createAgent` on any controller, and `connect`, a controller of a
// Cohabit house over WebSocket. One file without imports: a module, or the global `Kibitz` (see kibitz.global.js).

/**
 * @typedef {{ id: string, name: string, isSelf?: boolean, here?: boolean, role?: string, features?: string[],
 *   meta?: Record<string, any> }} Participant
 * @typedef {{ from: string, name: string, version: string, schema: any }} AppSchema
 * @typedef {{ from: string, name: string, text: string }} Chat
 * @typedef {() => void} Unsubscribe
 * @typedef {{ role: "agent", readOnly: boolean, backend?: string, egress?: boolean }} AgentMeta
 */

/**
 * The part of a room that an agent needs. `broadcast` and `sendTo` may return a promise that rejects if they are refused.
 *
 * @typedef {{
 *   broadcast(data: any): any,
 *   sendTo(data: any, id: string): any,
 *   onMessage(listener: (data: any, from: string) => void): Unsubscribe,
 *   getParticipants(): Participant[],
 *   on(event: "participants", listener: (people: Participant[]) => void): Unsubscribe,
 *   setMeta(meta: AgentMeta): any,
 *   leave(): any,
 *   getSchemas?(): AppSchema[],
 *   onSchema?(listener: (schema: AppSchema) => void): Unsubscribe,
 *   getView?(): any,
 *   viewOwner?(): string | null,
 * }} Controller
 */

/**
 * An app on the same page that shows one participant its own view.
 *
 * @typedef {{
 *   onView(listener: (view: any) => void): Unsubscribe,
 *   getView(): any,
 *   onChat(listener: (message: Chat) => void): Unsubscribe,
 *   say(text: string): any,
 * }} Bridge
 */

/** @typedef {{ readOnly?: boolean, backend?: string, egress?: boolean }} AgentOptions */
/** @typedef {{ ready(now: number): boolean, stamp(now: number): void }} Cooldown */
/** @typedef {Pick<AgentSession, "onView" | "getView" | "onChat" | "say" | "canAct">} BridgeAgent */

/**
 * @typedef {{
 *   canAct: boolean,
 *   onView(listener: (view: any) => void): Unsubscribe,
 *   getView(): any,
 *   onChat(listener: (message: Chat) => void): Unsubscribe,
 *   onData(listener: (data: any, from: string) => void): Unsubscribe,
 *   onRoster(listener: (people: Participant[]) => void): Unsubscribe,
 *   getRoster(): Participant[],
 *   onSchema(listener: (schema: AppSchema) => void): Unsubscribe,
 *   getSchemas(): AppSchema[],
 *   say(text: string): any,
 *   act(action: any): any,
 *   send(data: any, to?: string): any,
 *   leave(): any,
 * }} AgentSession
 */

/** The reserved key of an envelope. */
const KEY = "__kib_agent";

/** The kind of an envelope; undefined for data that is none. @param {any} data @returns {string | undefined} */
function envelopeKind(data) {
  const kind = typeof data === "object" && data !== null ? data[KEY] : undefined;
  return typeof kind === "string" ? kind : undefined;
}

/** Additive listeners. One that throws does not stop the others. @template {any[]} A */
class Listeners {
  /** @type {Set<{ call: (...args: A) => void }>} */
  #all = new Set();

  /** @param {(...args: A) => void} listener @returns {Unsubscribe} */
  add(listener) {
    const entry = { call: listener };
    this.#all.add(entry);
    return () => void this.#all.delete(entry);
  }

  /** @param {A} args */
  tell(...args) {
    for (const entry of [...this.#all]) {
      try {
        entry.call(...args);
      } catch (error) {
        console.error("a listener failed:", error);
      }
    }
  }
}

/** @param {boolean} readOnly @param {string} name */
function refuseReadOnly(readOnly, name) {
  if (readOnly) throw new Error(`this agent is read-only: it cannot ${name}`);
}

/**
 * An agent in a room. With `readOnly` it only perceives: `say`, `act` and `send` throw. The room enforces what the agent
 * may do all the same.
 *
 * @param {Controller} controller
 * @param {AgentOptions} [options] backend: the model that gets what the agent sees; egress: it leaves the room
 * @returns {AgentSession}
 */
export function createAgent(controller, options = {}) {
  const readOnly = options.readOnly ?? false;
  /** @type {Listeners<[Chat]>} */
  const chats = new Listeners();
  /** @type {Listeners<[any]>} */
  const views = new Listeners();
  /** @type {Listeners<[any, string]>} */
  const datas = new Listeners();
  let view = controller.getView?.() ?? null;
  /** @type {string | null} */
  let firstOwner = null;

  /** @type {AgentMeta} */
  const meta = { role: "agent", readOnly };
  if (options.backend !== undefined) meta.backend = options.backend;
  if (options.backend !== undefined || options.egress) meta.egress = true;
  else if (options.egress === false) meta.egress = false;
  controller.setMeta(meta);

  /** A view counts only if it comes from the app that owns it. @param {string} from */
  function ownsView(from) {
    if (controller.viewOwner) return controller.viewOwner() === from;
    const isHere = controller.getParticipants().some((person) => person.id === firstOwner);
    if (firstOwner === null || !isHere) firstOwner = from;
    return firstOwner === from;
  }

  const stop = controller.onMessage((data, from) => {
    const kind = envelopeKind(data);
    if (kind === undefined) datas.tell(data, from);
    else if (kind === "chat") {
      const name = controller.getParticipants().find((person) => person.id === from)?.name ?? "";
      chats.tell({ from, name, text: String(data.text ?? "") });
    } else if (kind === "view" && ownsView(from)) {
      view = data.view ?? null;
      views.tell(view);
    }
  });

  return {
    canAct: !readOnly,
    onView: (listener) => views.add(listener),
    getView: () => view,
    onChat: (listener) => chats.add(listener),
    onData: (listener) => datas.add(listener),
    onRoster: (listener) => controller.on("participants", listener),
    getRoster: () => controller.getParticipants(),
    onSchema: (listener) => controller.onSchema?.(listener) ?? (() => {}),
    getSchemas: () => controller.getSchemas?.() ?? [],
    say(text) {
      refuseReadOnly(readOnly, "say");
      return controller.broadcast({ [KEY]: "chat", text });
    },
    act(action) {
      refuseReadOnly(readOnly, "act");
      return controller.broadcast({ [KEY]: "act", action });
    },
    send(data, to) {
      refuseReadOnly(readOnly, "send");
      return to === undefined ? controller.broadcast(data) : controller.sendTo(data, to);
    },
    leave() {
      stop();
      return controller.leave();
    },
  };
}

/**
 * An agent on an app that shows it a view of its own, such as one player's hand. It perceives and talks, no more.
 *
 * @param {Bridge} bridge
 * @param {{ readOnly?: boolean }} [options]
 * @returns {BridgeAgent}
 */
export function createAgentFromBridge(bridge, options = {}) {
  const readOnly = options.readOnly ?? false;
  return {
    canAct: !readOnly,
    onView: (listener) => bridge.onView(listener),
    getView: () => bridge.getView(),
    onChat: (listener) => bridge.onChat(listener),
    say(text) {
      refuseReadOnly(readOnly, "say");
      return bridge.say(text);
    },
  };
}

/**
 * A gate for remarks: `ready` once `ms` have passed since the last `stamp`. Answers to people can skip it.
 *
 * @param {number} ms
 * @returns {Cooldown}
 */
export function cooldown(ms) {
  let last = -Infinity;
  return {
    ready: (now) => now - last >= ms,
    stamp(now) {
      last = now;
    },
  };
}

// -- the connection to a house -------------------------------------------------------------------
const FIRST_RETRY_MS = 300;
const MAX_RETRY_MS = 8_000;
const SIGN_IN_MS = 10_000;
const UNAUTHORIZED = 4401;
const OPEN = 1; // the `readyState` of a WebSocket

/** The house refused a call; `code` and `message` are those of the reply. */
export class Refusal extends Error {
  /** @param {{ code?: string, message?: string } | null} [error] */
  constructor(error) {
    super(error?.message ?? "refused");
    this.code = error?.code ?? "INTERNAL";
  }
}

/** The connection was lost before the reply arrived. */
export class ConnectionLost extends Error {
  constructor() {
    super("the connection was lost before the reply arrived");
    this.code = "LOST";
  }
}

/**
 * The events of a connection. `ready`: signed in, the first time or again; `refusal` is why the house ended the
 * connection before, where that was not about the token. `refused`: the token is not accepted, or not any more, and the
 * connection is closed.
 *
 * @typedef {{
 *   state?(state: "connecting" | "open" | "lost", detail?: string): void,
 *   ready(refusal: Refusal | null): void,
 *   push(frame: any): void,
 *   media?(frame: ArrayBuffer): void,
 *   refused(refusal: Refusal, wasSignedIn: boolean): void,
 * }} Handlers
 */

/** @typedef {{ WebSocket?: any, silenceMs?: number, watching?: boolean }} SocketOptions */

/**
 * A WebSocket to a house that reconnects until `close()`. `silenceMs`: a connection that is silent for so long is dead.
 * `watching`: an agent that plays the member's seat plays on until something is done here.
 */
export class HouseConnection {
  /** @type {any} */
  #socket = null;
  #lastId = 0;
  /** @type {Map<number, { resolve(result: any): void, reject(error: Error): void, repeat: boolean, text: string }>} */
  #pending = new Map();
  #attempts = 0;
  /** @type {any} */
  #timer = null;
  #ready = false;
  #closed = false;
  /** @type {any} why the house is about to close the connection */
  #reason = null;
  /** @type {Refusal | null} why it closed the previous one as unauthorized */
  #refusal = null;
  #lastFrameAt = 0;

  /**
   * @param {string | URL} address of the WebSocket
   * @param {string} token
   * @param {Handlers} handlers
   * @param {SocketOptions} [options]
   */
  constructor(address, token, handlers, options = {}) {
    this.address = address;
    this.token = token;
    this.handlers = handlers;
    this.silenceMs = options.silenceMs ?? 0;
    this.protocols = options.watching ? ["cohabit", "watching"] : ["cohabit"];
    this.WebSocket = options.WebSocket ?? globalThis.WebSocket;
    if (!this.WebSocket) throw new Error("this runtime has no WebSocket; pass one: connect(url, token, room, { WebSocket })");
    this.reconnect = () => void (this.#closed || this.#ready || this.#connect());
    globalThis.addEventListener?.("online", this.reconnect);
    this.#connect();
  }

  /** Call a command; rejects with Refusal or ConnectionLost. @param {string} command @param {any} [args] @param {string} [room] */
  call(command, args = {}, room = undefined) {
    return this.#send({ command, args, room }, false);
  }

  /**
   * Call a command exactly once: if the connection is lost, it is sent again with the same idempotency key.
   *
   * @param {string} command @param {any} [args] @param {string} [room]
   */
  callOnce(command, args, room) {
    return this.#send({ command, args, room, key: randomKey() }, true);
  }

  /** Send bytes; dropped while there is no connection. @param {Uint8Array} bytes */
  sendBytes(bytes) {
    if (this.#ready) this.#transmit(bytes);
  }

  /** Give up this connection, and connect again after a while. */
  retry() {
    if (!this.#closed) this.#onClosed(0);
  }

  close() {
    this.#closed = true;
    globalThis.removeEventListener?.("online", this.reconnect);
    this.#disconnect();
    for (const call of this.#pending.values()) call.reject(new ConnectionLost());
    this.#pending.clear();
  }

  /** @param {any} frame @param {boolean} repeat @returns {Promise<any>} */
  #send(frame, repeat) {
    return new Promise((resolve, reject) => {
      if (this.#closed || (!this.#ready && !repeat)) {
        reject(new ConnectionLost());
        return;
      }
      const id = ++this.#lastId;
      const text = JSON.stringify({ id, ...frame });
      this.#pending.set(id, { resolve, reject, repeat, text });
      if (this.#ready) this.#transmit(text);
    });
  }

  /** A socket that is closing takes nothing more. Its calls are rejected, or repeated, when it is closed. @param {string | Uint8Array} data */
  #transmit(data) {
    if (this.#socket.readyState === OPEN) this.#socket.send(data);
  }

  /** Sign in with another token. @param {string} token */
  signIn(token) {
    this.token = token;
    this.#connect();
  }

  #connect() {
    this.#disconnect();
    this.#reason = null;
    this.#lastFrameAt = Date.now();
    this.handlers.state?.("connecting");
    const socket = (this.#socket = new this.WebSocket(this.address, this.protocols));
    socket.binaryType = "arraybuffer";
    // The token is sent in the first frame, not in a header: proxies log headers, and not every token fits into one.
    let isOpen = false;
    socket.onopen = () => {
      isOpen = true;
      socket.send(JSON.stringify({ id: 0, auth: this.token }));
    };
    socket.onmessage = (/** @type {any} */ message) => this.#receive(message.data);
    socket.onclose = (/** @type {any} */ event) => this.#onClosed(event.code);
    socket.onerror = () => void (isOpen || this.#onClosed(0)); // Node tells a failed connection with an error alone
    this.#timer = setTimeout(() => this.#onClosed(0), SIGN_IN_MS); // nobody answers
  }

  #disconnect() {
    clearTimeout(this.#timer); // clears intervals too
    this.#ready = false;
    if (this.#socket === null) return;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.onerror = () => {}; // of a socket that is closed before it is open
    this.#socket.close();
    this.#socket = null;
  }

  /** @param {string | ArrayBuffer} data */
  #receive(data) {
    this.#lastFrameAt = Date.now();
    if (typeof data !== "string") {
      this.handlers.media?.(data);
      return;
    }
    const frame = JSON.parse(data);
    if (frame.push) this.handlers.push(frame);
    else if (frame.id === 0 && frame.ok) this.#onSignedIn();
    else if (frame.id === null) this.#reason = frame.error;
    else this.#onReply(frame);
  }

  /** @param {any} frame */
  #onReply(frame) {
    const call = this.#pending.get(frame.id);
    this.#pending.delete(frame.id);
    if (frame.ok) call?.resolve(frame.result);
    else call?.reject(new Refusal(frame.error));
  }

  #onSignedIn() {
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => {
      if (this.silenceMs && Date.now() - this.#lastFrameAt > this.silenceMs) this.#onClosed(0);
    }, 5_000);
    this.#ready = true;
    this.#attempts = 0;
    const refusal = this.#refusal;
    this.#refusal = null;
    this.handlers.state?.("open");
    for (const { text } of this.#pending.values()) this.#transmit(text);
    this.handlers.ready(refusal);
  }

  /** @param {number} code */
  #onClosed(code) {
    const wasSignedIn = this.#ready;
    this.#disconnect();
    for (const [id, call] of this.#pending) {
      if (call.repeat) continue;
      this.#pending.delete(id);
      call.reject(new ConnectionLost());
    }
    if (code === UNAUTHORIZED || this.#reason?.code === "UNAUTHORIZED") {
      this.#onUnauthorized(wasSignedIn);
      return;
    }
    const wait = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#attempts++) * (0.75 + Math.random() / 2);
    this.#timer = setTimeout(() => this.#connect(), wait);
    this.handlers.state?.("lost", this.#reason?.message);
  }

  /** @param {boolean} wasSignedIn */
  #onUnauthorized(wasSignedIn) {
    const refusal = new Refusal(this.#reason ?? { code: "UNAUTHORIZED", message: "this token is not accepted" });
    if (wasSignedIn) {
      // Was the token revoked, or was its member removed from one room of several? Signing in again tells.
      this.#refusal = refusal;
      this.#connect();
      return;
    }
    this.close();
    this.handlers.refused(this.#refusal ?? refusal, this.#refusal !== null);
  }
}

function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID needs TLS or a loopback address
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

// -- a controller of a room in a house -----------------------------------------------------------
/** The sender of views that the room's world makes. No member can have this handle. */
export const WORLD = "#world";
const RETRY_SUBSCRIBING_MS = 15_000;
const POLL_MS = 15_000;
const JOIN_WAIT_MS = 20_000;
const SILENCE_MS = 45_000; // something is asked every POLL_MS, so a silent connection is dead
const LANES = ["audio", "screen"];

/**
 * @typedef {{
 *   app?: string,
 *   media?: boolean,
 *   WebSocket?: any,
 *   features?: string[],
 * }} ConnectOptions app: the member whose views count, if the room has several apps; media: receive audio and screens
 */

/**
 * A controller of a room in a house. Rejects if that fails the first time. Later it reconnects by itself and resumes where
 * it was, without loss or repetition.
 *
 * @param {string | URL} url of the house, such as https://example.org
 * @param {string} token
 * @param {string} [room] not needed if the token is for one room
 * @param {ConnectOptions} [options]
 * @returns {Promise<RoomController>}
 */
export function connect(url, token, room, options = {}) {
  const controller = new RoomController(url, token, room, options);
  return controller.opened.then(() => controller);
}

/** See `connect`. */
export class RoomController {
  /** @type {Listeners<[any, string]>} */
  #messages = new Listeners();
  /** @type {Listeners<[Participant[]]>} */
  #rosters = new Listeners();
  /** @type {Listeners<[AppSchema]>} */
  #schemaListeners = new Listeners();
  /** @type {Listeners<[Refusal]>} */
  #refusals = new Listeners();
  /** @type {Listeners<[string, Uint8Array, string]>} */
  #media = new Listeners();
  /** @type {Participant[]} */
  #people = [];
  /** @type {Map<string, AppSchema>} */
  #schemas = new Map();
  /** @type {any} */
  #view = null;
  /** @type {string | null} */
  #owner = null;
  /** @type {string | null} */
  #cursor = null;
  /** @type {Error | null} */
  #ended = null; // why the house does not let us in any more
  #subscribed = false;
  #closed = false;
  #isOpen = false;
  #isPlayed = true;
  #rosterWanted = 0;
  /** @type {any} */
  #retry = null;
  /** @type {any} */
  #polling = null;
  /** @type {() => void} */
  #resolveOpened = () => {};
  /** @type {(reason: Error) => void} */
  #rejectOpened = () => {};

  /** @param {string | URL} url @param {string} token @param {string} [room] @param {ConnectOptions} [options] */
  constructor(url, token, room, options = {}) {
    this.room = room;
    this.id = "";
    this.options = options;
    /** @type {Promise<void>} */
    this.opened = new Promise((resolve, reject) => {
      this.#resolveOpened = resolve;
      this.#rejectOpened = reject;
    });
    const address = new URL("ws", String(url).replace(/[?#].*$/, "").replace(/\/?$/, "/"));
    address.protocol = address.protocol.replace("http", "ws");
    const handlers = {
      state: (/** @type {string} */ state) => {
        if (state !== "lost" || this.#isOpen) return;
        this.#end(new Refusal({ code: "UNREACHABLE", message: `cannot connect to ${url}` }));
      },
      ready: () => this.#start(),
      push: (/** @type {any} */ frame) => this.#push(frame),
      media: (/** @type {ArrayBuffer} */ frame) => this.#onMedia(new Uint8Array(frame)),
      refused: (/** @type {Refusal} */ refusal) => this.#end(refusal),
    };
    const how = { WebSocket: options.WebSocket, silenceMs: SILENCE_MS };
    this.connection = new HouseConnection(address, token, handlers, how);
    this.#polling = setInterval(() => this.connection.call("whoami", {}, this.room).catch(() => {}), POLL_MS);
  }

  /** The token of the member. With a shared invite it is not that of the invite: keep it for the next time. */
  get token() {
    return this.connection.token;
  }

  // -- sending ---------------------------------------------------------------------------------
  /** @param {any} data @returns {Promise<any>} */
  broadcast(data) {
    return this.#deliver(data, undefined);
  }

  /** @param {any} data @param {string} id @returns {Promise<any>} */
  sendTo(data, id) {
    return this.#deliver(data, id);
  }

  /** @param {any} data @param {string | undefined} to */
  #deliver(data, to) {
    const kind = envelopeKind(data);
    if (kind === undefined) return this.call("send_data", to === undefined ? { data } : { data, to });
    if (kind === "chat") return this.call("send_message", { to: to ?? "*", content: data.text });
    if (kind === "view") return this.call("publish_view", to === undefined ? { view: data.view } : { view: data.view, to: [to] });
    if (kind === "act") return this.#act(data.action, to);
    return Promise.resolve(null); // an envelope of an unknown kind reaches nobody
  }

  /** An action of the room's world, or a request to an app. @param {any} action @param {string | undefined} app */
  #act(action, app) {
    const ofWorld = this.#isPlayed && app === undefined && typeof action?.action === "string";
    return ofWorld ? this.call("act", action) : this.call("request_action", { action, app });
  }

  /**
   * Call a command of the house, exactly once. A refusal rejects the promise and is told to `on("refused")`; nobody has
   * to handle the promise.
   *
   * @param {string} command @param {any} [args] @returns {Promise<any>}
   */
  call(command, args = {}) {
    const reply = this.#ended ? Promise.reject(this.#ended) : this.connection.callOnce(command, args, this.room);
    reply.catch((error) => this.#refusals.tell(error));
    return reply;
  }

  /** Send a frame of sound or of a screen. There is no error if it does not arrive. @param {"audio" | "screen"} lane @param {Uint8Array} bytes */
  sendMedia(lane, bytes) {
    const frame = new Uint8Array(1 + bytes.length);
    frame[0] = 1 + LANES.indexOf(lane);
    frame.set(bytes, 1);
    this.connection.sendBytes(frame);
  }

  /** @param {string} name @param {string} version @param {any} schema */
  registerSchema(name, version, schema) {
    return this.call("publish_schema", { name, version, schema });
  }

  /** The role cannot be set: it comes from the credential. @param {Partial<AgentMeta>} meta */
  setMeta(meta) {
    const { features } = this.options;
    if (meta.backend === undefined && meta.egress === undefined && !features) return Promise.resolve(null);
    const said = { backend: meta.backend ?? null, egress: meta.egress ?? false, features };
    return this.call("disclose", said).then(
      (told) => {
        this.#subscribe().catch(() => {}); // the room may show more now
        return told;
      },
      () => null,
    );
  }

  /** Disconnect. The member stays in the roster of the house and can reconnect. */
  leave() {
    this.#closed = true;
    clearTimeout(this.#retry);
    clearInterval(this.#polling);
    this.connection.close();
  }

  // -- perceiving ------------------------------------------------------------------------------
  /** @param {(data: any, from: string) => void} listener */
  onMessage(listener) {
    return this.#messages.add(listener);
  }

  getParticipants() {
    return this.#people;
  }

  /**
   * @overload
   * @param {"participants"} event
   * @param {(people: Participant[]) => void} listener
   * @returns {Unsubscribe}
   */
  /**
   * @overload
   * @param {"refused"} event
   * @param {(refusal: Refusal) => void} listener
   * @returns {Unsubscribe}
   */
  /** @param {"participants" | "refused"} event @param {(told: any) => void} listener @returns {Unsubscribe} */
  on(event, listener) {
    if (event === "refused") return this.#refusals.add(listener);
    if (event === "participants") return this.#rosters.add(listener);
    throw new TypeError(`there is no event "${event}"; there are "participants" and "refused"`);
  }

  getSchemas() {
    return [...this.#schemas.values()];
  }

  /** @param {(schema: AppSchema) => void} listener */
  onSchema(listener) {
    return this.#schemaListeners.add(listener);
  }

  /** @param {(lane: string, bytes: Uint8Array, from: string) => void} listener */
  onMedia(listener) {
    return this.#media.add(listener);
  }

  /** The newest view of the app or the world that owns it. */
  getView() {
    return this.#view;
  }

  /** The owner of the views: the room's world if there is a game, else the app that published first. */
  viewOwner() {
    return this.#owner;
  }

  // -- the connection --------------------------------------------------------------------------
  /** The member of this token. With the token of an invite it joins first, and waits in the lobby if there is one. */
  async #whoAmI() {
    try {
      return await this.connection.call("whoami", {}, this.room);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== "UNKNOWN_ROOM") throw error;
    }
    const join = () => this.connection.call("join", { wait_ms: JOIN_WAIT_MS }, this.room);
    let joined = await join();
    if (joined.token) {
      this.connection.signIn(joined.token); // the invite is shared: from now on the member has a token of its own
      throw new ConnectionLost();
    }
    while (joined.status === "waiting" || joined.status === "locked") joined = await join();
    if (joined.status !== "joined") throw new Refusal({ code: "UNAUTHORIZED", message: "a host denied you entry" });
    return this.connection.call("whoami", {}, this.room);
  }

  async #start() {
    this.#subscribed = false;
    try {
      const me = await this.#whoAmI();
      const session = await this.connection.call("session_info", {}, this.room);
      this.id = me.handle;
      this.room = me.room;
      this.#isPlayed = session.is_played ?? true;
      this.#owner ??= this.options.app ?? (this.#isPlayed ? WORLD : null);
      await this.#subscribe();
      if (!this.#subscribed) await this.#fetchRoster(); // what the grant shows of it
      this.#isOpen = true;
      this.#resolveOpened();
    } catch (error) {
      if (error instanceof ConnectionLost) return; // it starts again
      const refusal = /** @type {Refusal} */ (error);
      const isFinal = !this.#isOpen || refusal.code === "UNAUTHORIZED" || refusal.code === "UNKNOWN_ROOM";
      if (isFinal) this.#end(refusal);
      else this.connection.retry(); // the house is closing, for example
    }
  }

  /** @param {Error} reason */
  #end(reason) {
    this.#ended = reason;
    this.leave();
    this.#rejectOpened(reason);
    this.#refusals.tell(/** @type {Refusal} */ (reason));
  }

  /** Subscribe from the last cursor. Without the right to see anything, try again later: the grant may change. */
  async #subscribe() {
    if (this.#subscribed || this.#closed) return;
    clearTimeout(this.#retry);
    this.#subscribed = true;
    const read = (/** @type {string} */ command, /** @type {any} */ args) => this.connection.call(command, args, this.room);
    try {
      const resumed = this.#cursor !== null;
      this.#cursor ??= (await read("events", { last: 1 })).cursor;
      const how = { views: this.#isPlayed, media: this.options.media ?? false };
      try {
        await read("subscribe", { cursor: this.#cursor, ...how });
      } catch (error) {
        if (/** @type {any} */ (error).code !== "BAD_ARGS" || !resumed) throw error;
        this.#cursor = (await read("events", { last: 1 })).cursor; // the events after the old cursor are no longer kept
        await read("subscribe", { cursor: this.#cursor, ...how });
      }
      await this.#fetchSchemas();
      await this.#fetchRoster();
      if (!this.#isPlayed && !resumed) await this.#fetchAppView();
    } catch (error) {
      this.#subscribed = false;
      if (/** @type {any} */ (error).code !== "PERMISSION_DENIED") throw error;
      this.#retry = setTimeout(() => this.#subscribe().catch(() => {}), RETRY_SUBSCRIBING_MS);
    }
  }

  async #fetchAppView() {
    const before = this.#view;
    const args = this.options.app === undefined ? {} : { app: this.options.app };
    const found = await this.#readOr("app_view", args, null);
    if (found?.app && this.#view === before) this.#onView(found.view ?? null, found.app);
  }

  async #fetchSchemas() {
    const { schemas } = await this.#readOr("app_schemas", {}, { schemas: [] });
    const fresh = [];
    for (const { app, name, version, schema } of schemas) {
      const made = { from: app, name, version, schema };
      const key = JSON.stringify([app, name]);
      if (JSON.stringify(this.#schemas.get(key)) !== JSON.stringify(made)) fresh.push(made);
      this.#schemas.set(key, made);
    }
    for (const made of fresh) this.#schemaListeners.tell(made);
  }

  /** One request at a time, and one more if something changed meanwhile. */
  async #fetchRoster() {
    if (this.#rosterWanted++) return;
    try {
      for (let seen = 0; seen !== this.#rosterWanted; ) {
        seen = this.#rosterWanted;
        const { members } = await this.#readOr("roster", {}, { members: [] });
        this.#people = members.map((/** @type {any} */ line) => this.#participant(line));
        this.#rosters.tell(this.#people);
      }
    } finally {
      this.#rosterWanted = 0;
    }
  }

  /** @param {any} line @returns {Participant} */
  #participant(line) {
    /** @type {Record<string, any>} */
    const meta = {};
    if (line.kind === "agent") meta.role = "agent";
    if (line.backend) meta.backend = line.backend;
    if (line.egress) meta.egress = true;
    return {
      id: line.handle, name: line.name || line.handle, isSelf: line.handle === this.id, here: line.here,
      role: line.role === "host" ? "host" : "guest", features: line.features ?? [], meta,
    };
  }

  /** The reply of a command, or `nothing` where the grant does not allow it. @param {string} command @param {any} args @param {any} nothing */
  async #readOr(command, args, nothing) {
    try {
      return await this.connection.call(command, args, this.room);
    } catch (error) {
      if (error instanceof Refusal) return nothing;
      throw error;
    }
  }

  // -- pushes ----------------------------------------------------------------------------------
  /** @param {any} frame */
  #push(frame) {
    if (frame.room !== this.room) return;
    if (frame.push === "events") {
      for (const item of frame.items) this.#onEvent(item);
      this.#cursor = frame.cursor;
    } else if (frame.push === "view") this.#onView(frame.view, WORLD);
    else if (frame.push === "grant") this.#fetchRoster().catch(() => {});
    else if (frame.push === "refused") this.#refusals.tell(new Refusal(frame.error));
  }

  /** @param {any} item */
  #onEvent(item) {
    const kind = item.kind ?? "info";
    if (kind === "roster") this.#fetchRoster().catch(() => {});
    if (item.do === "publish_schema") this.#fetchSchemas().catch(() => {});
    if (!item.by || item.by === this.id) return; // a sender does not receive its own messages
    if (kind === "chat" || kind === "direct") this.#messages.tell({ [KEY]: "chat", text: spoken(item) }, item.by);
    else if (item.do === "publish_view") this.#onView(item.data ?? null, item.by);
    else if (kind === "app action") this.#messages.tell({ [KEY]: "act", action: item.data ?? null }, item.by);
    else if (item.do === "send_data" && envelopeKind(item.data) === undefined) this.#messages.tell(item.data ?? null, item.by);
  }

  /** @param {any} view @param {string} from */
  #onView(view, from) {
    this.#owner ??= from;
    if (from === this.#owner) this.#view = view;
    this.#messages.tell({ [KEY]: "view", view }, from);
  }

  /** lane, length of the handle (2 bytes), handle, payload. @param {Uint8Array} frame */
  #onMedia(frame) {
    const lane = LANES[frame[0] - 1];
    const end = 3 + ((frame[1] << 8) | frame[2]);
    if (lane) this.#media.tell(lane, frame.slice(end), new TextDecoder().decode(frame.subarray(3, end)));
  }
}

/** The words of a message: its text is "AUTHOR to RECEIVER: WORDS". @param {any} item */
function spoken({ by, text }) {
  const rest = text.startsWith(`${by} to `) ? text.slice(by.length + 4) : `: ${text}`;
  return rest.slice(rest.indexOf(": ") + 2);
}
