// Says whether a text is SVG.
const isSvg = require('is-svg');

exports.run = text => {
  try {
    isSvg(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('<svg></svg>');
