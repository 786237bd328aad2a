// A harness for libFuzzer that records each input. The harness that it calls is built with
// -DLLVMFuzzerTestOneInput=run_one_input, as this file is.
#include <stddef.h>
#include <stdint.h>

#undef LLVMFuzzerTestOneInput

void record(const unsigned char *input, size_t length);
int run_one_input(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    record(data, size);
    return run_one_input(data, size);
}
