// Judges CSS style sheets by css-tree: no parse error, and every declaration's value matches its property's syntax.
//
// What css-tree cannot match at all passes: custom properties, and values with var().

import { judgeEach, need } from './judging.mjs';

const { parse, lexer, walk, generate } = need('css-tree');

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

judgeEach((text) => rejections(text)[0]);
