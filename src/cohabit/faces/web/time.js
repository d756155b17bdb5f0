// The time of a world with a clock: pause, resume, and the speed, for members who may control it.

import { h, setText } from "./dom.js";

const ASKED = "You asked for a pause. It begins when the other players who are present also pause.";

export class TimeControls {
  /** `call(command, args)` is a call in this room; `onChange()` is called after one. */
  constructor(call, onChange) {
    this.call = call;
    this.onChange = onChange;
    this.button = h("button", { class: "small", onclick: () => this.pauseOrResume() });
    this.speed = h("select", { id: "speed", class: "small", onchange: () => this.run("set_speed", { speed_id: this.speed.value }) });
    this.speedField = h("label", { for: "speed" }, "Speed ", this.speed);
    this.result = h("p", { class: "result muted", role: "status" });
    this.element = h("div", { class: "time", role: "group", "aria-label": "Time", hidden: true },
      this.button, this.speedField, this.result);
  }

  /** `commands`: the names of those that we may use. `speeds`: the ids of the speeds. */
  draw({ commands, speeds }, { paused, speed }) {
    this.command = paused ? "resume" : "pause";
    setText(this.button, paused ? "Resume" : "Pause");
    this.button.hidden = !commands.includes(this.command);
    this.speedField.hidden = !commands.includes("set_speed") || !speeds.length;
    this.element.hidden = this.button.hidden && this.speedField.hidden;
    const drawn = JSON.stringify(speeds);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.speed.replaceChildren(...speeds.map((id) => h("option", { value: id }, id.replaceAll("_", " "))));
    }
    if (!this.busy) this.speed.value = speed;
    if (paused) setText(this.result, "");
  }

  get showsSpeed() {
    return !this.element.hidden && !this.speedField.hidden;
  }

  async pauseOrResume() {
    const asked = this.command;
    const reply = await this.run(asked);
    if (asked === "pause" && reply?.paused === false) setText(this.result, ASKED);
  }

  async run(command, args = {}) {
    if (this.busy) return null;
    this.busy = true;
    this.result.classList.remove("error");
    setText(this.result, "");
    try {
      return await this.call(command, args);
    } catch (error) {
      this.result.classList.add("error");
      setText(this.result, error.message);
      return null;
    } finally {
      this.busy = false;
      this.onChange();
    }
  }
}
