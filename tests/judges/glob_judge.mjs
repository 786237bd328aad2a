// Judges glob patterns by picomatch, strict about brackets, and minimatch: both make a regular expression, and to
// picomatch it is a pattern. With `--syntax` it may also be a path without wildcards, or one that minimatch expands to
// nothing.

import process from 'node:process';
import { judgeEach, need } from './judging.mjs';

const picomatch = need('picomatch');
const { Minimatch } = need('minimatch');
const syntax = process.argv.includes('--syntax');

judgeEach((text) => {
  const expression = picomatch.makeRe(text, { strictBrackets: true });
  if (syntax) return;
  if (!picomatch.scan(text).isGlob && !/[{]/.test(text)) throw new Error('to picomatch it is a path');
  if (expression.source === '$^') throw new Error('to picomatch it matches nothing');
  const other = new Minimatch(text).makeRe();
  if (!other) throw new Error('to minimatch it is no pattern');
  // What minimatch writes for a class that it does not understand.
  if (/\$\./.test(other.source)) throw new Error('to minimatch it matches nothing');
});
