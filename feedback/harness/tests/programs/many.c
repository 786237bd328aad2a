// A libFuzzer harness with 16384 branches: a number says how many of them are taken. After `+` the counters, which the
// harness shares, are put to just below 2^32 before; after `*` they are taken without end.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MAP_FD = 196, CONTROL_MAP_FD = 197, PAGE = 4096 };

static volatile int sum;

#define ONE(n) case n: sum += n; break;
#define FOUR(n) ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3)
#define SOME(n) FOUR(n) FOUR(n + 4) FOUR(n + 8) FOUR(n + 12)
#define MORE(n) SOME(n) SOME(n + 16) SOME(n + 32) SOME(n + 48)
#define LOTS(n) MORE(n) MORE(n + 64) MORE(n + 128) MORE(n + 192)
#define MOST(n) LOTS(n) LOTS(n + 256) LOTS(n + 512) LOTS(n + 768)
#define ALL(n) MOST(n) MOST(n + 1024) MOST(n + 2048) MOST(n + 3072)

static void take(int branch) {
    switch (branch) { ALL(0) ALL(4096) ALL(8192) ALL(12288) }
}

static void put(uint32_t value) {
    uint32_t *control = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, CONTROL_MAP_FD, 0);
    if (control == MAP_FAILED) abort();
    size_t size = PAGE + 4 * (size_t)control[1];
    munmap(control, PAGE);
    uint32_t *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, MAP_FD, 0);
    if (map == MAP_FAILED) abort();
    for (size_t i = PAGE / 4; i < size / 4; i++) map[i] = value;
    munmap(map, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t at = 0;
    int branches = 0, is_endless = size && data[0] == '*';
    if (at < size && data[at] == '+') {
        put(-3u);
        at++;
    }
    for (at += is_endless; at < size; at++) branches = 10 * branches + data[at] - '0';
    do {
        for (int branch = 0; branch < branches; branch++) take(branch);
    } while (is_endless);
    return 0;
}
