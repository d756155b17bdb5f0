// A host of MCP Apps, made of the SDK's client and the AppBridge of ext-apps: reads the document that the tool `view`
// points to, shows it, and lets the bridge relay its calls to the server.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const [address, token] = decodeURIComponent(location.hash.slice(1)).split(" ");
const state = document.getElementById("state");
const frame = document.querySelector("iframe");
const APPS = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
window.called = []; // the tools that the document calls
addEventListener("message", ({ data }) => { if (data.method === "tools/call") window.called.push(data.params.name); });

const client = new Client({ name: "independent host", version: "1" }, { capabilities: { extensions: APPS } });
await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
const { tools } = await client.listTools();
const tool = tools.find((each) => each.name === "view");
const { contents: [html] } = await client.readResource({ uri: tool._meta.ui.resourceUri });

const bridge = new AppBridge(client, { name: "independent host", version: "1" }, { serverTools: {}, serverResources: {} }, {
  hostContext: { theme: "light", displayMode: "inline", toolInfo: { tool } },
});
bridge.oninitialized = async () => {
  state.textContent = "initialized";
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult(await client.callTool({ name: "view", arguments: {} }));
};
await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
frame.srcdoc = html.text;
