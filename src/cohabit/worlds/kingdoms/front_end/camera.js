// What part of the map is shown, how large, and how wheel, pinch and drag change that. Places are in tiles.
class Camera {
  constructor(element, changed) {
    Object.assign(this, { element, changed, x: 0, y: 0, scale: 1, width: 1, height: 1, map: [1, 1], whole: true });
    this.pointers = new Map();
    this.dragged = false;
    element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    element.addEventListener("pointerdown", (event) => this.#down(event));
    element.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    element.addEventListener("dblclick", (event) => this.zoom(2, event.offsetX, event.offsetY));
  }

  get least() { // the whole map fits
    return Math.min(this.width / this.map[0], this.height / this.map[1]);
  }

  get most() {
    return Math.max(40, 2 * this.least);
  }

  resize(width, height) {
    Object.assign(this, { width, height });
    this.whole ? this.fit() : this.#keepInside();
  }

  setMap(map) {
    if (String(map) === String(this.map)) return;
    this.map = map;
    this.fit();
  }

  /** As much of the map as fills the window, in its middle. */
  fit() {
    this.whole = true;
    this.scale = this.width < 600 ? Math.max(this.width / this.map[0], this.height / this.map[1]) * 0.999 : this.least;
    [this.x, this.y] = [this.map[0] / 2, this.map[1] / 2];
    this.#keepInside();
  }

  zoom(factor, across = this.width / 2, down = this.height / 2) {
    const scale = Math.min(Math.max(this.scale * factor, this.least), this.most);
    const [x, y] = this.placeAt(across, down);
    this.x = x - (across - this.width / 2) / scale;
    this.y = y - (down - this.height / 2) / scale;
    this.scale = scale;
    this.whole = scale <= this.least * 1.001;
    this.#keepInside();
  }

  pan(across, down) { // in points of the screen
    this.x -= across / this.scale;
    this.y -= down / this.scale;
    this.#keepInside();
  }

  /** Go to a place, unless it can be seen well already. `covered`: how much of the window a panel covers. */
  show(x, y, { scale = this.scale, always = false, covered = {} } = {}) {
    const [across, down] = this.pointOf(x, y), edge = 40, { right = 0, bottom = 0 } = covered;
    if (!always && across > edge && down > edge && across < this.width - edge - right && down < this.height - edge - bottom) return;
    this.scale = Math.max(this.scale, scale);
    [this.x, this.y] = [x + right / 2 / this.scale, y + bottom / 2 / this.scale];
    this.whole = false;
    this.#keepInside();
  }

  placeAt(across, down) {
    return [this.x + (across - this.width / 2) / this.scale, this.y + (down - this.height / 2) / this.scale];
  }

  pointOf(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  }

  /** The tiles in the window: left, top, right, bottom. */
  get window() {
    const [left, top] = this.placeAt(0, 0), [right, bottom] = this.placeAt(this.width, this.height);
    return [left, top, right, bottom];
  }

  #keepInside() { // a map that is smaller than the window stays in its middle
    for (const [axis, side, number] of [["x", this.width, 0], ["y", this.height, 1]]) {
      const half = side / 2 / this.scale, all = this.map[number], margin = 0.25 * half;
      this[axis] = 2 * half >= all ? all / 2 : Math.min(Math.max(this[axis], half - margin), all - half + margin);
    }
    this.changed();
  }

  #wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    this.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0018)), event.offsetX, event.offsetY);
  }

  #down(event) {
    if (event.button) return;
    this.element.setPointerCapture(event.pointerId);
    if (!this.pointers.size) this.dragged = false;
    this.pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    this.pressedAt = [event.offsetX, event.offsetY];
  }

  #move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.offsetX, event.offsetY];
    if (!this.dragged && this.pointers.size === 1 && Math.hypot(now[0] - this.pressedAt[0], now[1] - this.pressedAt[1]) < 6) return;
    this.dragged = true; // so the click that follows chooses nothing
    if (this.pointers.size === 1) this.pan(now[0] - before[0], now[1] - before[1]);
    else {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const apart = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]);
      if (apart(before) > 0) this.zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      this.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    }
    this.pointers.set(event.pointerId, now);
  }
}
