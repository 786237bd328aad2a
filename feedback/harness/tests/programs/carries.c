// Counts letters, with all counters put to 0 or just below 2^32 before: the first byte of the input, a digit, says how
// often 3 is taken from 0. After `*` it goes on until it is stopped.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MAP_FD = 196, CONTROL_MAP_FD = 197, PAGE = 4096 };

int letters(const char *text, int len);

// The counters are those from the end of the first page on; the second word of the other memory says how many there
// are.
static void put(uint32_t value) {
    uint32_t *control = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, CONTROL_MAP_FD, 0);
    if (control == MAP_FAILED) abort();
    uint32_t edges = control[1];
    uint32_t *map = mmap(NULL, PAGE + 4 * (size_t)edges, PROT_READ | PROT_WRITE, MAP_SHARED, MAP_FD, 0);
    if (map == MAP_FAILED) abort();
    for (uint32_t i = 0; i < edges; i++) map[PAGE / 4 - 1 + i] = value;
}

static int run(void) {
    static char text[1 << 16];
    size_t len = fread(text, 1, sizeof text, stdin);
    if (!len) return 1;
    put(-3u * (uint32_t)(text[0] - '0'));
    int count;
    do count = letters(text + 1, (int)len - 1);
    while (text[1] == '*');
    return count < 0;
}

#ifdef LOOPS
int main(void) {
    put(-1u);
    int failed = letters("ab", 2) != 2;
    while (__AFL_LOOP(100)) {
        rewind(stdin);
        failed += run();
    }
    return failed;
}
#else
int main(void) { return run(); }
#endif
