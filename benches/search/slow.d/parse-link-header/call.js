// Reads the header of links.
const parse = require('parse-link-header');

exports.run = text => {
  try {
    parse(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('<https://a.b/c?d=1>; rel="next"');
