// Matches a name with a pattern.
const minimatch = require('minimatch');

exports.run = text => {
  try {
    minimatch('src/a.js', text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('src/{a,b}.*');
