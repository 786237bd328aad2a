// Reads brackets; how often it executes what depends on the input alone.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[1 << 20];
static size_t len, at;

static int value(int depth) {
    int deepest = depth;
    while (at < len && text[at] == '[') {
        at++;
        int inner = value(depth + 1);
        if (inner > deepest) deepest = inner;
        if (at < len && text[at] == ']') at++;
    }
    return deepest;
}

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
    if (!file) return 2;
    len = fread(text, 1, sizeof text, file);
    if (len && text[0] == '!') abort();
    if (len && text[0] == '*') for (;;) {}
    if (len && text[0] == 'k') kill(getppid(), 9), sleep(1);
    if (len && text[0] == 'f' && fork() == 0) for (;;) pause();
    if (len && text[0] == 'z') {
        kill(getppid(), SIGSTOP);
        for (;;) {}
    }
    if (len && text[0] == 'r') {
        char name[4096];
        snprintf(name, sizeof name, "%s/input", getenv("TMPDIR"));
        unlink(name);
    }
    int deepest = value(0);
    printf("%d\n", deepest);
    return at == len || text[at] == '\n' ? 0 : 1;
}
