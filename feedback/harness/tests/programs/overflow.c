// A libFuzzer harness that writes where it must not. The first byte of an input says where.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INPUT_FD = 195, MAP_FD = 196, CONTROL_MAP_FD = 197, STATUS_FD = 199 };

char name[64];
int total;

// So that compilers don't see how far it is.
static volatile size_t far;

static size_t number(const uint8_t *data, size_t size) {
    size_t found = 0;
    for (size_t i = 0; i < size; i++) found = 10 * found + (data[i] - '0');
    return found;
}

static void scribble(int file, size_t from, size_t size, int byte) {
    uint8_t *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)from);
    if (map == MAP_FAILED) abort();
    memset(map, byte, size);
    munmap(map, size);
}

static void tell(uint32_t word, size_t times) {
    for (size_t i = 0; i < times; i++) {
        if (write(STATUS_FD, &word, sizeof word) != sizeof word) return;
    }
}

static int reopened(int number, int how) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", number);
    return open(name, how);
}

static void fill(void) {
    static char bytes[4096];
    int file = reopened(STATUS_FD - 1, O_WRONLY | O_NONBLOCK);
    if (file < 0) abort();
    while (write(file, bytes, sizeof bytes) > 0) {}
    while (write(file, bytes, 1) > 0) {}
}

static void drain(void) {
    char bytes[4096];
    int file = reopened(STATUS_FD, O_RDONLY);
    for (;;) {
        if (read(file, bytes, sizeof bytes) <= 0) _exit(0);
    }
}

static void keep(size_t megabytes) {
    static char block[1 << 20];
    memset(block, 1, sizeof block);
    int file = memfd_create("kept", 0);
    for (size_t i = 0; i < megabytes; i++) {
        if (write(file, block, sizeof block) < 0) abort();
    }
    sleep(60);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; i++) total += data[i];
    if (!size) return 0;
    far = number(data + 1, size - 1);
    volatile char *place = name;
    switch (data[0]) {
        // Beyond the end of a buffer, and before its beginning.
        case 'o': for (size_t i = 0; i < far; i++) place[i] = 'a'; break;
        case 'u': for (size_t i = 1; i < far; i++) place[-(ptrdiff_t)i] = 'a'; break;
        // All that is shared with the harness.
        case 'C': scribble(CONTROL_MAP_FD, 0, 4096, 0x61); break;
        case 'I': scribble(CONTROL_MAP_FD, 4096, 64 * 1024, 0xff); break;
        case 'N': scribble(CONTROL_MAP_FD, 0, 4096, 0); break;
        case 'E': scribble(MAP_FD, 0, 1 << 20, 0xff); break;
        case 'R': scribble(INPUT_FD, 1 << 26, 1 << 20, 0x61); break;
        case 'T': if (!ftruncate(CONTROL_MAP_FD, 0) || !ftruncate(MAP_FD, 0)) abort(); break;
        // Answers that nobody has asked for: the process that begins, an end by SIGABRT, a run that has ended.
        case 'w': tell((uint32_t)getpid(), far); break;
        case 'x': tell(6, far); break;
        case 'y': tell(19 << 8 | 0x7f, far); break;
        case 'h': if (write(STATUS_FD, "xyz", far % 4) < 0) abort(); break;
        // The pipe of the requests is filled up, and the answers are read by a process that lives on.
        case 'f': fill(); break;
        case 'd':
            if (!fork()) drain();
            usleep(20000);
            break;
        // Where the edges are is told anew.
        case 'P': scribble(CONTROL_MAP_FD, 4096, 4096, 'x'); break;
        // Memory that is in no process's.
        case 'm': keep(far); break;
        case 'c': close(STATUS_FD), close(STATUS_FD - 1); break;
        case 's': raise(SIGSTOP); break;
        case 't': kill(getppid(), SIGSTOP); break;
        case 'a': abort();
    }
    return 0;
}
