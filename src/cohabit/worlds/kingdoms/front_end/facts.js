// What is chosen, in words for people: a city, an army, a kingdom, a tile, or the list of everything.
const YEAR = 60;

const swatch = (colour) => h("i", { class: "swatch", style: `--colour: ${/^#\w+$/.test(colour ?? "") ? colour : "transparent"}` });
const counted = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
const RACES = { human: "humans", elf: "elves", orc: "orcs", dwarf: "dwarves" };
const GROUNDS = {
  deep_ocean: "deep sea", close_ocean: "sea", shallow_waters: "shallow water", soil_low: "open land", soil_high: "upland", none: "open land",
  pit_deep_ocean: "dry sea bed", pit_close_ocean: "dry sea bed", pit_shallow_waters: "dry shallows", lava0: "lava", lava1: "lava",
  lava2: "lava", lava3: "lava", burnt: "burnt land", corrupted: "corrupted land", infernal: "infernal land", candy: "candy land",
};
const groundWords = (id) => GROUNDS[id] ?? spaced(id);
const listed = (words) => (words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words[0] ?? "");
const rows = (pairs) => h("dl", {}, ...pairs.filter(([, value]) => value !== undefined && value !== null && value !== "").flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]));
const link = (chosen, ...children) => h("button", { class: "link", type: "button", "data-choose": JSON.stringify(chosen) }, ...children);
const yearOf = (tick) => Math.floor(tick / YEAR);

/** The words about what is chosen: {title, colour, facts}. `world`: scene, status, kingdoms, land. */
const tellOf = {
  city({ id }, world) {
    const city = world.scene.cities.find((one) => one.id === id);
    if (!city) return null;
    const owner = world.kingdoms.get(city.kingdom), isMine = city.kingdom === world.mine;
    const attacker = world.kingdoms.get(city.besieger)?.name ?? "an enemy";
    const facts = [h("p", {}, `${city.capital ? "The capital" : "A city"} of ${isMine ? "your kingdom" : owner?.name ?? "nobody"}.`)];
    if (city.besieger) {
      facts.push(h("p", { class: "warn" }, `${attacker} lays siege to it: ${city.siege} of 100. At 100 it falls.`), h("meter", { min: 0, max: 100, high: 60, optimum: 0, value: city.siege, "aria-label": "Siege" }));
    }
    if (city.people === undefined) facts.push(h("p", { class: "soft" }, "From outside you can see no more of it."));
    else {
      if (city.hungry) facts.push(h("p", { class: "warn" }, `${counted(city.hungry, "person", "people")} had no meal today.`));
      if (city.loyalty < 40) facts.push(h("p", { class: "warn" }, "Its people are restless; at loyalty 0 they rebel."));
      facts.push(rows([
        ["People", `${city.people}, room for ${city.housing}`], ["Soldiers", city.soldiers], ["Loyalty", `${city.loyalty} of 100`],
        ["Food", city.food], ["Stores", `${city.wood} wood, ${city.stone} stone, ${city.gold} gold`],
      ]));
    }
    return { title: city.name, colour: owner?.colour, facts };
  },

  army(chosen, world) {
    const near = world.scene.armies.filter((army) => army.kingdom === chosen.kingdom)
      .map((army) => [Math.hypot(army.x - chosen.x, army.y - chosen.y), army]).sort((a, b) => a[0] - b[0])[0];
    if (!near || near[0] > 16) return null;
    const army = Object.assign(chosen, near[1]), owner = world.kingdoms.get(army.kingdom), isMine = army.kingdom === world.mine;
    const march = world.scene.marches.find((one) => one.kingdom === army.kingdom && one.kind !== "settle");
    const target = march && world.scene.cities.find((city) => city.x === march.x && city.y === march.y);
    const facts = [h("p", {}, `${counted(army.soldiers, "soldier")} in the field at ${army.x}, ${army.y}.`)];
    if (march) facts.push(h("p", {}, march.kind === "attack" ? `On the march against ${target?.name ?? "the enemy"}.` : `They gather at ${target?.name ?? `${march.x}, ${march.y}`}.`));
    if (isMine && world.status.army) facts.push(h("p", { class: "soft" }, `All your soldiers: ${world.status.army}.`));
    return { title: `Army of ${owner?.name ?? "nobody"}`, colour: owner?.colour, facts };
  },

  kingdom({ id }, world) {
    const kingdom = world.kingdoms.get(id);
    if (!kingdom) return null;
    const isMine = id === world.mine, { status, scene } = world;
    const rank = [...world.kingdoms.values()].sort((a, b) => b.people - a.people).findIndex((one) => one.id === id) + 1;
    const facts = [h("p", {}, `A kingdom of ${RACES[kingdom.race] ?? kingdom.race}${kingdom.king ? `, ruled by ${kingdom.king}` : ""}${isMine ? ". It is yours." : kingdom.player ? ", with a player." : "."}`)];
    facts.push(rows([
      ["People", `${kingdom.people.toLocaleString("en")} (rank ${rank} of ${world.kingdoms.size})`], ["Cities", kingdom.cities],
      ["Soldiers", isMine ? status.soldiers : kingdom.soldiers], ["Under arms", kingdom.muster === undefined ? "" : `${kingdom.muster} % wanted`],
      ["Faith", isMine ? status.faith : kingdom.faith], ["Weariness", kingdom.weariness === undefined ? "" : `${kingdom.weariness} of 100`],
    ]));
    if (isMine && status.army) facts.push(h("p", {}, `Your army: ${status.army}.`));
    if (isMine && status.settlers) facts.push(h("p", {}, `Settlers are ${status.settlers}.`));
    const given = Object.entries(isMine ? status.orders ?? {} : {}).map(([name, what]) => `${name} ${what === "yes" ? "" : what}`.trim());
    if (given.length) facts.push(h("p", {}, `Your orders: ${listed(given)}.`));
    const wars = scene.wars.filter((war) => war[0] === id || war[1] === id);
    for (const [attacker, defender, begun] of wars) {
      const other = world.kingdoms.get(attacker === id ? defender : attacker)?.name ?? "a lost kingdom";
      facts.push(h("p", { class: "warn" }, `At war with ${other} since year ${yearOf(begun)}.`));
    }
    if (!wars.length) facts.push(h("p", { class: "soft" }, "At peace with everybody."));
    const offers = isMine ? (status.peace_offered_by ?? []).map((number) => world.kingdoms.get(number)?.name).filter(Boolean) : [];
    if (offers.length) facts.push(h("p", {}, `${listed(offers)} ${offers.length > 1 ? "offer" : "offers"} you peace.`));
    const cities = scene.cities.filter((city) => city.kingdom === id);
    if (cities.length) facts.push(cityList(cities));
    return { title: kingdom.name, colour: kingdom.colour, facts };
  },

  tile({ x, y, people }, world) {
    const tile = world.land.coverAt(x, y), owner = world.kingdoms.get(world.scene.owners[tile.owner]);
    const facts = [h("p", {}, `${x}, ${y}${owner ? ` · land of ${owner.id === world.mine ? "your kingdom" : owner.name}` : ""}`)];
    if (tile.hidden) facts.push(h("p", { class: "soft" }, "You do not see this place now; this is from the chart."));
    if (people) facts.push(h("p", {}, people));
    return { title: groundWords(tile.id), colour: owner?.colour, facts };
  },

  list(_, world) {
    const sorted = [...world.kingdoms.values()].sort((a, b) => b.people - a.people);
    const facts = [h("p", { class: "soft" }, `${counted(sorted.length, "kingdom")}, ${counted(world.scene.wars.length, "war")}.`), chartsOf(world, sorted)];
    for (const kingdom of sorted) {
      const cities = world.scene.cities.filter((city) => city.kingdom === kingdom.id);
      facts.push(h("div", { class: "kingdom" },
        link({ kind: "kingdom", id: kingdom.id }, swatch(kingdom.colour), h("b", {}, kingdom.name), h("span", {}, counted(kingdom.people, "person", "people"))), cityList(cities)));
    }
    const events = world.view.observation.recent_events ?? [];
    if (events.length) facts.push(h("h3", {}, "News"), ...events.toReversed().map((event) => h("p", { class: event.type === "danger" ? "warn soft" : "soft" }, event.description ?? event.text ?? "")));
    return { title: "Kingdoms", facts };
  },
};

function cityList(cities) {
  return h("ul", {}, ...cities.map((city) => h("li", {}, link({ kind: "city", id: city.id }, h("span", {}, city.name),
    h("span", {}, [city.besieger ? "besieged" : "", city.people ?? ""].filter((word) => word !== "").join(", "))))));
}

const opened = { charts: true };
function chartsOf(world, kingdoms) {
  const history = historyOf(world.scene);
  history.push([world.scene.time.tick, new Map(kingdoms.map(({ id, people, soldiers }) => [id, [people, soldiers ?? null]]))]);
  const lines = (number) => kingdoms.map(({ id, name, colour }) => ({
    name, colour, own: id === world.mine,
    points: history.filter(([, at]) => typeof at.get(id)?.[number] === "number").map(([tick, at]) => [tick, at.get(id)[number]]),
  })).filter(({ points }) => points.length > 1);
  const details = h("details", { class: "charts", open: opened.charts }, h("summary", {}, "Over the years"));
  details.addEventListener("toggle", () => { opened.charts = details.open; });
  for (const [number, name] of [[0, "People"], [1, "Soldiers"]]) {
    if (lines(number).length) details.append(h("span", { class: "soft" }, name), lineChart(`${name} of each kingdom over the years`, lines(number), (tick) => `year ${yearOf(tick)}`));
  }
  return details.childElementCount > 1 ? details : null;
}
