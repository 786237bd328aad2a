// Judges formulas by KaTeX, strict: it typesets each in display mode, without an error or a warning.
// With `--loose`, warnings are allowed.

import process from 'node:process';
import { judgeEach, need } from './judging.mjs';

const katex = need('katex');
const strict = process.argv.includes('--loose') ? 'ignore' : 'error';

judgeEach((text) => {
  katex.renderToString(text, { displayMode: true, throwOnError: true, strict, output: 'mathml' });
});
