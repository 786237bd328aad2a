// Parses selectors.
const { parse } = require('css-what');

exports.run = text => {
  try {
    parse(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('a[b=c] > d:not(e)');
