// Reads the address of a repository.
const hosted = require('hosted-git-info');

exports.run = text => {
  try {
    hosted.fromUrl(text);
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('github:a/b');
