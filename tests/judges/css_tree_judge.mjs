// Judges CSS style sheets by css-tree: no parse error, and every declaration's value matches its property's syntax.
//
// Reads NUL-separated documents from standard input; exit status 0, 1 or 77 as in judging.py. What css-tree cannot
// match at all passes: custom properties, and values with var().

import fs from 'node:fs';
import { createRequire } from 'node:module';

let parse, lexer, walk, generate;
try {
  const require = createRequire(new URL('../../target/judges-node/', import.meta.url));
  ({ parse, lexer, walk, generate } = require('css-tree'));
} catch {
  console.log('css_tree_judge.mjs: the npm package css-tree is not installed; run ci/judges-setup');
  process.exit(77);
}

function rejections(text) {
  const found = [];
  const mismatch = (what, { error }) => {
    if (error && !error.message.includes('with var()')) found.push(`${what}: ${error.message.split('\n')[0]}`);
  };
  const onParseError = (error) => found.push(error.formattedMessage ?? error.message);
  walk(parse(text, { positions: true, onParseError }), function (node) {
    if (node.type === 'Raw' && !this.declaration) {
      found.push(`not understood: ${node.value.slice(0, 80)}`);
    } else if (node.type === 'Atrule' && node.prelude) {
      mismatch(`@${node.name} ${generate(node.prelude)}`, lexer.matchAtrulePrelude(node.name, node.prelude));
    } else if (node.type === 'Declaration' && !node.property.startsWith('--')) {
      const atRule = this.rule ? null : this.atrule?.name;
      const descriptor = atRule === 'font-face' || (atRule === 'page' && node.property === 'size');
      const match = descriptor
        ? lexer.matchAtruleDescriptor(atRule, node.property, node.value)
        : lexer.matchDeclaration(node);
      mismatch(`${node.property}: ${generate(node.value)}`, match);
    }
  });
  return found;
}

const documents = fs.readFileSync(0).toString('utf8').split('\0');
if (documents.at(-1) === '') documents.pop();
const rejected = [];
documents.forEach((text, index) => {
  const found = rejections(text);
  if (found.length > 0) rejected.push({ index, text, reason: found[0] });
});
console.log(`accepted ${documents.length - rejected.length} of ${documents.length}`);
for (const { index, text, reason } of rejected.slice(0, 5)) {
  console.log(`--- document ${index}, ${text.length} characters: ${reason}\n${text.slice(0, 600)}`);
}
process.exit(documents.length > 0 && rejected.length === 0 ? 0 : 1);
