// Renders Markdown by marked.
const { marked } = require('marked');

exports.render = text => {
    marked.parse(text);
};

// What is loaded and made by the first call is no cost of a text.
exports.render('*a*');
