// Removes the control sequences of a terminal.
const pattern = require('ansi-regex');

exports.run = text => {
  text.replace(pattern(), '');
};

// What is loaded and made by the first call is no cost of a text.
exports.run('\u001B[31;1ma\u001B[0m');
