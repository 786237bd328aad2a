/* A JSON parser (RFC 8259) with a planted bug: it aborts on a text that conforms and has, within at least twelve nested
 * arrays, an object with a duplicate name whose second value is a string with an escape. */

#include "planted.h"

enum { ARRAYS = 12, NAMES = 64 };

struct parser {
    const char *at, *end;
    int nesting, arrays;
    int bug;
};

static int value(struct parser *p, int *is_escaped_string);

static void space(struct parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')) p->at++;
}

static int take(struct parser *p, char c) {
    if (p->at < p->end && *p->at == c) {
        p->at++;
        return 1;
    }
    return 0;
}

static int is_digit(struct parser *p) {
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

static int is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int string(struct parser *p, int *is_escaped) {
    if (!take(p, '"')) return 0;
    while (p->at < p->end && *p->at != '"') {
        unsigned char c = (unsigned char)*p->at++;
        if (c < 0x20) return 0;
        if (c != '\\') continue;
        if (p->at == p->end) return 0;
        *is_escaped = 1;
        c = (unsigned char)*p->at++;
        if (c == 'u') {
            for (int digit = 0; digit < 4; digit++) {
                if (p->at == p->end || !is_hex(*p->at)) return 0;
                p->at++;
            }
        } else if (strchr("\"\\/bfnrt", c) == NULL || c == 0) {
            return 0;
        }
    }
    return take(p, '"');
}

static int number(struct parser *p) {
    take(p, '-');
    if (!is_digit(p)) return 0;
    if (!take(p, '0')) {
        while (is_digit(p)) p->at++;
    }
    if (take(p, '.')) {
        if (!is_digit(p)) return 0;
        while (is_digit(p)) p->at++;
    }
    if (take(p, 'e') || take(p, 'E')) {
        if (!take(p, '+')) take(p, '-');
        if (!is_digit(p)) return 0;
        while (is_digit(p)) p->at++;
    }
    return 1;
}

static int word(struct parser *p, const char *text) {
    size_t len = strlen(text);
    if ((size_t)(p->end - p->at) < len || memcmp(p->at, text, len) != 0) return 0;
    p->at += len;
    return 1;
}

static int array(struct parser *p) {
    int ignored = 0;
    p->at++;
    p->arrays++;
    space(p);
    if (!take(p, ']')) {
        do {
            if (!value(p, &ignored)) return 0;
        } while (take(p, ','));
        if (!take(p, ']')) return 0;
    }
    p->arrays--;
    return 1;
}

static int object(struct parser *p) {
    struct { const char *text; size_t len; } names[NAMES];
    int count = 0;
    p->at++;
    space(p);
    if (take(p, '}')) return 1;
    do {
        int ignored = 0, is_duplicate = 0, is_escaped_string = 0;
        space(p);
        const char *name = p->at;
        if (!string(p, &ignored)) return 0;
        size_t len = (size_t)(p->at - name);
        for (int other = 0; other < count; other++) {
            if (names[other].len == len && memcmp(names[other].text, name, len) == 0) is_duplicate = 1;
        }
        if (count < NAMES) {
            names[count].text = name;
            names[count++].len = len;
        }
        space(p);
        if (!take(p, ':')) return 0;
        if (!value(p, &is_escaped_string)) return 0;
        if (p->arrays >= ARRAYS && is_duplicate && is_escaped_string) p->bug = 1;
    } while (take(p, ','));
    return take(p, '}');
}

static int value(struct parser *p, int *is_escaped_string) {
    int holds;
    if (++p->nesting > MAX_NESTING) return 0;
    space(p);
    if (p->at == p->end) return 0;
    switch (*p->at) {
        case '[': holds = array(p); break;
        case '{': holds = object(p); break;
        case '"': holds = string(p, is_escaped_string); break;
        case 't': holds = word(p, "true"); break;
        case 'f': holds = word(p, "false"); break;
        case 'n': holds = word(p, "null"); break;
        default: holds = number(p);
    }
    space(p);
    p->nesting--;
    return holds;
}

static int parse(const char *text, size_t len) {
    struct parser p = {text, text + len, 0, 0, 0};
    int ignored = 0;
    if (!value(&p, &ignored) || p.at != p.end) return 1;
    if (p.bug) fail();
    return 0;
}
