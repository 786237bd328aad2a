// Reads queries.
const browserslist = require('browserslist');

exports.run = text => {
  try {
    browserslist(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('last 2 versions, > 1%');
