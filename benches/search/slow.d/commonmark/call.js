// Parses and renders Markdown.
const { HtmlRenderer, Parser } = require('commonmark');

exports.run = text => {
  try {
    new HtmlRenderer().render(new Parser().parse(text));
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('*a*');
