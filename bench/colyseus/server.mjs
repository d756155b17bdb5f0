// A Colyseus server for `python -m bench rooms`: rooms that broadcast what a member sends.
// Run in the folder where Colyseus is installed. Prints its address, and ends with its standard input.

import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const { Room, Server } = require("@colyseus/core");
const { WebSocketTransport } = require("@colyseus/ws-transport");

class Lounge extends Room {
  autoDispose = false;
  patchRate = 1000; // there is no state to send, so its timer is slow (without a rate, the clock ticks at 60 Hz)

  onCreate() {
    this.onMessage("chat", (client, text) => this.broadcast("chat", text));
  }
}

const transport = new WebSocketTransport();
const server = new Server({ transport, greet: false, gracefullyShutdown: false });
server.define("lounge", Lounge);
await server.listen(0, "127.0.0.1");
console.log(JSON.stringify({ url: `http://127.0.0.1:${transport.server.address().port}`, tokens: [] }));
process.stdin.resume().on("end", () => process.exit());
