// Judges Dockerfiles by the npm package dockerfile-utils: no error. With `--warnings` no warning, either.

import process from 'node:process';
import { judgeEach, need } from './judging.mjs';

const { validate } = need('dockerfile-utils');
const ERROR = 1;
const worst = process.argv.includes('--warnings') ? 4 : ERROR;

judgeEach((text) => {
  const problem = validate(text).find(({ severity }) => severity <= worst);
  return problem && `${problem.range.start.line + 1}: ${problem.message}`;
});
