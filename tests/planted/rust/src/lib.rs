//! Small parsers of JSON, XML and SQL with one planted bug each, which only inputs of a certain structure reach. A bug
//! is a panic whose message begins with `planted`; whatever else a text may be, nothing happens.
//!
//! They stand for the programs that users test: no line of them knows of gramjet, and each conjunction is a branch that
//! coverage sees.

// Each condition is to be a branch of its own.
#![allow(clippy::collapsible_if)]

mod json;
mod scan;
mod sql;
mod xml;

/// Reads a JSON text. The bug: an object in twelve arrays or more has a name twice, and the second time its value is a
/// string with an escape.
pub fn json(text: &[u8]) {
    if let Some(value) = json::parse(text) {
        json::load(&value);
    }
}

/// Reads an XML document. The bug: an attribute of an element that is not the first child of its parent has three
/// references or more to entities whose text refers to other entities.
pub fn xml(text: &[u8]) {
    xml::parse(text);
}

/// Reads an SQL query. The bug: the condition of a `HAVING` refers to a table that a query three levels or more further
/// out names.
pub fn sql(text: &[u8]) {
    if let Some(query) = sql::parse(text) {
        sql::resolve(&query, &mut Vec::new());
    }
}

/// Returns the parser of this name: `json`, `xml` or `sql`.
pub fn by_name(name: &str) -> Option<fn(&[u8])> {
    Some(match name {
        "json" => json,
        "xml" => xml,
        "sql" => sql,
        _ => return None,
    })
}
