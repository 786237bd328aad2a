// Judges YAML by the npm package yaml, strict: no error in any document, keys of a mapping differ, aliases resolve.

import { judgeEach, need } from './judging.mjs';

const { parseAllDocuments } = need('yaml');

judgeEach((text) => {
  const documents = parseAllDocuments(text, { strict: true, uniqueKeys: true, logLevel: 'silent' });
  if (documents.length === 0 || documents[0].contents === null) return 'no document';
  for (const document of documents) {
    if (document.errors.length > 0) return document.errors[0].message.split('\n')[0];
    document.toJS();
  }
});
