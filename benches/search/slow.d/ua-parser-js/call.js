// Reads the header of a browser.
const parser = require('ua-parser-js');

exports.run = text => {
  try {
    parser(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('Mozilla/5.0 (X11; Linux x86_64) Firefox/99.0');
