// Checks an e-mail address.
const { email } = require('npm-user-validate');

exports.run = text => {
  try {
    email(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('a@b.c');
