// Judges TypeScript modules by the parser of TypeScript: the syntax alone.

import { judgeEach, need } from './judging.mjs';

const ts = need('typescript');

judgeEach((text) => {
  const source = ts.createSourceFile('document.ts', text, ts.ScriptTarget.Latest, false, ts.ScriptKind.TS);
  const [first] = source.parseDiagnostics;
  return first && `${ts.flattenDiagnosticMessageText(first.messageText, ' ')} (at ${first.start})`;
});
