// Runs a libFuzzer harness on each of some files: `NAME FILE...`. For builds without a fuzzer's driver.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t input[1 << 24];

static void run(FILE *file) {
    if (!file) exit(1);
    LLVMFuzzerTestOneInput(input, fread(input, 1, sizeof input, file));
    fclose(file);
}

int main(int argc, char **argv) {
    if (argc < 2) run(stdin);
    for (int i = 1; i < argc; i++) run(fopen(argv[i], "rb"));
    return 0;
}
