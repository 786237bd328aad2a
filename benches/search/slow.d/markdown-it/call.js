// Renders Markdown.
const markdown = require('markdown-it')();

exports.run = text => {
  try {
    markdown.render(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('*a*');
