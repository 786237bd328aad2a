// A libFuzzer harness.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static volatile int sum;
    for (size_t i = 0; i < size; i++) sum += data[i];
    if (size > 2 && data[0] == 'B' && data[1] == 'U' && data[2] == 'G') abort();
    if (size > 4 && data[0] == 'L' && data[1] == 'A' && data[2] == 'T') {
        // A signal ends the process soon.
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 20000}, NULL);
    }
    while (size && data[0] == '*') sum++;
    return 0;
}
