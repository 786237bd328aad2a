// A program for AFL++: it starts its fork server itself, and takes many inputs in one process by shared memory.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__AFL_FUZZ_INIT();

static volatile int work;

int main(void) {
    // Done once, before the fork server starts.
    for (int i = 0; i < 1000; i++) work++;
#ifdef __AFL_HAVE_MANUAL_CONTROL
    __AFL_INIT();
#endif
    unsigned char *buffer = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(1000)) {
        int len = __AFL_FUZZ_TESTCASE_LEN;
        for (int i = 0; i < len; i++) {
            if (buffer[i] == 'a') work++;
        }
        if (len > 2 && buffer[0] == 'B') abort();
    }
    return 0;
}
