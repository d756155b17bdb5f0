// The canvases, one over the other, each drawn only when what it shows has changed: land, creatures, marks; and the minimap.
const DAY_TICKS = 1_800; // a day of light and dark on the map; the world itself has none
const LAND_PAUSE_MS = 600;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

class Picture {
  chosen = null; // {x, y}: the place of the ring
  cursor = null;
  #stale = new Set();
  #frame = 0;
  #landTimer = null;
  frames = 0; // drawn; the bench reads it

  constructor(stage) {
    this.stage = stage;
    for (const name of ["land", "life", "marks", "minimap"]) this[name] = document.getElementById(name).getContext("2d", { alpha: name !== "land" });
    this.night = document.getElementById("night");
    this.camera = new Camera(this.marks.canvas, () => this.stale("land", "life", "marks", "minimap"));
    this.ground = new Land();
    this.creatures = new Life();
    this.signs = new Marks();
    new ResizeObserver(() => this.#resize()).observe(stage);
    this.minimap.canvas.addEventListener("click", ({ offsetX, offsetY }) => {
      const { clientWidth, clientHeight } = this.minimap.canvas;
      this.camera.show((offsetX / clientWidth) * this.ground.width, (offsetY / clientHeight) * this.ground.height, { always: true });
    });
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.stage, ratio = Math.min(devicePixelRatio || 1, 2);
    if (!width || !height) return;
    for (const { canvas } of [this.land, this.life, this.marks]) Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    for (const context of [this.land, this.life, this.marks]) context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.camera.resize(width, height);
  }

  /** A new scene. `mine`: the kingdom of the member. */
  update(scene, mine) {
    const now = performance.now(), smooth = !calm.matches && !document.hidden;
    this.kingdoms = new Map(scene.kingdoms.map((kingdom) => [kingdom.id, kingdom]));
    const isNew = scene.frame !== this.scene?.frame;
    if (this.ground.update(scene)) this.#landLater(isNew);
    if (this.creatures.update(scene, smooth, now)) this.stale("life");
    Object.assign(this, { scene, mine });
    this.stale("marks");
    this.camera.setMap(scene.frame.size);
    if (isNew) this.#begin();
    const hour = ((scene.time.tick % DAY_TICKS) / DAY_TICKS) * 2 * Math.PI;
    const dark = Math.max(0, -Math.cos(hour) - 0.35) * 0.34;
    this.night.style.opacity = dark.toFixed(2); // in steps, each of which draws the window again
    this.night.hidden = dark < 0.005;
  }

  /** The land changes a little all the time, which need not be drawn at once. */
  #landLater(now) {
    if (now) return this.stale("land", "minimap");
    this.#landTimer ??= setTimeout(() => {
      this.#landTimer = null;
      this.stale("land", "minimap");
    }, LAND_PAUSE_MS);
  }

  #begin() { // a player begins at home
    const home = this.scene.cities.find((city) => city.kingdom === this.mine && city.capital);
    if (home) this.camera.show(home.x, home.y, { always: true, scale: Math.max(6.5, 1.6 * this.camera.least) });
  }

  stale(...names) {
    for (const name of names) this.#stale.add(name);
    if (!this.#frame && this.#stale.size) this.#frame = requestAnimationFrame((now) => this.#draw(now));
  }

  #draw() {
    this.#frame = 0;
    if (!this.scene || !this.camera.width) return;
    const { camera, scene, kingdoms, ground } = this, todo = this.#stale, now = performance.now();
    this.#stale = new Set();
    this.frames++;
    if (todo.has("land")) {
      if (ground.paint(camera.window)) this.stale("land", "minimap");
      ground.draw(this.land, camera, kingdoms);
    }
    if (todo.has("life")) {
      if (this.creatures.draw(this.life, camera, kingdoms, scene.frame, now)) this.stale("life");
    }
    if (todo.has("marks")) {
      this.marks.clearRect(0, 0, camera.width, camera.height);
      this.signs.draw(this.marks, camera, scene, kingdoms, this);
    }
    if (todo.has("minimap")) this.#drawMinimap();
  }

  #drawMinimap() {
    const { camera, ground, minimap: context } = this, { canvas } = context;
    canvas.hidden = camera.scale < camera.least * 1.4;
    if (canvas.hidden) return;
    const wide = 150, tall = Math.round((wide * ground.height) / ground.width), ratio = Math.min(devicePixelRatio || 1, 2);
    if (canvas.width !== wide * ratio || canvas.height !== Math.round(tall * ratio)) Object.assign(canvas, { width: wide * ratio, height: Math.round(tall * ratio) });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    ground.drawSmall(context, wide, tall);
    const scale = wide / ground.width, [left, top, right, bottom] = camera.window.map((place) => place * scale);
    context.strokeStyle = "#fff";
    context.lineWidth = 1.5;
    context.strokeRect(left, top, right - left, bottom - top);
  }

  /** What is at a point of the screen: a city, an army or a tile; null: beyond the map. */
  at(across, down) {
    const near = (one, radius) => {
      const [x, y] = this.camera.pointOf(one.x + 0.5, one.y + 0.5);
      return Math.hypot(across - x, down - y) < radius;
    };
    const { cities, armies } = this.scene;
    const city = cities.find((one) => near(one, cityRadius(one) + 7));
    if (city) return { kind: "city", id: city.id };
    const army = armies.find((one) => {
      const [x, y] = this.camera.pointOf(one.x + 0.5, one.y + 0.5);
      return across > x - 6 && across < x + 30 && down > y - 29 && down < y + 5;
    });
    if (army) return { kind: "army", kingdom: army.kingdom, x: army.x, y: army.y };
    return this.tileAt(across, down);
  }

  tileAt(across, down) {
    const [x, y] = this.camera.placeAt(across, down).map(Math.floor);
    return x >= 0 && y >= 0 && x < this.ground.width && y < this.ground.height ? { kind: "tile", x, y } : null;
  }
}
