//! Queries of a small SQL: `SELECT` with joins, conditions, groups and sub-selects.

use crate::scan::Scan;

/// Deeper queries are refused.
const MAX_DEPTH: usize = 200;

#[derive(Default)]
pub struct Query {
    /// The names that the tables of `FROM` and `JOIN` go by.
    tables: Vec<Vec<u8>>,
    /// The parts of its clauses except `HAVING`.
    parts: Vec<Part>,
    having: Vec<Part>,
}

pub enum Part {
    /// `table.column`: the table.
    Column(Vec<u8>),
    Query(Query),
}

pub fn parse(text: &[u8]) -> Option<Query> {
    let mut reader = Reader { scan: Scan::new(text), depth: 0 };
    let query = reader.query()?;
    let _ = reader.symbol(b";");
    reader.scan.space();
    reader.scan.is_at_end().then_some(query)
}

/// Finds the table of each column; the bug is here. `outer` has the tables of the queries around this one, innermost
/// last.
pub fn resolve<'q>(query: &'q Query, outer: &mut Vec<&'q [Vec<u8>]>) {
    outer.push(&query.tables);
    for part in &query.parts {
        match part {
            Part::Query(query) => resolve(query, outer),
            Part::Column(table) => drop(level(table, outer)),
        }
    }
    for part in &query.having {
        match part {
            Part::Query(query) => resolve(query, outer),
            Part::Column(table) => {
                if let Some(level) = level(table, outer) {
                    if level >= 3 {
                        panic!("planted: groups keep the columns of two levels");
                    }
                }
            }
        }
    }
    outer.pop();
}

/// Returns how many levels further out a table has this name.
fn level(table: &[u8], outer: &[&[Vec<u8>]]) -> Option<usize> {
    outer.iter().rev().position(|tables| tables.iter().any(|name| name == table))
}

struct Reader<'t> {
    scan: Scan<'t>,
    depth: usize,
}

const RESERVED: [&[u8]; 18] = [
    b"SELECT",
    b"DISTINCT",
    b"FROM",
    b"JOIN",
    b"LEFT",
    b"ON",
    b"WHERE",
    b"GROUP",
    b"BY",
    b"HAVING",
    b"ORDER",
    b"LIMIT",
    b"AS",
    b"AND",
    b"OR",
    b"NOT",
    b"IN",
    b"EXISTS",
];

impl Reader<'_> {
    fn symbol(&mut self, symbol: &[u8]) -> Option<()> {
        self.scan.space();
        self.scan.take(symbol)
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.scan.space();
        let len = self.scan.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let next = &self.scan.rest()[..len];
        if next.eq_ignore_ascii_case(word) { self.scan.take(next) } else { None }
    }

    fn name(&mut self) -> Option<Vec<u8>> {
        self.scan.space();
        self.scan.peek().filter(|first| first.is_ascii_alphabetic() || *first == b'_')?;
        let name = self.scan.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_').to_ascii_lowercase();
        (!RESERVED.iter().any(|word| word.eq_ignore_ascii_case(&name))).then_some(name)
    }

    fn number(&mut self) -> Option<()> {
        self.scan.space();
        (!self.scan.run(|byte| byte.is_ascii_digit()).is_empty()).then_some(())
    }

    fn query(&mut self) -> Option<Query> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut query = Query::default();
        self.word(b"SELECT")?;
        let _ = self.word(b"DISTINCT");
        if self.symbol(b"*").is_none() {
            loop {
                self.sum(&mut query.parts)?;
                if self.word(b"AS").is_some() {
                    self.name()?;
                }
                if self.symbol(b",").is_none() {
                    break;
                }
            }
        }
        self.word(b"FROM")?;
        self.table(&mut query)?;
        loop {
            let left = self.word(b"LEFT");
            match self.word(b"JOIN") {
                Some(()) => self.table(&mut query)?,
                None if left.is_none() => break,
                None => return None,
            }
            self.word(b"ON")?;
            self.condition(&mut query.parts)?;
        }
        if self.word(b"WHERE").is_some() {
            self.condition(&mut query.parts)?;
        }
        if self.word(b"GROUP").is_some() {
            self.word(b"BY")?;
            self.sums(&mut query.parts)?;
            if self.word(b"HAVING").is_some() {
                let mut having = Vec::new();
                self.condition(&mut having)?;
                query.having = having;
            }
        }
        if self.word(b"ORDER").is_some() {
            self.word(b"BY")?;
            self.sums(&mut query.parts)?;
        }
        if self.word(b"LIMIT").is_some() {
            self.number()?;
        }
        self.depth -= 1;
        Some(query)
    }

    fn table(&mut self, query: &mut Query) -> Option<()> {
        if self.symbol(b"(").is_some() {
            query.parts.push(Part::Query(self.query()?));
            self.symbol(b")")?;
        } else {
            self.name()?;
        }
        self.word(b"AS")?;
        query.tables.push(self.name()?);
        Some(())
    }

    fn condition(&mut self, parts: &mut Vec<Part>) -> Option<()> {
        loop {
            self.comparison(parts)?;
            if self.word(b"AND").is_none() && self.word(b"OR").is_none() {
                return Some(());
            }
        }
    }

    fn comparison(&mut self, parts: &mut Vec<Part>) -> Option<()> {
        while self.word(b"NOT").is_some() {}
        if self.word(b"EXISTS").is_some() {
            return self.sub_select(parts);
        }
        self.sum(parts)?;
        if self.word(b"IN").is_some() {
            return self.sub_select(parts);
        }
        [&b"<>"[..], b"<=", b">=", b"<", b">", b"="].iter().find_map(|operator| self.symbol(operator))?;
        self.sum(parts)
    }

    fn sub_select(&mut self, parts: &mut Vec<Part>) -> Option<()> {
        self.symbol(b"(")?;
        parts.push(Part::Query(self.query()?));
        self.symbol(b")")
    }

    fn sums(&mut self, parts: &mut Vec<Part>) -> Option<()> {
        loop {
            self.sum(parts)?;
            if self.symbol(b",").is_none() {
                return Some(());
            }
        }
    }

    fn sum(&mut self, parts: &mut Vec<Part>) -> Option<()> {
        loop {
            self.term(parts)?;
            if [&b"+"[..], b"-", b"*", b"/"].iter().find_map(|operator| self.symbol(operator)).is_none() {
                return Some(());
            }
        }
    }

    fn term(&mut self, parts: &mut Vec<Part>) -> Option<()> {
        if self.symbol(b"'").is_some() {
            return self.scan.until(b"'").map(drop);
        }
        if self.number().is_some() {
            return Some(());
        }
        if self.symbol(b"(").is_some() {
            parts.push(Part::Query(self.query()?));
            return self.symbol(b")");
        }
        let name = self.name()?;
        if self.scan.take(b".").is_some() {
            self.name()?;
            parts.push(Part::Column(name));
        } else if self.scan.take(b"(").is_some() {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return None;
            }
            self.sum(parts)?;
            self.depth -= 1;
            self.symbol(b")")?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    fn nested(column: &str) -> String {
        let sub = |inner: &str, name: &str| format!("SELECT * FROM x AS {name} WHERE EXISTS ({inner})");
        let inner = format!("SELECT id FROM x AS d GROUP BY id HAVING {column} > 1");
        sub(&sub(&sub(&inner, "c"), "b"), "a")
    }

    #[test]
    fn whatever_is_not_the_bug_is_read() {
        for text in [
            "select count(a.id) AS n, 'x' FROM (SELECT * FROM t AS a) AS a LEFT JOIN u AS b ON a.id = b.id;",
            "SELECT DISTINCT id + 1 FROM t AS a WHERE NOT id IN (SELECT 1 FROM t AS b) ORDER BY id, a.x LIMIT 3",
        ] {
            assert!(super::parse(text.as_bytes()).is_some(), "{text}");
            crate::sql(text.as_bytes());
        }
        for text in
            ["", "SELECT", "SELECT * FROM", "SELECT * FROM t", "SELECT from FROM t AS a", "SELECT 1 FROM t AS a x"]
        {
            assert!(super::parse(text.as_bytes()).is_none(), "{text}");
        }
        for column in ["d.id", "c.id", "b.id", "e.id", "id"] {
            crate::sql(nested(column).as_bytes());
        }
        crate::sql("SELECT (".repeat(100_000).as_bytes());
        crate::sql(["SELECT ", &"f(".repeat(100_000)].concat().as_bytes());
    }

    #[test]
    #[should_panic(expected = "planted")]
    fn the_bug_is_there() {
        crate::sql(nested("a.id").as_bytes());
    }
}
