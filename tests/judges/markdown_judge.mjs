// Judges Markdown texts by commonmark, the reference implementation: every text is Markdown, so the tree must hold more
// than paragraphs of plain text, and must be made within a second.

import { judgeEach, need } from './judging.mjs';

const { Parser } = need('commonmark');
const PLAIN = new Set(['document', 'paragraph', 'text', 'softbreak']);
const parser = new Parser();

judgeEach((text) => {
  const begin = performance.now();
  const walker = parser.parse(text).walker();
  const took = performance.now() - begin;
  if (took > 1000) return `${took} ms`;
  if (text.includes('\ufffd')) return 'not UTF-8';
  for (let event = walker.next(); event; event = walker.next()) {
    if (event.entering && !PLAIN.has(event.node.type)) return;
  }
  return 'nothing but plain text';
});
