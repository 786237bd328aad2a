// What the judges in JavaScript share, as in judging.py: read NUL-separated documents from standard input, count,
// report, exit with 0, 1, or 77 if the parser is not installed.

import path from 'node:path';
import process from 'node:process';
import { createRequire } from 'node:module';
import { text as textOf } from 'node:stream/consumers';

const SHOWN_REJECTIONS = 5;
const SHOWN_CHARACTERS = 600;

const require = createRequire(new URL('../../target/judges-node/', import.meta.url));

// The npm package `name`.
export function need(name) {
  try {
    return require(name);
  } catch {
    console.log(`${path.basename(process.argv[1])}: the npm package ${name} is not installed; run ci/judges-setup`);
    process.exit(77);
  }
}

// Judges the documents one by one: `rejection(text)` returns why one is rejected, or nothing, or throws the reason.
export async function judgeEach(rejection) {
  const documents = (await textOf(process.stdin)).split('\0');
  if (documents.at(-1) === '') documents.pop();
  const rejected = [];
  documents.forEach((text, index) => {
    let reason;
    try {
      reason = rejection(text);
    } catch (error) {
      reason = `${error.name}: ${error.message}`;
    }
    if (reason) rejected.push({ index, text, reason });
  });
  console.log(`accepted ${documents.length - rejected.length} of ${documents.length}`);
  for (const { index, text, reason } of rejected.slice(0, SHOWN_REJECTIONS)) {
    console.log(`--- document ${index}, ${text.length} characters: ${reason}\n${text.slice(0, SHOWN_CHARACTERS)}`);
  }
  process.exitCode = documents.length > 0 && rejected.length === 0 ? 0 : 1;
}
