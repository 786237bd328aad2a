// Judges ECMAScript 5 programs by acorn (ecmaVersion 5) and by V8, which compiles each as a script; nothing runs.
//
// With --syntax it judges scripts and modules of the latest edition by acorn alone, and of early errors only those that
// need no look at other places: names may be declared twice or not at all, and jumps, `await`, `super`, `import` and
// `export` may stand anywhere.

import process from 'node:process';
import vm from 'node:vm';
import { judgeEach, need } from './judging.mjs';

const acorn = need('acorn');

const Lenient = acorn.Parser.extend((Parser) => class extends Parser {
  raiseRecoverable() {}

  checkLocalExport() {}

  // `break` and `continue` as in a loop whose label is the one that they name.
  parseBreakContinueStatement(node, keyword) {
    this.labels.push({ kind: 'loop', name: null }, { kind: 'loop', name: this.lookAheadName() });
    const parsed = super.parseBreakContinueStatement(node, keyword);
    this.labels.length -= 2;
    return parsed;
  }

  lookAheadName() {
    return /^[^\S\n\r]*([\p{ID_Continue}$]+)/u.exec(this.input.slice(this.end, this.end + 200))?.[1];
  }
});

function syntax(text) {
  const rejections = ['script', 'module'].map((sourceType) => {
    try {
      Lenient.parse(text, {
        ecmaVersion: 'latest',
        sourceType,
        allowReturnOutsideFunction: true,
        allowAwaitOutsideFunction: true,
        allowSuperOutsideMethod: true,
        allowImportExportEverywhere: true,
        checkPrivateFields: false,
      });
    } catch (error) {
      return `acorn, ${sourceType}: ${error.message}`;
    }
  });
  return rejections.every(Boolean) && rejections.join('; ');
}

function edition5(text) {
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
}

judgeEach(process.argv.includes('--syntax') ? syntax : edition5);
