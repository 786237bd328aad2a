// Parses a formula of CSS.
const { parse } = require('nth-check');

exports.run = text => {
  try {
    parse(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('2n+1');
