// Checks a query by a schema.
const { buildSchema, parse, validate } = require('graphql');

const schema = buildSchema(`
  type Query { hello: String, user(id: Int): User, first: User }
  type User { name: String, age: Int, friends(first: Int): [User] }
`);

exports.run = text => {
  try {
    validate(schema, parse(text));
  } catch {
    // Texts may be wrong.
  }
};

// What is loaded and made by the first call is no cost of a text.
exports.run('{ hello }');
