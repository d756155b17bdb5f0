// An agent in JavaScript, without packages: it chooses what it has done least often.
//
//   cohabit match tictactoe "command:node examples/agents/curious.js" random --games 20
//
// Each line of the standard input is a decision to make, as JSON; each line of the standard output is an action.
"use strict";

const lines = require("node:readline").createInterface({ input: process.stdin });
const done = new Map(); // how often, by action

lines.on("line", (line) => {
  const { decision, observation } = JSON.parse(line);
  const choices = observation.choices ?? [];
  const times = (choice) => done.get(JSON.stringify(choice)) ?? 0;
  const chosen = choices.reduce((best, choice) => (times(choice) < times(best) ? choice : best), choices[0]);
  if (chosen === undefined) {
    console.log("null"); // nothing to do
    return;
  }
  const before = times(chosen);
  done.set(JSON.stringify(chosen), before + 1);
  console.log(JSON.stringify({ decision, ...chosen, reasoning: `I have done this ${before} times` }));
});
