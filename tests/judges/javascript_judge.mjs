// Judges ECMAScript 5 programs by acorn (ecmaVersion 5) and by V8, which compiles each as a script; nothing runs.

import vm from 'node:vm';
import { judgeEach, need } from './judging.mjs';

const acorn = need('acorn');

judgeEach((text) => {
  try {
    acorn.parse(text, { ecmaVersion: 5, sourceType: 'script' });
  } catch (error) {
    return `acorn: ${error.message}`;
  }
  try {
    new vm.Script(text);
  } catch (error) {
    return `V8: ${error.message}`;
  }
});
