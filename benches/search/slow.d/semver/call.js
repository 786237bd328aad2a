// Reads a range of versions.
const { Range } = require('semver');

exports.run = text => {
  try {
    new Range(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('^1.2 || >=3.0.0-a');
