//! Snapshots of grammars and diagnostics, detection, and hostile schemas.

use expect_test::{Expect, expect};

use super::JsonSchema;
use crate::diagnostics::SourceFile;
use crate::formats::{detect, testing};

fn check(text: &str, expected: Expect) {
    // Blanks, strings and numbers are alike in all schemas.
    let shared = ["blanks", "string", "character", "control", "escape", "integer", "number", "any"];
    let found = testing::parsed(&JsonSchema, text);
    let is_own = |line: &&str| !shared.iter().any(|name| line.starts_with(&format!("{name} ::=")));
    expected.assert_eq(&found.lines().filter(is_own).map(|line| line.to_string() + "\n").collect::<String>());
}

fn check_errors(text: &str, expected: Expect) {
    let found = testing::errors(&JsonSchema, text);
    let is_finding = |line: &&str| line.contains("error[") || line.contains("warning[");
    expected.assert_eq(&found.lines().filter(is_finding).map(|line| line.to_string() + "\n").collect::<String>());
}

#[test]
fn commas_follow_the_first_required_property() {
    check(
        r#"{"properties": {"a": {"type": "null"}, "b": {"const": 1}, "c": {"type": "boolean"}}, "required": ["b"],
            "type": "object", "additionalProperties": false}"#,
        expect![[r#"
            %start document
            document ::= blanks value blanks
            value ::= "{" blanks (("\"a\"" blanks ":" blanks a blanks "," blanks)? "\"b\"" blanks ":" blanks b blanks ("," blanks "\"c\"" blanks ":" blanks c blanks)? | ("\"a\"" blanks ":" blanks a blanks | "\"b\"" blanks ":" blanks b blanks | "\"c\"" blanks ":" blanks c blanks) ("," blanks ("\"a\"" blanks ":" blanks a blanks | "\"b\"" blanks ":" blanks b blanks | "\"c\"" blanks ":" blanks c blanks))* @ 0) "}"
            a ::= "null"
            b ::= "1"
            c ::= "true" | "false"
        "#]],
    );
}

#[test]
fn optional_properties_are_halved() {
    check(
        r#"{"properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}, "d": {"const": 4}},
            "type": "object", "additionalProperties": false}"#,
        expect![[r#"
            %start document
            document ::= blanks value blanks
            value-of-1-2 ::= "\"a\"" blanks ":" blanks a blanks ("," blanks "\"b\"" blanks ":" blanks b blanks)? | "\"b\"" blanks ":" blanks b blanks
            value-of-3-4 ::= "\"c\"" blanks ":" blanks c blanks ("," blanks "\"d\"" blanks ":" blanks d blanks)? | "\"d\"" blanks ":" blanks d blanks
            value-of-1-4 ::= value-of-1-2 ("," blanks value-of-3-4)? | value-of-3-4
            value ::= "{" blanks (value-of-1-4? | ("\"a\"" blanks ":" blanks a blanks | "\"b\"" blanks ":" blanks b blanks | "\"c\"" blanks ":" blanks c blanks | "\"d\"" blanks ":" blanks d blanks) ("," blanks ("\"a\"" blanks ":" blanks a blanks | "\"b\"" blanks ":" blanks b blanks | "\"c\"" blanks ":" blanks c blanks | "\"d\"" blanks ":" blanks d blanks))* @ 0) "}"
            a ::= "1"
            b ::= "2"
            c ::= "3"
            d ::= "4"
        "#]],
    );
}

#[test]
fn counted_properties() {
    check(
        r#"{"properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}},
            "type": "object", "additionalProperties": false, "minProperties": 2, "maxProperties": 2}"#,
        expect![[r#"
            %start document
            document ::= blanks value blanks
            value-2-of-2-3 ::= "\"b\"" blanks ":" blanks b blanks "," blanks "\"c\"" blanks ":" blanks c blanks
            value-1-of-2-3 ::= "\"c\"" blanks ":" blanks c blanks | "\"b\"" blanks ":" blanks b blanks
            value-2-of-1-3 ::= value-2-of-2-3 | "\"a\"" blanks ":" blanks a blanks "," blanks value-1-of-2-3
            value ::= "{" blanks (value-2-of-1-3 | ("\"a\"" blanks ":" blanks a blanks | "\"b\"" blanks ":" blanks b blanks | "\"c\"" blanks ":" blanks c blanks) ("," blanks ("\"a\"" blanks ":" blanks a blanks | "\"b\"" blanks ":" blanks b blanks | "\"c\"" blanks ":" blanks c blanks))* @ 0) "}"
            a ::= "1"
            b ::= "2"
            c ::= "3"
        "#]],
    );
}

#[test]
fn references_are_rules() {
    check(
        r##"{"$ref": "#/$defs/list", "$defs": {"list": {"anyOf": [{"type": "null"}, {"type": "array",
            "prefixItems": [{"type": "boolean"}, {"$ref": "#/$defs/list"}], "items": false, "minItems": 2}]}}}"##,
        expect![[r#"
            %start document
            document ::= blanks list blanks
            list ::= list.2 | list.3
            list.2 ::= "null"
            list.3 ::= "[" blanks list.4 blanks "," blanks list blanks () "]"
            list.4 ::= "true" | "false"
        "#]],
    );
}

#[test]
fn ranges_and_patterns() {
    check(
        r#"{"type": "integer", "minimum": -3, "maximum": 12}"#,
        expect![[r#"
        %start document
        document ::= blanks value blanks
        value ::= ([0-9] | [1] [0-2] | "-" [1-3]) (() | "." "0"+ @ 0)
    "#]],
    );
    check(
        r#"{"type": "string", "pattern": "^[a-z\"]+\\d$", "maxLength": 4}"#,
        expect![[r#"
        %start document
        document ::= blanks value blanks
        value ::= "\"" ([a-z] | "\\\"" @ 0){1,3} [0-9] "\""
    "#]],
    );
}

#[test]
fn what_is_not_honoured_is_said_with_its_path() {
    check_errors(
        r##"{"properties": {"a": {"format": "phone"}, "b": {"$ref": "other.json#/x"}, "c": {"not": {"format": "uri"}},
            "d": {"type": "string", "pattern": "(a)\\1"},
            "e": {"type": "array", "items": {"type": "object"}, "uniqueItems": true, "minItems": 3}}}"##,
        expect![[r#"
            g:1:33: warning[loose-schema]: `#/properties/a/format` names the format `phone`, which is not known
            g:1:57: warning[loose-schema]: `#/properties/b/$ref` is not honoured
            g:1:88: warning[loose-schema]: `#/properties/c/not` is not honoured
            g:2:48: warning[loose-schema]: `#/properties/d/pattern` is no regular expression that can be drawn
            g:3:80: warning[loose-schema]: `#/properties/e/uniqueItems` asks for different items where they cannot be told apart
        "#]],
    );
}

#[test]
fn contradictions_are_errors_with_their_paths() {
    for (text, expected) in [
        (
            r#"{"type": "array", "minItems": 3, "maxItems": 2}"#,
            expect![[r#"
            g:1:46: error[unsatisfiable-schema]: no value is valid under `#`, because of `#/maxItems`
        "#]],
        ),
        (
            r#"{"enum": []}"#,
            expect![[r#"
            g:1:10: error[unsatisfiable-schema]: no value is valid under `#`, because of `#/enum`
        "#]],
        ),
        (
            r#"{"type": "object", "properties": {"a": false}, "required": ["a"]}"#,
            expect![[r#"
            g:1:40: error[unsatisfiable-schema]: no value is valid under `#`: it requires `a`, for which `#/properties/a` allows none
        "#]],
        ),
        (
            r#"{"allOf": [{"type": "string"}, {"type": "null"}]}"#,
            expect![[r#"
            g:1:41: error[unsatisfiable-schema]: no value is valid under `#`, because of `#/allOf/1/type`
        "#]],
        ),
        (
            r#"{"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 4}"#,
            expect![[r#"
            g:1:64: error[unsatisfiable-schema]: no value is valid under `#`, because of `#/exclusiveMaximum`
        "#]],
        ),
        (
            r##"{"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}"##,
            expect![[r#"
            g:1:1: error[unsatisfiable-schema]: no finite value is valid under `#`: each needs another one within it
        "#]],
        ),
        (
            r##"{"$ref": "#"}"##,
            expect![[r#"
            g:1:1: error[unsatisfiable-schema]: `#` needs itself, without a value in between
        "#]],
        ),
        (
            r##"{"$ref": "#/nowhere"}"##,
            expect![[r#"
            g:1:10: error[undefined-rule]: `#` refers to `#/nowhere`, which is not in the file
        "#]],
        ),
        (
            r#"{"properties": {"a": {"minLength": 3, "maxLength": 2, "type": "string"}}}"#,
            expect![[r#"
            g:1:63: warning[unsatisfiable-schema]: no value is valid under `#/properties/a`, because of `#/properties/a/type`
        "#]],
        ),
        (
            "[]",
            expect![[r#"
            g:1:1: error[syntax]: `#` is no schema
        "#]],
        ),
    ] {
        check_errors(text, expected);
    }
}

#[test]
fn one_of_closed_objects_has_a_property_that_the_other_lacks() {
    check(
        r#"{"oneOf": [{"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": false},
            {"type": "object", "properties": {"b": {"const": 2}}, "additionalProperties": false}]}"#,
        expect![[r#"
            %start document
            document ::= blanks value blanks
            value ::= value.2 | value.3 | value.4 @ 0 | value.5 @ 0
            value.2 ::= "{" blanks ("\"a\"" blanks ":" blanks a blanks | "\"a\"" blanks ":" blanks a blanks ("," blanks "\"a\"" blanks ":" blanks a blanks)* @ 0) "}"
            value.3 ::= "{" blanks ("\"b\"" blanks ":" blanks b blanks | "\"b\"" blanks ":" blanks b blanks ("," blanks "\"b\"" blanks ":" blanks b blanks)* @ 0) "}"
            value.4 ::= "{" blanks (("\"a\"" blanks ":" blanks a blanks)? | "\"a\"" blanks ":" blanks a blanks ("," blanks "\"a\"" blanks ":" blanks a blanks)* @ 0) "}"
            value.5 ::= "{" blanks (("\"b\"" blanks ":" blanks b blanks)? | "\"b\"" blanks ":" blanks b blanks ("," blanks "\"b\"" blanks ":" blanks b blanks)* @ 0) "}"
            a ::= "1"
            b ::= "2"
        "#]],
    );
    check(
        r#"{"type": "object", "properties": {"a": {"const": 1}, "k": {"const": "x"}}, "additionalProperties": false,
            "not": {"properties": {"a": {}}, "additionalProperties": {"type": "number"}}}"#,
        expect![[r#"
            %start document
            document ::= blanks value blanks
            value ::= "{" blanks (("\"a\"" blanks ":" blanks a.2 blanks "," blanks)? "\"k\"" blanks ":" blanks k.2 blanks | ("\"a\"" blanks ":" blanks a.2 blanks | "\"k\"" blanks ":" blanks k.2 blanks) ("," blanks ("\"a\"" blanks ":" blanks a.2 blanks | "\"k\"" blanks ":" blanks k.2 blanks))* @ 0) "}"
            k ::= "\"x\""
            a.2 ::= "1"
            k.2 ::= "\"x\""
        "#]],
    );
}

#[test]
fn schemas_are_told_from_grammars() {
    for (text, format) in [
        (r#"{"$schema": "http://json-schema.org/draft-07/schema#"}"#, "jsonschema"),
        (r#"{"title": "x", "type": ["string", "null"]}"#, "jsonschema"),
        (r#"{"properties": {"rules": {"type": "object"}}, "type": "object"}"#, "jsonschema"),
        (r#"{"description": "\"type\": [", "oneOf": [{"type": "null"}]}"#, "jsonschema"),
        (r#"{"<start>": ["<type>"], "<type>": ["object"]}"#, "fuzzingbook"),
        (r#"{"type": ["'x' A"], "A": ["'y'"]}"#, "gramatron"),
        (r#"{"$schema": "x", "name": "x", "rules": {"a": {"type": "BLANK"}}}"#, "tree-sitter"),
        (r#"[["START", "type"]]"#, "nautilus"),
    ] {
        assert_eq!(detect(&SourceFile::new("g.json", text)).name(), format, "{text}");
    }
    assert_eq!(detect(&SourceFile::new("g.schema.json", "true")).name(), "jsonschema");
}

#[test]
fn large_schemas_take_no_exponential_time() {
    let all = |count: usize, unit: &dyn Fn(usize) -> String| (0..count).map(unit).collect::<Vec<_>>().join(",");
    let chain = all(3000, &|i| format!("\"a{i}\": {{\"$ref\": \"#/$defs/a{}\"}}", i + 1));
    let choices = all(60, &|i| format!("{{\"anyOf\": [{{\"required\": [\"a{i}\"]}}, {{\"required\": [\"b{i}\"]}}]}}"));
    let branches = all(40, &|i| format!("{{\"properties\": {{\"a{i}\": {{\"type\": \"integer\"}}}}}}"));
    let properties = all(20_000, &|i| format!("\"p{i}\": true"));
    for text in [
        format!("{{\"$ref\": \"#/$defs/a0\", \"$defs\": {{{chain}, \"a3000\": true}}}}"),
        format!("{{\"allOf\": [{choices}]}}"),
        format!("{{\"oneOf\": [{branches}]}}"),
        format!("{{\"type\": \"object\", \"properties\": {{{properties}}}}}"),
        format!("{{\"type\": \"object\", \"properties\": {{{properties}}}, \"minProperties\": 9000}}"),
        "{\"items\": ".repeat(150) + "true" + &"}".repeat(150),
        "{\"not\": ".repeat(150) + "true" + &"}".repeat(150),
        r#"{"pattern": "^(a?){120}(a|b|ab)*c{100}(?!x)(x{50}){50}$"}"#.to_string(),
    ] {
        let shown: String = text.chars().take(60).collect();
        testing::ends(&shown, || drop(testing::everything(&JsonSchema, &text)));
    }
}

#[test]
fn keywords_with_wrong_values_do_no_harm() {
    let values = ["7", "-1", "1e400", "null", "true", "\"x\"", "[]", "[7]", "{}", "{\"a\": 7}"];
    let keys = "$ref allOf anyOf oneOf not if then type enum const minimum exclusiveMaximum multipleOf minLength pattern \
                format items prefixItems additionalItems maxItems uniqueItems contains properties required \
                additionalProperties patternProperties propertyNames minProperties dependentRequired dependencies $id \
                $anchor unevaluatedProperties unevaluatedItems";
    for key in keys.split_whitespace() {
        for value in values {
            testing::everything(&JsonSchema, &format!("{{\"{key}\": {value}}}"));
            testing::everything(&JsonSchema, &format!("{{\"not\": {{\"{key}\": {value}}}, \"items\": {value}}}"));
        }
    }
}
