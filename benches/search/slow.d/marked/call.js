// Renders Markdown.
const { marked } = require('marked');

exports.run = text => {
  try {
    marked.parse(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('*a*');
