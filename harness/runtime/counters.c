// What instrumented programs are linked with: counts how often each edge is executed, and starts the fork server.
//
// The counters are in memory that the harness shares, one of 32 bits an edge, from number 1 on; number 0 takes what has no counter.
// Counts stay at 2^32 - 1. Increments are not atomic: threads of one program may lose some of each other's.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    INPUT_FD = 195,    // memory with the input: its length in 4 bytes, then the input
    MAP_FD = 196,      // memory with the counters
    CONTROL_FD = 198,  // requests of the harness
    STATUS_FD = 199,   // answers to it
    PAGE = 4096,
    CAPACITY = 1 << 22,
    GREETING = 0x474a5201,
    USES_SHARED_INPUT = 1,
};

// The first page of the shared memory; counters follow, then the addresses of the edges.
struct header {
    uint32_t greeting;
    uint32_t edges;         // counters in use, with number 0
    uint32_t beyond;        // edges for which there was no room
    uint32_t base_known;
    uint64_t base;          // where the program's own image was loaded
};

static uint32_t without_harness[CAPACITY];
uint32_t *gramjet_counters = without_harness;
static struct header no_header, *header = &no_header;
static uint64_t *addresses;
static uint32_t edges = 1;
static const uint8_t *shared_input;

// The harness looks for this text to know programs that have this run time.
__attribute__((used)) static const char signature[] = "##SIG_GRAMJET_RUNTIME_1##";

#define HIDDEN_FROM_COVERAGE __attribute__((no_sanitize("coverage")))
#ifndef __clang__
#undef HIDDEN_FROM_COVERAGE
#define HIDDEN_FROM_COVERAGE
#endif

HIDDEN_FROM_COVERAGE static void attach(void) {
    static int done;
    if (done) return;
    done = 1;
    if (!getenv("GRAMJET_MAP")) return;
    size_t size = PAGE + sizeof(uint32_t) * (size_t)CAPACITY + sizeof(uint64_t) * (size_t)CAPACITY;
    uint8_t *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, MAP_FD, 0);
    if (map == MAP_FAILED) return;
    header = (struct header *)map;
    gramjet_counters = (uint32_t *)(map + PAGE);
    addresses = (uint64_t *)(map + PAGE + sizeof(uint32_t) * (size_t)CAPACITY);
    header->greeting = GREETING;
    header->edges = edges;
    extern char __executable_start __attribute__((weak));
    if (&__executable_start) {
        header->base = (uint64_t)(uintptr_t)&__executable_start;
        header->base_known = 1;
    }
}

HIDDEN_FROM_COVERAGE void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
    if (start == stop || *start) return;
    attach();
    for (uint32_t *guard = start; guard < stop; guard++) {
        if (edges < CAPACITY) {
            *guard = edges++;
        } else {
            header->beyond++;
        }
    }
    header->edges = edges;
}

HIDDEN_FROM_COVERAGE void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    uint32_t *counter = gramjet_counters + *guard;
    uint32_t count = *counter + 1;
    *counter = count - (count == 0);
}

// Where the edges of a part of the program are: pairs of an address and flags, in the order of their guards.
HIDDEN_FROM_COVERAGE void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop) {
    static uint32_t known = 1;
    attach();
    for (const uintptr_t *entry = start; entry + 1 < stop && known < CAPACITY; entry += 2, known++) {
        if (addresses) addresses[known] = *entry;
    }
}

#ifndef __clang__
// gcc says nothing of where an edge is but the return address, so counters are found by it.
HIDDEN_FROM_COVERAGE void __sanitizer_cov_trace_pc(void) {
    uintptr_t address = (uintptr_t)__builtin_return_address(0);
    static struct { uintptr_t address; uint32_t number; } known[1 << 20];
    uint32_t at = (uint32_t)((address * 0x9e3779b97f4a7c15ull) >> 44);
    while (known[at].address != address) {
        if (!known[at].address) {
            attach();
            known[at].address = address;
            if (edges >= CAPACITY / 8) {
                header->beyond++;
                return;
            }
            known[at].number = edges++;
            if (addresses) addresses[known[at].number] = address;
            header->edges = edges;
        }
        else at = (at + 1) & ((1 << 20) - 1);
    }
    uint32_t *counter = gramjet_counters + known[at].number;
    uint32_t count = *counter + 1;
    *counter = count - (count == 0);
}
#endif

// What was executed up to here is not counted.
HIDDEN_FROM_COVERAGE static void forget(void) {
    memset(gramjet_counters, 0, sizeof(uint32_t) * edges);
}

HIDDEN_FROM_COVERAGE static int receive(int fd, void *bytes, size_t count) {
    ssize_t got;
    do got = read(fd, bytes, count);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)count;
}

HIDDEN_FROM_COVERAGE static int answer(uint32_t word) {
    ssize_t sent;
    do sent = write(STATUS_FD, &word, sizeof word);
    while (sent < 0 && errno == EINTR);
    return sent == sizeof word;
}

static int is_persistent, is_served;

// Defined by programs that call `gramjet_input`; others read a file or their standard input.
extern int gramjet_takes_shared_input __attribute__((weak));

// Forks at the harness's request. Returns in each child; the parent never returns.
HIDDEN_FROM_COVERAGE void gramjet_serve(void) {
    if (is_served || !getenv("GRAMJET_MAP")) return;
    is_served = 1;
    attach();
    if (!answer(GREETING)) return;
    uint32_t flags;
    if (!receive(CONTROL_FD, &flags, sizeof flags)) _exit(1);
    if (flags & USES_SHARED_INPUT && &gramjet_takes_shared_input) {
        void *map = mmap(NULL, 1 << 26, PROT_READ, MAP_SHARED, INPUT_FD, 0);
        if (map != MAP_FAILED) shared_input = map;
    }
    if (!answer(shared_input ? USES_SHARED_INPUT : 0)) _exit(1);
    pid_t child = 0;
    for (;;) {
        uint32_t was_killed;
        int status;
        if (!receive(CONTROL_FD, &was_killed, sizeof was_killed)) _exit(0);
        if (child && was_killed) {
            waitpid(child, &status, 0);
            child = 0;
        }
        if (child) {
            kill(child, SIGCONT);
        } else {
            child = fork();
            if (child < 0) _exit(1);
            if (!child) {
                close(CONTROL_FD);
                close(STATUS_FD);
                forget();
                return;
            }
        }
        if (!answer((uint32_t)child)) _exit(1);
        pid_t ended;
        do ended = waitpid(child, &status, WUNTRACED);
        while (ended < 0 && errno == EINTR);
        if (ended < 0) _exit(1);
        if (!WIFSTOPPED(status)) child = 0;
        if (!answer((uint32_t)status)) _exit(1);
    }
}

// One more round of a program that takes many inputs in one process; 0 when it shall end.
HIDDEN_FROM_COVERAGE int gramjet_loop(unsigned rounds) {
    static unsigned left;
    if (!is_persistent) {
        is_persistent = 1;
        left = rounds;
        forget();
        return 1;
    }
    if (!is_served || --left == 0) return 0;
    raise(SIGSTOP);
    return 1;
}

// The input, where it comes by shared memory; else it is read from standard input.
HIDDEN_FROM_COVERAGE const uint8_t *gramjet_input(size_t *len) {
    static uint8_t *read_input;
    static size_t capacity;
    if (shared_input) {
        uint32_t count;
        memcpy(&count, shared_input, sizeof count);
        *len = count;
        return shared_input + sizeof count;
    }
    *len = 0;
    for (;;) {
        if (capacity - *len < 1 << 16) {
            capacity = capacity ? 2 * capacity : 1 << 20;
            uint8_t *larger = realloc(read_input, capacity);
            if (!larger) abort();
            read_input = larger;
        }
        ssize_t got = read(0, read_input + *len, capacity - *len);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return read_input;
        *len += (size_t)got;
    }
}

// After all other constructors: what they do is done once, before the first fork.
HIDDEN_FROM_COVERAGE __attribute__((constructor(65535))) static void begin(void) {
    if (!getenv("GRAMJET_DEFERRED")) gramjet_serve();
}
