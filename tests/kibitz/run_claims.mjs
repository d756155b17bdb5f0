// Runs the table of claims against the JavaScript agent. In Node: `node run_claims.mjs MODULE < claims.json`.

export async function run(Kibitz, claim) {
  const log = [];
  const told = (name) => (...args) => log.push([name, ...args]);
  const value = (result) => log.push(["value", result]);
  if (claim.cooldown !== undefined) {
    const gate = Kibitz.cooldown(claim.cooldown);
    for (const [step, now] of claim.steps) step === "ready" ? value(gate.ready(now)) : gate.stamp(now);
    return log;
  }

  const listeners = { message: [], participants: [], schema: [], view: [], chat: [] };
  const listen = (kind) => (listener) => {
    listeners[kind].push(listener);
    return () => (listeners[kind] = listeners[kind].filter((other) => other !== listener));
  };
  const tell = (kind, ...args) => listeners[kind].forEach((listener) => listener(...args));
  let people = [];
  let schemas = [];
  let view = null;
  const controller = {
    broadcast: told("broadcast"),
    sendTo: told("sendTo"),
    onMessage: listen("message"),
    getParticipants: () => people,
    on: (event, listener) => listen(event)(listener),
    setMeta: told("meta"),
    leave: told("left"),
    getSchemas: () => schemas,
    onSchema: listen("schema"),
  };
  if (claim.owner !== undefined) controller.viewOwner = () => claim.owner;
  for (const name of claim.without ?? []) delete controller[name];
  const bridge = { onView: listen("view"), getView: () => view, onChat: listen("chat"), say: told("said") };

  const options = claim.options ?? {};
  const agent = claim.bridge ? Kibitz.createAgentFromBridge(bridge, options) : Kibitz.createAgent(controller, options);
  agent.onView(told("view"));
  const stop = agent.onChat(told("chat"));
  if (claim.listenTwice) agent.onChat(told("chat"));
  agent.onData?.(told("data"));
  agent.onRoster?.(told("roster"));
  agent.onSchema?.(told("schema"));

  for (const [step, ...args] of claim.steps) {
    if (step === "message") tell("message", ...args);
    else if (step === "participants") tell("participants", (people = args[0]));
    else if (step === "schema") tell("schema", (schemas = [args[0]])[0]);
    else if (step === "bridgeView") tell("view", (view = args[0]));
    else if (step === "bridgeChat") tell("chat", ...args);
    else if (step === "unsubscribe") stop();
    else if (step === "has") value(args[0] in agent);
    else if (step === "canAct") value(agent.canAct);
    else if (step.startsWith("get")) value(agent[step]());
    else {
      try {
        await agent[step](...args);
      } catch (error) {
        log.push(error.message.includes("read-only") ? ["read-only"] : ["raised", error.message]);
      }
    }
  }
  return log;
}

if (globalThis.process?.argv[2]) {
  const { readFileSync } = await import("node:fs");
  const Kibitz = await import(process.argv[2]);
  const logs = [];
  for (const claim of JSON.parse(readFileSync(0, "utf-8"))) logs.push(await run(Kibitz, claim));
  process.stdout.write(JSON.stringify(logs));
}
