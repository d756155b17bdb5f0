// The WebSocket connection to the house: calls, pushes, and reconnecting.

const FIRST_RETRY_MS = 300;
const MAX_RETRY_MS = 8_000;
const SILENCE_TIMEOUT_MS = 45_000; // screens call something every POLL_MS, so a silent connection is dead
export const POLL_MS = 15_000;
const UNAUTHORIZED = 4401;

/** The house refused a call; `code` and `message` are those of the reply. */
export class Refusal extends Error {
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
 * A connection that reconnects until `close()`. Handlers:
 * - state(state, detail): "connecting", "open" or "lost"
 * - ready(refusal): signed in, the first time or again. `refusal`: why the house ended the connection before, where
 *   that was not about the token: the member was removed from a room, for example
 * - push(frame)
 * - refused(refusal, wasSignedIn): the token is not accepted, or not any more; the connection is closed
 */
export class Connection {
  #socket = null;
  #lastId = 0;
  #pending = new Map();
  #attempts = 0;
  #timer = null;
  #ready = false;
  #closed = false;
  #reason = null; // why the house is about to close the connection
  #refusal = null; // why it closed the previous one as unauthorized
  #lastFrameAt = 0;

  constructor(token, handlers) {
    this.token = token;
    this.handlers = handlers;
    this.reconnect = () => this.#closed || this.#ready || this.#connect();
    window.addEventListener("online", this.reconnect);
    this.#connect();
  }

  /** Call a command; rejects with Refusal or ConnectionLost. */
  call(command, args = {}, room = undefined) {
    return this.#send({ command, args, room }, false);
  }

  /** Call a command exactly once: if the connection is lost, it is sent again with the same idempotency key. */
  callOnce(command, args, room) {
    return this.#send({ command, args, room, key: randomKey() }, true);
  }

  close() {
    this.#closed = true;
    window.removeEventListener("online", this.reconnect);
    this.#disconnect();
    for (const call of this.#pending.values()) call.reject(new ConnectionLost());
    this.#pending.clear();
  }

  #send(frame, repeat) {
    return new Promise((resolve, reject) => {
      if (this.#closed || (!this.#ready && !repeat)) {
        reject(new ConnectionLost());
        return;
      }
      const id = ++this.#lastId;
      const text = JSON.stringify({ id, ...frame });
      this.#pending.set(id, { resolve, reject, repeat, text });
      if (this.#ready) this.#socket.send(text);
    });
  }

  #connect() {
    this.#disconnect();
    this.#reason = null;
    this.#lastFrameAt = Date.now();
    this.handlers.state("connecting");
    const url = new URL("ws", location.href.split(/[?#]/)[0]);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = (this.#socket = new WebSocket(url, ["cohabit"]));
    // The token is sent in the first frame, not in a header: proxies log headers, and not every token fits into one.
    socket.onopen = () => socket.send(JSON.stringify({ id: 0, auth: this.token }));
    socket.onmessage = (message) => this.#receive(JSON.parse(message.data));
    socket.onclose = (event) => this.#onClosed(event.code);
    this.#timer = setInterval(() => {
      if (Date.now() - this.#lastFrameAt > SILENCE_TIMEOUT_MS) this.#onClosed(0);
    }, 5_000);
  }

  #disconnect() {
    clearTimeout(this.#timer); // clears intervals too
    this.#ready = false;
    if (this.#socket === null) return;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.#socket = null;
  }

  #receive(frame) {
    this.#lastFrameAt = Date.now();
    if (frame.push) this.handlers.push(frame);
    else if (frame.id === 0 && frame.ok) this.#onSignedIn();
    else if (frame.id === null) this.#reason = frame.error;
    else this.#onReply(frame);
  }

  #onReply(frame) {
    const call = this.#pending.get(frame.id);
    this.#pending.delete(frame.id);
    if (frame.ok) call?.resolve(frame.result);
    else call?.reject(new Refusal(frame.error));
  }

  #onSignedIn() {
    this.#ready = true;
    this.#attempts = 0;
    const refusal = this.#refusal;
    this.#refusal = null;
    this.handlers.state("open");
    for (const { text } of this.#pending.values()) this.#socket.send(text);
    this.handlers.ready(refusal);
  }

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
    this.handlers.state("lost", this.#reason?.message);
  }

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
