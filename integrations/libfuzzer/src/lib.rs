//! The producers that the fuzz targets render choice bytes with.

gramjet::grammar! {
    /// JSON texts.
    pub mod json = "../../grammars/json.ebnf" { max_depth: 1000 };
    /// XML documents.
    pub mod xml = "../../grammars/xml.ebnf" { max_depth: 1000 };
    /// Queries of a small SQL.
    pub mod sql = "../../tests/planted/rust/grammars/sql.ebnf" { max_depth: 1000 };
}
