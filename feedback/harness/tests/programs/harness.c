// A libFuzzer harness.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static volatile int sum;
    for (size_t i = 0; i < size; i++) sum += data[i];
    if (size > 2 && data[0] == 'B' && data[1] == 'U' && data[2] == 'G') abort();
    while (size && data[0] == '*') sum++;
    return 0;
}
