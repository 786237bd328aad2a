// Judges ECMAScript 5 programs by acorn (ecmaVersion 5) and by V8, which compiles each as a script; nothing runs.
//
// Reads NUL-separated documents from standard input; exit status 0, 1 or 77 as in judging.py.

import fs from 'node:fs';
import vm from 'node:vm';
import { createRequire } from 'node:module';

let acorn;
try {
  const require = createRequire(new URL('../../target/judges-node/', import.meta.url));
  acorn = require('acorn');
} catch {
  console.log('javascript_judge.mjs: the npm package acorn is not installed; run ci/judges-setup --all');
  process.exit(77);
}

function rejection(text) {
  try {
    acorn.parse(text, { ecmaVersion: 5, sourceType: 'script' });
  } catch (error) {
    return `acorn: ${error.message}`;
  }
  try {
    new vm.Script(text);
  } catch (error) {
    return `V8: ${error.message}`;
  }
  return null;
}

const documents = fs.readFileSync(0).toString('utf8').split('\0');
if (documents.at(-1) === '') documents.pop();
const rejected = [];
documents.forEach((text, index) => {
  const reason = rejection(text);
  if (reason !== null) rejected.push({ index, text, reason });
});
console.log(`accepted ${documents.length - rejected.length} of ${documents.length}`);
for (const { index, text, reason } of rejected.slice(0, 5)) {
  console.log(`--- document ${index}, ${text.length} characters: ${reason}\n${text.slice(0, 600)}`);
}
process.exit(documents.length > 0 && rejected.length === 0 ? 0 : 1);
