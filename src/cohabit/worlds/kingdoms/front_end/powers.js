// The palette of powers: searchable, the most used first; the chosen one is used where the map is clicked.
class Powers {
  armed = null; // the power that the next click uses
  #start = null; // of an order to a kingdom: where its drag begins
  #used = new Map();

  constructor(orders) {
    this.orders = orders;
    this.bar = document.getElementById("armed");
    this.bar.querySelector("button").onclick = () => this.arm(null);
  }

  /** The list, to be put into the panel once; typing filters it. */
  list() {
    const search = h("input", { class: "search", type: "search", placeholder: "Search the powers", "aria-label": "Search the powers" });
    const found = h("div", {}), { powers } = this.orders;
    const fill = () => {
      const wanted = search.value.trim().toLowerCase();
      const fits = powers.filter(({ id, description }) => !wanted || spaced(id).includes(wanted) || description.toLowerCase().includes(wanted));
      const often = wanted ? [] : this.#often(powers);
      const families = Object.keys(FAMILIES).map((family) => [FAMILIES[family], fits.filter(({ tab_id: tab }) => tab === family)]);
      found.replaceChildren(...(often.length ? [h("details", { open: true }, h("summary", {}, "Often used"), this.#grid(often))] : []),
        ...families.filter(([, all]) => all.length).map(([name, all]) => h("details", { open: Boolean(wanted) }, h("summary", {}, `${name} (${all.length})`), this.#grid(all))));
      if (!fits.length) found.replaceChildren(h("p", {}, "No power has this name."));
    };
    search.addEventListener("input", fill);
    fill();
    return [search, found];
  }

  #often(powers) {
    const weight = ({ id }) => (this.#used.get(id) ?? 0) * 100 + (FAVOURITES.includes(id) ? FAVOURITES.length - FAVOURITES.indexOf(id) : 0);
    return powers.filter(weight).sort((a, b) => weight(b) - weight(a)).slice(0, 8);
  }

  #grid(powers) {
    return h("div", { class: "grid" }, ...powers.map(({ id, description, faith }) => h("button", { type: "button", title: description, "data-power": id }, spaced(id), faith && !this.orders.isGod ? h("small", {}, `${faith} faith`) : "")));
  }

  /** Choose a power; null: none. */
  arm(id) {
    this.armed = this.orders.powers.find((power) => power.id === id) ?? null;
    this.#start = null;
    this.bar.hidden = !this.armed;
    document.getElementById("marks").classList.toggle("aims", Boolean(this.armed));
    if (!this.armed) return;
    this.bar.querySelector("label").hidden = !this.armed.supports_radius;
    this.#tell(`${spaced(id)}: ${this.#needsTwo ? "choose land of the kingdom that gets the order." : "choose a place."} ${this.armed.description}`);
  }

  get #needsTwo() {
    return this.orders.isGod && ORDERS_WITH_TARGET.includes(this.armed.id);
  }

  #tell(words) {
    this.bar.querySelector("span").textContent = words;
  }

  /** Use the chosen power at a place. */
  async use(x, y) {
    const { id, supports_radius: hasRadius } = this.armed, args = { power_id: id, x, y };
    if (this.#needsTwo) {
      if (!this.#start) {
        this.#start = { x, y };
        this.#tell(`${spaced(id)}: now choose the target.`);
        return;
      }
      Object.assign(args, this.#start, { x2: x, y2: y });
      this.#start = null;
    }
    if (hasRadius) args.radius = Number(this.bar.querySelector("select").value);
    try {
      const { accepted, effect, faith_left: left } = await this.orders.give("invoke_power", args);
      this.#used.set(id, (this.#used.get(id) ?? 0) + 1);
      this.#tell(`${spaced(id)} at ${x}, ${y}: ${accepted === false ? "no effect." : effect ?? "done."}${left === undefined || left === null ? "" : ` ${left} faith left.`}`);
    } catch (error) {
      this.#tell(plainly(error));
    }
  }
}

/** An error of the house, without its code. */
const plainly = (error) => error.message.replace(/^\[[A-Z_]+\] /, "");
