// Uses what the first byte of the input says: processor time, time by the clock, memory.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void burn(void) {
    clock_t begin = clock();
    while (clock() - begin < CLOCKS_PER_SEC / 20) {}
}

static void fill(size_t size) {
    // Else the compiler would leave out what nobody reads.
    volatile char *memory = malloc(size);
    if (!memory) abort();
    for (size_t at = 0; at < size; at += 4096) memory[at] = 1;
}

int main(void) {
    switch (getchar()) {
        case 'a': abort();
        case 'A': burn(), abort();
        case 'b': burn(); break;
        case 'm': fill(64 << 20); break;
        case 'S': usleep(200000); break;
        case '*': for (;;) burn();
    }
    return 0;
}
