// Judges inputs with the parser that Peggy makes of a grammar.
//
// Usage: node peggy.cjs PEGGY GRAMMAR < INPUTS
//
// PEGGY is the folder of the package. An input has its length, four bytes, in front. Prints a line for each: its number
// and why it is refused, or nothing more if it is accepted. If the code in the grammar cannot be run here, since it
// imports files, the parser is made without code.
"use strict";

const fs = require("fs");

const [folder, grammar] = process.argv.slice(2);
const peggy = require(folder);

/** Makes parsers without the code of their grammars: predicates of code hold. */
const withoutCode = {
  use(config) {
    config.passes.prepare.unshift((ast) => {
      ast.topLevelInitializer = ast.initializer = null;
      strip(ast);
    });
  },
};

/** Replaces code within a part of a grammar. */
function strip(node) {
  for (const [key, value] of Object.entries(node)) {
    if (key === "location" || value === null || typeof value !== "object") {
      continue;
    }
    if (value.type === "action") {
      node[key] = value.expression;
    } else if (value.type === "semantic_and" || value.type === "semantic_not") {
      node[key] = { type: "literal", value: "", ignoreCase: false, location: value.location };
    }
    strip(node[key]);
  }
}

function made() {
  const source = fs.readFileSync(grammar, "utf8");
  try {
    return peggy.generate(source, { cache: true });
  } catch (problem) {
    console.error(`${grammar}: made without code: ${problem.message}`);
    return peggy.generate(source, { cache: true, plugins: [withoutCode] });
  }
}

const parser = made();
const inputs = fs.readFileSync(0);
for (let number = 0, at = 0; at < inputs.length; number++) {
  const end = at + 4 + inputs.readUInt32LE(at);
  const text = inputs.toString("utf8", at + 4, end);
  at = end;
  let reason = "";
  try {
    parser.parse(text);
  } catch (problem) {
    const place = problem.location ? ` at ${problem.location.start.offset}` : "";
    reason = ` ${String(problem.message).split("\n")[0]}${place}`;
  }
  console.log(`${number}${reason}`);
}
