// Judges GraphQL documents by the reference implementation, the npm package graphql: they parse.

import { judgeEach, need } from './judging.mjs';

const { parse } = need('graphql');

judgeEach((text) => {
  parse(text);
});
