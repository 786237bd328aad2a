// Takes five inputs in one process. The first byte of an input says what is done with it.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int gramjet_loop(unsigned rounds);
const uint8_t *gramjet_input(size_t *length);

int gramjet_takes_shared_input = 1;

// The harness looks for this text to know that there is a loop.
static const char *volatile mark = "##SIG_GRAMJET_PERSISTENT##";

enum { INPUT_FD = 195, STATUS_FD = 199, AHEAD = 1 << 26 };

static volatile int sum;

static void fill(size_t size) {
    char *memory = malloc(size);
    if (!memory) abort();
    memset(memory, 1, size);
}

static void burn(void) {
    clock_t begin = clock();
    while (clock() - begin < CLOCKS_PER_SEC / 20) sum++;
}

// The head of the memory with further inputs: how many were given and have run, whether counts are elsewhere, and when
// the next one has begun.
static void scribble(uint32_t finished, uint32_t is_in_map, uint64_t begun) {
    uint32_t *head = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, INPUT_FD, AHEAD);
    if (head == MAP_FAILED) abort();
    head[1] += finished;
    head[2] = is_in_map;
    memcpy(head + 4, &begun, sizeof begun);
    munmap(head, 4096);
}

static void run(const uint8_t *input, size_t length) {
    const uint32_t has_run = 19 << 8 | 0x7f;
    for (size_t i = 0; i < length; i++) sum += input[i];
    switch (length ? input[0] : 0) {
        case 'a': abort();
        case 'A': burn(), abort();
        case 'b': burn(); break;
        case 'e': exit(3);
        // A signal ends the process soon.
        case 'l': setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 3000}, NULL); break;
        case 'm': fill(32 << 20); break;
        case 'M': fill(512 << 20); break;
        // The process ends slowly.
        case 'q': atexit(burn); break;
        case 'p': printf("%.*s\n", (int)length, input), fflush(stdout); break;
        case 's': usleep(2000); break;
        case 'S': usleep(20000); break;
        // A process that outlives it.
        case 'd':
            if (!fork()) {
                sleep(1000);
                _exit(0);
            }
            break;
        case '*': for (;;) sum++;
        case 'F': scribble(7, 0, 0); break;
        case 'I': scribble(0, 1, 0); break;
        case 'B': scribble(0, 0, UINT64_MAX); break;
        case 'O': scribble(0, 0, 1); break;
        case 'W': for (int i = 0; i < 3; i++) (void)!write(STATUS_FD, &has_run, sizeof has_run); break;
        case 'K': kill(getppid(), 9); break;
    }
}

int main(void) {
    (void)mark;
    while (gramjet_loop(5)) {
        size_t length;
        const uint8_t *input = gramjet_input(&length);
        run(input, length);
    }
    return 0;
}
