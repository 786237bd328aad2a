/* The common part of the programs with planted bugs: passes a text to the parser, with AFL++ and without. */

#ifndef PLANTED_H
#define PLANTED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Parses a text; returns 0 if it conforms. Aborts on the planted bug. */
static int parse(const char *text, size_t len);

/* The planted bug; compiled with -DHARMLESS, there is none, to measure speed. */
static void fail(void) {
#ifndef HARMLESS
    abort();
#endif
}

/* A text that is nested more deeply is refused. */
enum { MAX_NESTING = 200 };

#ifdef LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *text, size_t len) {
    parse((const char *)text, len);
    return 0;
}

#else
#ifdef __AFL_FUZZ_TESTCASE_LEN

__AFL_FUZZ_INIT();

int main(void) {
    __AFL_INIT();
    unsigned char *text = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(100000)) {
        size_t len = __AFL_FUZZ_TESTCASE_LEN;
        /* In a block of its own size, so that a sanitizer sees every access past its end. */
        char *copy = malloc(len + 1);
        if (copy == NULL) return 1;
        memcpy(copy, text, len);
        parse(copy, len);
        free(copy);
    }
    return 0;
}

#else

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
    if (file == NULL) {
        perror(argv[1]);
        return 2;
    }
    static char text[1 << 20];
    size_t len = fread(text, 1, sizeof text, file);
    return parse(text, len);
}

#endif
#endif

#endif
