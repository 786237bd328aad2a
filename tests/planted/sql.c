/* A parser of the subset of SQL in sql.ebnf, with a planted bug: it aborts on a statement that conforms and has a query
 * that is nested at least three deep by IN or EXISTS, is grouped with an aggregate in its HAVING, and has a LIMIT. */

#include "planted.h"

enum { QUERIES = 3 };

struct parser {
    const char *at, *end;
    int nesting, queries;
    int aggregates;
    int bug;
};

static int query(struct parser *p);
static int condition(struct parser *p);

static int looks_at(struct parser *p, const char *text) {
    size_t len = strlen(text);
    return (size_t)(p->end - p->at) >= len && memcmp(p->at, text, len) == 0;
}

static int take(struct parser *p, const char *text) {
    if (!looks_at(p, text)) return 0;
    p->at += strlen(text);
    return 1;
}

static int is_lower(struct parser *p) {
    return p->at < p->end && *p->at >= 'a' && *p->at <= 'z';
}

static int is_digit(struct parser *p) {
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

static int name(struct parser *p) {
    if (!is_lower(p)) return 0;
    while (is_lower(p) || is_digit(p) || (p->at < p->end && *p->at == '_')) p->at++;
    return 1;
}

static int number(struct parser *p) {
    if (!is_digit(p)) return 0;
    while (is_digit(p)) p->at++;
    return 1;
}

static int operand(struct parser *p) {
    if (take(p, "'")) {
        while (p->at < p->end && *p->at != '\'') p->at++;
        return take(p, "'");
    }
    if (take(p, "COUNT(") || take(p, "SUM(") || take(p, "MIN(") || take(p, "MAX(")) {
        p->aggregates++;
        return (take(p, "*") || name(p)) && take(p, ")");
    }
    if (is_digit(p)) return number(p);
    if (!name(p)) return 0;
    return take(p, ".") ? name(p) : 1;
}

static int nested(struct parser *p) {
    p->queries++;
    int holds = query(p);
    p->queries--;
    return holds && take(p, ")");
}

static int test(struct parser *p) {
    static const char *const comparisons[] = {" = ", " <> ", " <= ", " >= ", " < ", " > ", " LIKE "};
    if (++p->nesting > MAX_NESTING) return 0;
    int holds;
    if (take(p, "EXISTS (")) {
        holds = nested(p);
    } else if (take(p, "NOT ")) {
        holds = test(p);
    } else if (take(p, "(")) {
        holds = condition(p) && take(p, ")");
    } else {
        if (!operand(p)) return 0;
        if (take(p, " IS NULL") || take(p, " IS NOT NULL")) {
            holds = 1;
        } else if (take(p, " IN (") || take(p, " NOT IN (")) {
            if (looks_at(p, "SELECT ")) {
                holds = nested(p);
            } else {
                do {
                    if (!operand(p)) return 0;
                } while (take(p, ", "));
                holds = take(p, ")");
            }
        } else {
            holds = 0;
            for (size_t index = 0; !holds && index < sizeof comparisons / sizeof *comparisons; index++) {
                holds = take(p, comparisons[index]);
            }
            holds = holds && operand(p);
        }
    }
    p->nesting--;
    return holds;
}

static int condition(struct parser *p) {
    do {
        if (!test(p)) return 0;
    } while (take(p, " AND ") || take(p, " OR "));
    return 1;
}

static int source(struct parser *p) {
    if (take(p, "(")) return query(p) && take(p, ") AS ") && name(p);
    return name(p) && (!take(p, " AS ") || name(p));
}

static int query(struct parser *p) {
    int has_aggregate = 0;
    if (++p->nesting > MAX_NESTING) return 0;
    if (!take(p, "SELECT ")) return 0;
    take(p, "DISTINCT ");
    if (!take(p, "*")) {
        do {
            if (!operand(p) || (take(p, " AS ") && !name(p))) return 0;
        } while (take(p, ", "));
    }
    if (!take(p, " FROM ")) return 0;
    do {
        if (!source(p)) return 0;
    } while (take(p, ", "));
    if (take(p, " WHERE ") && !condition(p)) return 0;
    if (take(p, " GROUP BY ")) {
        do {
            if (!name(p)) return 0;
        } while (take(p, ", "));
        if (take(p, " HAVING ")) {
            int before = p->aggregates;
            if (!condition(p)) return 0;
            has_aggregate = p->aggregates > before;
        }
    }
    if (take(p, " ORDER BY ")) {
        if (!name(p)) return 0;
        if (!take(p, " ASC")) take(p, " DESC");
    }
    if (take(p, " LIMIT ")) {
        if (!number(p)) return 0;
        if (has_aggregate && p->queries >= QUERIES) p->bug = 1;
    }
    p->nesting--;
    return 1;
}

static int parse(const char *text, size_t len) {
    struct parser p = {text, text + len, 0, 0, 0, 0};
    if (!query(&p) || !take(&p, ";") || p.at != p.end) return 1;
    if (p.bug) fail();
    return 0;
}
