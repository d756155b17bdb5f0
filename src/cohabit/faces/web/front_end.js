// The front end of a world on the page: its document gets the member's view, and calls the member's commands as far as
// the house says that it may.

import { Host } from "../front_ends/host.js";

export class FrontEnd extends Host {
  #commands = new Map(); // those that a document may call, by tool name

  /** `call(name, args, changes)`: a call of the member in this room. `alone`: the page around the document offers nothing. */
  constructor(room, call, alone) {
    super({
      commandOf: (name) => this.#commandOf(name), tools: () => [...this.#commands.values()].map(toolOf),
      uri: `ui://${room}/front_end`, address: "frame", title: "The table of this world",
      context: { cohabit: { choices: !alone } },
    });
    this.call = call;
  }

  /** Show the document of a world. `commands`: the reply of `schemas`. */
  show(html, commands) {
    this.#commands = new Map(commands.filter((c) => c.for_front_end).map((c) => [c.tool_name, c]));
    super.show(html);
  }

  #commandOf(name) {
    const command = this.#commands.get(name);
    return command && ((args) => this.call(command.name, args, Boolean(command.records)));
  }
}

function toolOf({ tool_name: name, description, schema: inputSchema, records, for_model: forModel = true }) {
  return { name, description, inputSchema, annotations: { readOnlyHint: !records }, _meta: { ui: { visibility: forModel ? ["model", "app"] : ["app"] } } };
}
