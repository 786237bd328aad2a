// Runs a libFuzzer harness on a file, again and again: `NAME FILE TIMES`. For builds without a fuzzer's driver.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
    static uint8_t input[1 << 24];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
    if (!file) return 1;
    size_t size = fread(input, 1, sizeof input, file);
    for (long left = argc > 2 ? atol(argv[2]) : 1; left > 0; left--) LLVMFuzzerTestOneInput(input, size);
    return 0;
}
