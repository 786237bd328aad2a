// Compiles a template.
const { compile } = require('vue-template-compiler');

exports.run = text => {
  try {
    compile(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('<p :a="b">{{ c }}</p>');
