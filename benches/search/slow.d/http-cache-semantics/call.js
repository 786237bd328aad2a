// Reads the headers of a response.
const Policy = require('http-cache-semantics');

exports.run = text => {
  try {
    new Policy({ headers: {} }, { status: 200, headers: { 'cache-control': text } });
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('public, max-age=9');
