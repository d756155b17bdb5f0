// What the member may do: the orders and powers that the host offers it, and how they are said to people.
const FAVOURITES = ["rain", "lightning", "bounty", "heal", "feast", "human", "meteorite", "forest", "cloud_rain", "plague", "dragon", "tornado"];
const FAMILIES = {
  spawn: "New creatures", weather: "Weather", disaster: "Disasters", blessing: "Blessings", curse: "Curses", terraform: "The land",
  order: "Orders to kingdoms", law: "Laws of the world",
};
const ORDERS_WITH_TARGET = ["order_rally", "order_raid", "order_settle", "order_war", "order_peace"];
const spaced = (id) => id.replaceAll("_", " ");

class Orders {
  #tools = new Map(); // by command: the name of the tool
  #asked = -Infinity;
  powers = [];

  has(command) {
    return !context.replay && this.#tools.has(command);
  }

  /** A god acts on the whole world; a king for its kingdom. */
  get isGod() {
    return this.has("paint_tile");
  }

  /** Ask the host what the member may do now. Returns whether that has changed. */
  async refresh() {
    if (context.replay || performance.now() - this.#asked < 3_000) return false;
    this.#asked = performance.now();
    const { tools = [] } = await request("tools/list", {}).catch(() => ({}));
    const now = new Map(tools.map(({ name }) => [name.replace(/^worldbox_/, ""), name]));
    const same = [...now.keys()].join() === [...this.#tools.keys()].join();
    this.#tools = now;
    if (!same) this.powers = [];
    return !same;
  }

  async give(command, args) {
    return call(this.#tools.get(command) ?? command, args);
  }

  async learnPowers() {
    if (this.powers.length || !this.has("list_powers") || !this.has("invoke_power")) return this.powers;
    const { items } = await this.give("list_powers", this.isGod ? {} : { for_kings: true });
    this.powers = this.isGod ? items : items.filter(({ aim, tab_id: family }) => aim === "own" && family !== "spawn");
    return this.powers;
  }

  // -- what may be ordered where ------------------------------------------------------------------
  /** The orders of a king at a place: [words, command, arguments]. */
  at({ x, y, city, owner, isWater }, status, kingdoms) {
    const mine = status?.kingdom_id;
    if (!mine) return [];
    const other = kingdoms.get(owner), found = [];
    const add = (words, command, args, also = true) => also && this.has(command) && found.push([words, command, args]);
    if (city && owner === mine) add(`Gather the army in ${city.name}`, "rally", { x: city.x, y: city.y });
    if (city && owner !== mine) add(`Attack ${city.name}`, "raid", { city_id: city.id }, this.isEnemy(status, owner));
    if (other && owner !== mine) found.push(...this.towards(owner, status, kingdoms).filter(([, command]) => command !== "raid" || !city));
    if (!city && !isWater) {
      add("Gather the army here", "rally", { x, y });
      add("Send settlers here", "settle", { x, y }, !owner || owner === mine);
    }
    if (owner === mine) {
      const { race, faith = 0 } = kingdoms.get(mine) ?? {};
      for (const count of [1, 5]) {
        const words = faith >= 10 * count ? "" : `needs ${10 * count} faith`;
        add(`Call ${count} ${count > 1 ? RACES[race] ?? race : race} here (${10 * count} faith)`, "spawn", { entity_id: race, x, y, count, adult: true }, !words);
      }
    }
    return found;
  }

  isEnemy(status, kingdom) {
    return (status?.at_war_with ?? []).includes(kingdom);
  }

  /** The orders that concern another kingdom. */
  towards(kingdom, status, kingdoms) {
    const name = kingdoms.get(kingdom)?.name, args = { kingdom_id: kingdom }, found = [];
    if (!status?.kingdom_id || !name || kingdom === status.kingdom_id) return [];
    if (!this.isEnemy(status, kingdom)) found.push([`Declare war on ${name}`, "declare_war", args]);
    else {
      found.push([`Attack the nearest city of ${name}`, "raid", args]);
      const offered = (status.peace_offered_to ?? []).includes(kingdom), theirs = (status.peace_offered_by ?? []).includes(kingdom);
      if (!offered) found.push([theirs ? `Accept the peace that ${name} offers` : `Offer peace to ${name}`, "offer_peace", args]);
    }
    return found.filter(([, command]) => this.has(command));
  }

  /** The orders to one's own kingdom. */
  own(status, kingdom) {
    if (!status?.kingdom_id || !kingdom) return [];
    const found = [
      ...[[10, "Few soldiers: 10 % under arms"], [35, "Many soldiers: 35 % under arms"], [60, "All to arms: 60 %"], [0, "Leave the muster to the crown"]]
        .filter(([percent]) => percent !== 0 || /^\d/.test(status.orders?.muster ?? "")).map(([percent, words]) => [words, "muster", { percent }]),
      kingdom.fortified ? ["Open the gates: soldiers may leave", "fortify", { on: false }] : ["Man the walls: soldiers stay at home", "fortify", { on: true }],
    ];
    if (Object.keys(status.orders ?? {}).length) found.push(["Withdraw every order", "stand_down", {}]);
    return found.filter(([, command]) => this.has(command));
  }
}
