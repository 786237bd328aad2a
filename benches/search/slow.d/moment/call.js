// Reads a date.
const moment = require('moment');

moment.suppressDeprecationWarnings = true;

exports.run = text => {
  try {
    moment(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('Mon, 25 Dec 1995 13:30:00 +0430');
