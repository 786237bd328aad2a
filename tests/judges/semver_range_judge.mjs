// Judges ranges of versions by npm's own parser, the package semver. Not in its loose mode.

import { judgeEach, need } from './judging.mjs';

const { Range } = need('semver');

judgeEach((text) => {
  new Range(text);
});
