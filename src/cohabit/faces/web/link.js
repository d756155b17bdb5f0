// The WebSocket to the house: calls, pushes, and coming back after a loss.

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 8_000;
const SILENCE_MS = 45_000; // every screen asks something every BEAT_MS, so this is a dead line
export const BEAT_MS = 15_000;
const UNAUTHORIZED = 4401;

/** The house said no; `code` and `message` are as the wire has them. */
export class Refusal extends Error {
  constructor(error) {
    super(error?.message ?? "refused");
    this.code = error?.code ?? "INTERNAL";
    this.hints = error?.did_you_mean ?? [];
  }
}

/** The connection went before the answer came. */
export class Lost extends Error {
  constructor() {
    super("the connection was lost before the answer came");
    this.code = "LOST";
  }
}

/**
 * One connection, kept up until `end()`.
 * on.state(state, detail): "connecting", "open", "lost" · on.ready(): now, and after each return
 * on.push(frame) · on.refused(refusal): the token is no good; nothing more will happen.
 */
export class Link {
  #socket = null;
  #next = 0;
  #waiting = new Map();
  #tries = 0;
  #timer = null;
  #ready = false;
  #ended = false;
  #reason = null;
  #heard = 0;

  constructor(token, on) {
    this.token = token;
    this.on = on;
    this.retry = () => this.#ended || this.#ready || this.#connect();
    window.addEventListener("online", this.retry);
    this.#connect();
  }

  /** Ask something; rejects with Refusal or Lost. */
  call(command, args = {}, room = undefined) {
    return this.#ask({ command, args, room }, false);
  }

  /** Do something exactly once: after a loss it is asked again under the same key. */
  surely(command, args, room) {
    return this.#ask({ command, args, room, key: randomKey() }, true);
  }

  end() {
    this.#ended = true;
    window.removeEventListener("online", this.retry);
    this.#drop();
    for (const waiting of this.#waiting.values()) waiting.reject(new Lost());
    this.#waiting.clear();
  }

  #ask(frame, sure) {
    return new Promise((resolve, reject) => {
      if (this.#ended || (!this.#ready && !sure)) {
        reject(new Lost());
        return;
      }
      const id = ++this.#next;
      const text = JSON.stringify({ id, ...frame });
      this.#waiting.set(id, { resolve, reject, sure, text });
      if (this.#ready) this.#socket.send(text);
    });
  }

  #connect() {
    this.#drop();
    this.#reason = null;
    this.#heard = Date.now();
    this.on.state("connecting");
    const url = new URL("ws", location.href.split(/[?#]/)[0]);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = (this.#socket = new WebSocket(url, ["cohabit"]));
    // The token goes as the first frame rather than in a header: proxies log headers, and any token fits.
    socket.onopen = () => socket.send(JSON.stringify({ id: 0, auth: this.token }));
    socket.onmessage = (message) => this.#take(JSON.parse(message.data));
    socket.onclose = (closed) => this.#closed(closed.code);
    this.#timer = setInterval(() => {
      if (Date.now() - this.#heard > SILENCE_MS) this.#closed(0);
    }, 5_000);
  }

  #drop() {
    clearTimeout(this.#timer); // also ends an interval
    this.#ready = false;
    if (this.#socket === null) return;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.#socket = null;
  }

  #take(frame) {
    this.#heard = Date.now();
    if (frame.push) this.on.push(frame);
    else if (frame.id === 0 && frame.ok) this.#welcome();
    else if (frame.id === null) this.#reason = frame.error; // why it is about to hang up
    else this.#answer(frame);
  }

  #answer(frame) {
    const waiting = this.#waiting.get(frame.id);
    this.#waiting.delete(frame.id);
    if (frame.ok) waiting?.resolve(frame.result);
    else waiting?.reject(new Refusal(frame.error));
  }

  #welcome() {
    this.#ready = true;
    this.#tries = 0;
    this.on.state("open");
    for (const { text } of this.#waiting.values()) this.#socket.send(text);
    this.on.ready();
  }

  #closed(code) {
    this.#drop();
    for (const [id, waiting] of this.#waiting) {
      if (waiting.sure) continue;
      this.#waiting.delete(id);
      waiting.reject(new Lost());
    }
    if (code === UNAUTHORIZED || this.#reason?.code === "UNAUTHORIZED") {
      this.end();
      this.on.refused(new Refusal(this.#reason ?? { code: "UNAUTHORIZED", message: "this token is not accepted" }));
      return;
    }
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#tries++) * (0.75 + Math.random() / 2);
    this.#timer = setTimeout(() => this.#connect(), wait);
    this.on.state("lost", this.#reason?.message);
  }
}

function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID is only there over TLS or on loopback
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}
