// The main function of programs that have a libFuzzer harness: `LLVMFuzzerTestOneInput`. With names of files as
// arguments each of them is run once; else inputs come from gramjet's harness, or one from standard input.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

void gramjet_serve(void);
int gramjet_loop(unsigned rounds);
const uint8_t *gramjet_input(size_t *len);

int gramjet_takes_shared_input = 1;

static const char signature[] = "##SIG_GRAMJET_DRIVER##";

// The harness gets memory of just its size, so that a sanitizer sees reads beyond it.
static int run(const uint8_t *input, size_t len) {
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy) abort();
    memcpy(copy, input, len);
    int result = LLVMFuzzerTestOneInput(copy, len);
    free(copy);
    return result;
}

static int run_file(const char *name) {
    FILE *file = fopen(name, "rb");
    if (!file) {
        perror(name);
        return 1;
    }
    uint8_t *input = NULL;
    size_t len = 0, capacity = 0;
    for (;;) {
        if (len == capacity) {
            capacity = capacity ? 2 * capacity : 1 << 16;
            input = realloc(input, capacity);
            if (!input) abort();
        }
        size_t got = fread(input + len, 1, capacity - len, file);
        if (!got) break;
        len += got;
    }
    fclose(file);
    run(input, len);
    free(input);
    return 0;
}

int main(int argc, char **argv) {
    // Linkers leave out what nothing refers to.
    (void)*(const volatile char *)signature;
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    int failed = 0, files = 0;
    for (int i = 1; i < argc; i++) {
        // Options of libFuzzer mean nothing here.
        if (argv[i][0] == '-') continue;
        files++;
        failed |= run_file(argv[i]);
    }
    if (files) return failed;
    gramjet_serve();
    while (gramjet_loop(100000)) {
        size_t len;
        const uint8_t *input = gramjet_input(&len);
        run(input, len);
    }
    return 0;
}
