// The reader's program: a parser of JSON that stops on `null`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 20], *at = text;

static void need(int holds) {
    if (!holds) exit(1);
}

static void space(void) { at += strspn(at, " \t\r\n"); }

static void string(void) {
    need(*at++ == '"');
    for (; *at != '"'; at++) {
        need(*at != 0);
        if (*at == '\\') need(*++at != 0);
    }
    at++;
}

static void value(void);

static void list(char end, int has_keys) {
    at++;
    space();
    while (*at != end) {
        if (has_keys) {
            string();
            space();
            need(*at++ == ':');
        }
        value();
        if (*at != end) need(*at++ == ',');
        space();
    }
    at++;
}

static void value(void) {
    static const char *words[] = {"true", "false", "null"};
    space();
    if (*at == '[') {
        list(']', 0);
    } else if (*at == '{') {
        list('}', 1);
    } else if (*at == '"') {
        string();
    } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
        strtod(at, &at);
    } else {
        int word = 0;
        while (word < 3 && strncmp(at, words[word], strlen(words[word]))) word++;
        need(word < 3);
        if (word == 2) abort();
        at += strlen(words[word]);
    }
    space();
}

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
    if (!file) return 0;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    value();
    need(*at == 0);
    return 0;
}
