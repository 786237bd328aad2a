// Judges JSONPath queries by the npm package jsonpath-rfc9535: they are well formed.

import { judgeEach, need } from './judging.mjs';

const { default: parse } = need('jsonpath-rfc9535/parser');

judgeEach((text) => {
  parse(text);
});
