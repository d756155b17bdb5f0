// What every front end begins with: it talks to the host of the document, an MCP App host such as the page of a house.
let waiting = new Map(), lastId = 0, stopped = false, visible = true; // waiting: requests to the host, by id
const context = { replay: false, choices: false };
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const request = (method, params) => new Promise((resolve, reject) => {
  waiting.set(++lastId, [resolve, reject]);
  send({ id: lastId, method, params });
});
addEventListener("message", ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== "2.0") return;
  if (data.method === "ui/notifications/host-context-changed") applyContext(data.params);
  else if (data.method === "ui/resource-teardown") stopped = true;
  if (data.method && data.id !== undefined) send({ id: data.id, result: {} });
  if (data.method || !waiting.has(data.id)) return;
  const [resolve, reject] = waiting.get(data.id);
  waiting.delete(data.id);
  data.error ? reject(new Error(data.error.message)) : resolve(data.result);
});
function applyContext({ theme, displayMode, styles } = {}) {
  const { style, dataset } = document.documentElement;
  [style.colorScheme, dataset.mode] = [theme ?? style.colorScheme, displayMode ?? dataset.mode ?? "inline"];
  for (const [name, value] of Object.entries(styles?.variables ?? {})) style.setProperty(name, value);
}
async function call(name, args = {}) { // a command of the member; throws what the house refuses
  const { content, structuredContent, isError } = await request("tools/call", { name, arguments: args });
  if (isError) throw new Error(content[0].text);
  return structuredContent ?? content[0];
}
/**
 * Call draw(view, problem) for each view that differs from the last. `scene`: the world has scenes, and `view.scene` has
 * the layers of the newest one. In a replay (`context.replay`) the host answers with what was seen then, and refuses actions.
 * Where `context.choices` is true, the page around the document offers the choices of the view, and forms for actions.
 * `controls`: what people can do in this document, so that the page around it does not offer it again: true for
 * everything, or names of actions.
 */
async function start(title, draw, pauseMs = 100, { scene: hasScene = false, controls = false } = {}) {
  const app = { appInfo: { name: title, version: "1" }, appCapabilities: controls ? { experimental: { cohabit: { controls } } } : {}, protocolVersion: "2026-01-26" };
  const { hostContext = {} } = await request("ui/initialize", app);
  for (const name of Object.keys(context)) context[name] = Boolean(hostContext.cohabit?.[name]);
  applyContext(hostContext);
  send({ method: "ui/notifications/initialized" });
  new ResizeObserver(() => send({ method: "ui/notifications/size-changed", params: { height: document.body.scrollHeight } })).observe(document.body);
  new IntersectionObserver(([{ isIntersecting }]) => { visible = isIntersecting; }).observe(document.body);
  for (let view = null, scene = null; !stopped; await sleep(pauseMs)) {
    if (!visible) continue; // scrolled out of sight: nobody looks
    try {
      const next = await call("next_view", { since: view?.id ?? "", wait_ms: 25_000 });
      if (next.id === view?.id) continue;
      if (hasScene) scene = await nextScene(scene);
      view = Object.assign(next, scene && { scene: scene.layers });
      draw(view);
    } catch (error) {
      view = null;
      draw(null, error.message);
      await sleep(2_000);
    }
  }
}

async function nextScene(known) {
  const { id, since, layers, names } = await call("scene", { since: known?.id ?? "" });
  if (!since) return { id, layers };
  return { id, layers: Object.fromEntries(names.map((name) => [name, layers[name] ?? known.layers[name]])) };
}

// Keys that the document does not use go to the page around it, which knows the keys of the world.
addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.defaultPrevented || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.startsWith("Arrow") || event.key === " ") event.preventDefault(); // would scroll
  send({ method: "ui/notifications/cohabit/key", params: { key: event.key } });
});
