/* A parser of XML documents without checks of declarations, with a planted bug: it aborts on a well-formed document in
 * which three elements of the same name stand directly within each other, each with an attribute whose value has a
 * reference. */

#include "planted.h"

enum { NESTED = 3, OPEN = 64 };

struct name {
    const char *text;
    size_t len;
};

struct parser {
    const char *at, *end;
    struct name open[OPEN];
    int has_reference[OPEN];
    int depth;
    int bug;
};

static int looks_at(struct parser *p, const char *text) {
    size_t len = strlen(text);
    return (size_t)(p->end - p->at) >= len && memcmp(p->at, text, len) == 0;
}

static int take(struct parser *p, const char *text) {
    if (!looks_at(p, text)) return 0;
    p->at += strlen(text);
    return 1;
}

static int is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int space(struct parser *p) {
    const char *begin = p->at;
    while (p->at < p->end && is_space(*p->at)) p->at++;
    return p->at > begin;
}

static int begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || (unsigned char)c >= 0x80;
}

static int name(struct parser *p, struct name *name) {
    name->text = p->at;
    if (p->at == p->end || !begins_name(*p->at)) return 0;
    while (p->at < p->end && (begins_name(*p->at) || *p->at == '-' || *p->at == '.' || (*p->at >= '0' && *p->at <= '9'))) p->at++;
    name->len = (size_t)(p->at - name->text);
    return 1;
}

static int is_same(struct name a, struct name b) {
    return a.len == b.len && memcmp(a.text, b.text, a.len) == 0;
}

static int until(struct parser *p, const char *text) {
    while (p->at < p->end && !looks_at(p, text)) p->at++;
    return take(p, text);
}

static int reference(struct parser *p) {
    struct name entity;
    if (!take(p, "&")) return 0;
    if (take(p, "#x")) {
        const char *begin = p->at;
        while (p->at < p->end && strchr("0123456789abcdefABCDEF", *p->at) != NULL && *p->at != 0) p->at++;
        if (p->at == begin) return 0;
    } else if (take(p, "#")) {
        const char *begin = p->at;
        while (p->at < p->end && *p->at >= '0' && *p->at <= '9') p->at++;
        if (p->at == begin) return 0;
    } else if (!name(p, &entity)) {
        return 0;
    }
    return take(p, ";");
}

static int attributes(struct parser *p, int *has_reference) {
    struct name names[16];
    int count = 0;
    while (space(p) && p->at < p->end && begins_name(*p->at)) {
        struct name attribute;
        if (!name(p, &attribute)) return 0;
        for (int other = 0; other < count; other++) {
            if (is_same(names[other], attribute)) return 0;
        }
        if (count < 16) names[count++] = attribute;
        space(p);
        if (!take(p, "=")) return 0;
        space(p);
        if (p->at == p->end || (*p->at != '"' && *p->at != '\'')) return 0;
        char quote = *p->at++;
        while (p->at < p->end && *p->at != quote) {
            if (*p->at == '<') return 0;
            if (*p->at == '&') {
                if (!reference(p)) return 0;
                *has_reference = 1;
            } else {
                p->at++;
            }
        }
        if (p->at == p->end) return 0;
        p->at++;
    }
    return 1;
}

static void look_for_the_bug(struct parser *p) {
    if (p->depth < NESTED) return;
    for (int level = p->depth - NESTED; level < p->depth; level++) {
        if (!p->has_reference[level] || !is_same(p->open[level], p->open[p->depth - 1])) return;
    }
    p->bug = 1;
}

/* The root and all in it. */
static int elements(struct parser *p) {
    int has_root = 0;
    while (!has_root || p->depth > 0) {
        if (p->at == p->end) return 0;
        if (take(p, "<!--")) {
            if (!until(p, "-->")) return 0;
        } else if (take(p, "<?")) {
            if (!until(p, "?>")) return 0;
        } else if (p->depth > 0 && take(p, "<![CDATA[")) {
            if (!until(p, "]]>")) return 0;
        } else if (p->depth > 0 && take(p, "</")) {
            struct name tag;
            if (!name(p, &tag) || !is_same(tag, p->open[p->depth - 1])) return 0;
            space(p);
            if (!take(p, ">")) return 0;
            p->depth--;
        } else if (take(p, "<")) {
            struct name tag;
            int has_reference = 0;
            has_root = 1;
            if (p->depth == OPEN || !name(p, &tag) || !attributes(p, &has_reference)) return 0;
            p->open[p->depth] = tag;
            p->has_reference[p->depth++] = has_reference;
            look_for_the_bug(p);
            if (take(p, "/>")) {
                p->depth--;
            } else if (!take(p, ">")) {
                return 0;
            }
        } else if (p->depth == 0) {
            return 0;
        } else if (looks_at(p, "&")) {
            if (!reference(p)) return 0;
        } else {
            p->at++;
        }
    }
    return 1;
}

/* A document type declaration is passed over. */
static int declaration(struct parser *p) {
    while (p->at < p->end && *p->at != '[' && *p->at != '>') {
        char quote = *p->at++;
        if (quote != '"' && quote != '\'') continue;
        while (p->at < p->end && *p->at != quote) p->at++;
        if (p->at == p->end) return 0;
        p->at++;
    }
    if (!take(p, "[")) return take(p, ">");
    while (p->at < p->end && *p->at != ']') {
        if (take(p, "<!--")) {
            if (!until(p, "-->")) return 0;
        } else if (*p->at == '"' || *p->at == '\'') {
            char quote = *p->at++;
            while (p->at < p->end && *p->at != quote) p->at++;
            if (p->at == p->end) return 0;
            p->at++;
        } else {
            p->at++;
        }
    }
    if (!take(p, "]")) return 0;
    space(p);
    return take(p, ">");
}

static int misc(struct parser *p) {
    for (;;) {
        space(p);
        if (take(p, "<!--")) {
            if (!until(p, "-->")) return 0;
        } else if (take(p, "<?")) {
            if (!until(p, "?>")) return 0;
        } else if (take(p, "<!DOCTYPE")) {
            if (!declaration(p)) return 0;
        } else {
            return 1;
        }
    }
}

static int parse(const char *text, size_t len) {
    struct parser p = {.at = text, .end = text + len};
    if (!misc(&p) || !elements(&p) || !misc(&p) || p.at != p.end) return 1;
    if (p.bug) fail();
    return 0;
}
