//! Requests of OpenAPI documents: bodies, forms and targets, from JSON and YAML.

use gramjet_compiler::reference::{Limits, render};
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_testkit::Rng;

const PETS: &str = r##"
openapi: 3.0.3
info: {title: Pets, version: "1"}
paths:
  /pets:
    get:
      operationId: listPets
      parameters:
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 100}}
        - {name: tag, in: query, required: true, schema: {type: array, maxItems: 2, items: {enum: [cat, "big dog"]}}}
        - $ref: "#/components/parameters/Sort"
    post:
      requestBody: {$ref: "#/components/requestBodies/Pet"}
  /pets/{id}/photos:
    parameters:
      - {name: id, in: path, required: true, schema: {type: string, pattern: "^[a-z /]{2}$"}}
    get:
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer, minimum: 5, maximum: 6}}
    put:
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              required: [name]
              properties:
                name: {type: string, enum: ["a&b"]}
                age: {type: integer, minimum: 1, maximum: 3}
    delete:
      requestBody: {content: {application/xml: {}}}
components:
  parameters:
    Sort: {name: sort, in: query, explode: false, schema: {type: array, minItems: 2, maxItems: 2, items: {type: boolean}}}
  requestBodies:
    Pet: {content: {application/json; charset=utf-8: {schema: {$ref: "#/components/schemas/Pet"}}}}
  schemas:
    Pet:
      type: object
      required: [id]
      additionalProperties: false
      properties:
        id: {type: integer, format: int64, minimum: 7, maximum: 9}
        tag: {type: string, enum: [x], nullable: true}
        note: {type: boolean, nullable: true}
"##;

fn compiled(name: &str, text: &str, start: Option<&str>) -> Result<Compiled, String> {
    let (file, start) = (SourceFile::new(name, text), start.map(str::to_string));
    let options = Options { start, ..Options::default() };
    compile(&file, &options).map(|(compiled, _)| compiled).map_err(|errors| errors.to_plain_text(&file))
}

/// Returns texts of a request.
fn texts(start: &str) -> Vec<String> {
    let compiled = compiled("pets.yaml", PETS, Some(start)).unwrap_or_else(|error| panic!("{error}"));
    let mut rng = Rng::new(1);
    let text = |_| {
        let choices = rng.bytes(20);
        let found = render(&compiled.lowered, &compiled.pools, Limits::default(), &choices).output;
        String::from_utf8(found).expect("text")
    };
    let mut texts: Vec<String> = (0..200).map(text).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

#[test]
fn bodies_are_documents_of_their_schema() {
    for start in ["POST /pets", "post /pets"] {
        let found = texts(start);
        assert!(found.contains(&r#"{"id":7,"tag":"x","note":null}"#.to_string()), "{found:?}");
        assert!(found.iter().all(|text| text.starts_with(r#"{"id":"#) && !text.contains("\"tag\":null")), "{found:?}");
    }
}

#[test]
fn targets_have_the_parameters_of_the_path_and_of_the_query() {
    let found = texts("listPets");
    for expected in ["/pets?tag=cat", "/pets?tag=cat&tag=big%20dog", "/pets?limit=100&tag=cat&sort=true,false"] {
        assert!(found.iter().any(|text| text == expected), "{expected} in {found:?}");
    }
    assert!(found.iter().all(|text| text.contains("tag=")), "{found:?}");
    // The parameter of the operation is in force before that of the path.
    assert_eq!(texts("GET /pets/{id}/photos"), ["/pets/5/photos", "/pets/6/photos"]);
    let found = texts("PUT /pets/{id}/photos?");
    assert!(found.iter().any(|text| text.contains('%')) && found.iter().all(|text| text.matches('/').count() == 3));
}

#[test]
fn forms_are_pairs() {
    let found = texts("PUT /pets/{id}/photos");
    assert_eq!(found, ["name=a%26b", "name=a%26b&age=1", "name=a%26b&age=2", "name=a%26b&age=3"]);
}

#[test]
fn requests_that_are_not_there_or_not_chosen_are_told() {
    for (start, expected) in [
        (None, "none is chosen"),
        (Some("PATCH /pets"), "no operation `PATCH /pets`"),
        (Some("DELETE /pets/{id}/photos"), "the body of this request is `application/xml`"),
    ] {
        let error = compiled("pets.yaml", PETS, start).map(|_| ()).expect_err("no request");
        assert!(error.contains(expected), "{error}");
    }
    let error = compiled("pets.yaml", PETS, None).map(|_| ()).expect_err("no request");
    assert!(error.contains("`PUT /pets/{id}/photos`") && error.contains("pets.yaml:2:"), "{error}");
    for (text, expected) in [
        ("{\"openapi\": \"2.0\"}", "no document of OpenAPI 3"),
        ("openapi: 3.1.0\npaths: [", "no YAML"),
        ("openapi: 3.1.0\npaths: {}\n", "has no operation"),
    ] {
        let file = if text.starts_with('{') { "api.yaml" } else { "api.yml" };
        let error = compiled(file, text, None).map(|_| ()).expect_err("no request");
        assert!(error.contains(expected), "{error}");
    }
}

/// Returns the texts of the only operation of a path, with these parameters.
fn target(path: &str, parameters: &str) -> Result<Vec<String>, String> {
    let text = format!("openapi: 3.1.0\npaths:\n  '{path}':\n    get: {{parameters: [{parameters}]}}\n");
    let compiled = compiled("api.yaml", &text, None)?;
    let mut rng = Rng::new(2);
    let text = |_| render(&compiled.lowered, &compiled.pools, Limits::default(), &rng.bytes(12)).output;
    let mut texts: Vec<String> = (0..100).map(text).map(|text| String::from_utf8_lossy(&text).into_owned()).collect();
    texts.sort_unstable();
    texts.dedup();
    Ok(texts)
}

#[test]
fn styles_and_literal_parts_of_paths_are_kept() {
    let list = "schema: {type: array, minItems: 2, maxItems: 2, items: {const: 1}}";
    for (path, parameters, expected) in [
        ("/m/{m}", format!("{{name: m, in: path, style: matrix, {list}}}"), "/m/;m=1,1"),
        ("/m/{m}", format!("{{name: m, in: path, style: matrix, explode: true, {list}}}"), "/m/;m=1;m=1"),
        ("/l/{l}", format!("{{name: l, in: path, style: label, explode: true, {list}}}"), "/l/.1.1"),
        ("/a b#/é%41", String::new(), "/a%20b%23/%C3%A9%41"),
        ("/q", format!("{{name: s, in: query, required: true, style: pipeDelimited, {list}}}"), "/q?s=1%7C1"),
        ("/q?a=1", "{name: z, in: query, required: true, schema: {const: 3}}".to_string(), "/q?a=1&z=3"),
        // Points and nothing would be another path.
        ("/{a}", "{name: a, in: path, schema: {enum: ['..', '.', '', b]}}".to_string(), "/b"),
    ] {
        assert_eq!(target(path, &parameters).as_deref(), Ok(&[expected.to_string()][..]), "{path} {parameters}");
    }
}

#[test]
fn what_parameters_cannot_be_is_left_out_or_told() {
    let object = "schema: {type: object}";
    let optional =
        format!("{{name: o, in: query, {object}}}, {{name: n, in: query, required: true, schema: {{const: 1}}}}");
    assert_eq!(target("/q", &optional).as_deref(), Ok(&["/q?n=1".to_string()][..]));
    let either = "{name: e, in: query, required: true, schema: {anyOf: [{type: object}, {const: 1}]}}";
    assert_eq!(target("/q", either).as_deref(), Ok(&["/q?e=1".to_string()][..]));
    for (parameters, expected) in [
        (format!("{{name: o, in: query, required: true, {object}}}"), "the parameter `o` has no value"),
        ("{$ref: '#/components/parameters/None'}".to_string(), "leads to nothing in this file"),
        ("{$ref: 'other.yaml#/a'}".to_string(), "leads to nothing in this file"),
    ] {
        let error = target("/q", &parameters).expect_err("no target");
        assert!(error.contains(expected), "{error}");
    }
}

/// Lists and alternatives of parameters that refer to themselves end.
#[test]
fn parameters_of_recursive_schemas_are_bounded() {
    let text = "openapi: 3.1.0\npaths: {/a: {get: {parameters: [{name: a, in: query, schema: {$ref: '#/components/schemas/A'}}]}}}\n\
                components: {schemas: {A: {anyOf: [{type: array, items: {$ref: '#/components/schemas/A'}}, \
                {type: array, maxItems: 3, items: {$ref: '#/components/schemas/A'}}, {type: string}]}}}\n";
    compiled("api.yaml", text, None).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn json_says_as_much_as_yaml() {
    let json = r#"{"openapi": "3.1.0", "paths": {"/a": {"post": {"requestBody": {"content": {"application/json":
        {"schema": {"type": ["integer", "null"], "minimum": 3, "maximum": 3}}}}}}}}"#;
    // A single operation needs no start rule.
    let compiled = compiled("api.json", json, None).unwrap_or_else(|error| panic!("{error}"));
    let found = |choice| render(&compiled.lowered, &compiled.pools, Limits::default(), &[choice; 9]).output;
    let mut both = [found(0), found(255)];
    both.sort_unstable();
    assert_eq!(both, [b"3".to_vec(), b"null".to_vec()]);
}
