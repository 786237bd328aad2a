// Reads a colour.
const colour = require('color-string');

exports.run = text => {
  try {
    colour.get(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('rgb(1, 2, 3)');
