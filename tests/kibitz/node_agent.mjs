// An agent in Node that a test drives: `node node_agent.mjs MODULE URL TOKEN ROOM OPTIONS`. It writes what it perceives
// as lines of JSON, and reads lines of JSON such as ["say", "hello"].

import { createInterface } from "node:readline";

const [module, url, token, room, given] = process.argv.slice(2);
const { connect, createAgent } = await import(module);
const { controller: how, ...options } = JSON.parse(given ?? "{}");
const write = (...line) => process.stdout.write(`${JSON.stringify(line)}\n`);
let controller;
try {
  controller = await connect(url, token, room, how);
} catch (error) {
  write("failed", error.code ?? "", error.message);
  process.exit(0);
}
controller.on("refused", (error) => write("refused", error.code, error.message));
const agent = createAgent(controller, options);
controller.onMessage((data, from) => {
  if (data?.__kib_agent === "act") write("act", data.action, from);
});
controller.onMedia((lane, bytes, from) => write("media", lane, [...bytes], from));
agent.onChat((message) => write("chat", message.from, message.text));
agent.onView((view) => write("view", view));
agent.onData((data, from) => write("data", data, from));
agent.onRoster((people) => write("roster", people));
agent.onSchema((schema) => write("schema", schema));
const { id, token: own } = controller;
write("ready", { id, token: own, view: agent.getView(), schemas: agent.getSchemas(), roster: agent.getRoster() });

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...args] = JSON.parse(line);
  try {
    if (name === "media") controller.sendMedia(args[0], new Uint8Array(args[1]));
    else if (name in agent) write("done", name, (await agent[name](...args)) ?? null);
    else write("done", name, (await controller[name](...args)) ?? null);
  } catch (error) {
    write("error", name, error.code ?? "", error.message);
  }
}
agent.leave();
