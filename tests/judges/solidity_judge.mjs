// Judges Solidity source files by the npm package @solidity-parser/parser: they parse.

import { judgeEach, need } from './judging.mjs';

const { parse } = need('@solidity-parser/parser');

judgeEach((text) => {
  parse(text);
});
