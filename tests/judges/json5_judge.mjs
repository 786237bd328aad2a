// Judges JSON5 documents by the reference implementation, the npm package json5.

import { judgeEach, need } from './judging.mjs';

const JSON5 = need('json5');

judgeEach((text) => {
  JSON5.parse(text);
});
