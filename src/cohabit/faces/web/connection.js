// The WebSocket connection of the page to its house.

import { HouseConnection } from "./kibitz/kibitz.js";

export { ConnectionLost, Refusal } from "./kibitz/kibitz.js";

const SILENCE_TIMEOUT_MS = 45_000; // screens call something every POLL_MS, so a silent connection is dead
export const POLL_MS = 15_000;

/** A connection that reconnects until `close()`; see HouseConnection for the handlers. */
export class Connection extends HouseConnection {
  constructor(token, handlers) {
    const url = new URL("ws", location.href.split(/[?#]/)[0]);
    url.protocol = url.protocol.replace("http", "ws");
    super(url, token, handlers, { silenceMs: SILENCE_TIMEOUT_MS, watching: true });
  }
}
