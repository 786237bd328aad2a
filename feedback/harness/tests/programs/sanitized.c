// Leaks memory on `l`, and reads beyond it on `o`.
#include <stdio.h>
#include <stdlib.h>

static volatile char sink;

static void *volatile leaked;

int main(void) {
    int first = getchar();
    char *memory = calloc(1, 8);
    if (!memory) return 1;
    if (first == 'o') sink = memory[8 + (first == 'c')];
    if (first == 'l') {
        leaked = malloc(16);
        leaked = NULL;
    }
    free(memory);
    return sink == 'x';
}
