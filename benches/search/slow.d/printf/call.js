// Formats a number.
const printf = require('printf');

exports.run = text => {
  try {
    printf(text, 1, 2);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('%5.2f');
