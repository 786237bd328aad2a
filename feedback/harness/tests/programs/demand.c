// Does something for each letter of its input: `m` allocates 1000 bytes, `c` 1200 by `calloc`, `p` 4096 on a page,
// `g` 1000 and then 500 by `realloc`, `n` asks for more than there is, `f` starts a process that allocates 500 000,
// `d` goes 512 bytes deeper, `k` forks on a stack that is part of another one, `q` leaves without the functions that
// `exit` calls, `t` leaves without telling anybody, `a` aborts.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef OWN
static char room[1 << 20];
static size_t used;
void *malloc(size_t size) {
    used += (size + 15) / 16 * 16;
    return used < sizeof room ? room + used - (size + 15) / 16 * 16 : NULL;
}
void free(void *memory) { (void)memory; }
#endif

static void *volatile kept;

static int deeper(const char *at) {
    volatile char room[512];
    for (size_t i = 0; i < sizeof room; i++) room[i] = 'd';
    return *at == 'd' ? deeper(at + 1) + room[at[0] & 63] : 1;
}

static ucontext_t outer, inner;

// Forks where what is below is in use: by the caller of the one whose stack this is.
static void forks(void) {
    int status;
    if (!fork()) {
        free(kept = malloc(100));
        _exit(0);
    }
    wait(&status);
    if (status) abort();
}

static void fork_inside(void) {
    char stack[1 << 16];
    getcontext(&inner);
    inner.uc_stack.ss_sp = stack;
    inner.uc_stack.ss_size = sizeof stack;
    inner.uc_link = &outer;
    makecontext(&inner, forks, 0);
    swapcontext(&outer, &inner);
}

static void act(const char *text) {
    deeper(text);
    for (const char *at = text; *at; at++) {
        if (*at == 'm') free(kept = malloc(1000));
        if (*at == 'c') free(kept = calloc(3, 400));
        if (*at == 'g') free(kept = realloc(kept = malloc(1000), 500));
        if (*at == 'n') free(kept = malloc(SIZE_MAX / 4));
        if (*at == 'k') fork_inside();
        if (*at == 't') syscall(SYS_exit_group, 0);
        if (*at == 'p' && !posix_memalign((void **)&kept, 4096, 4096)) free(kept);
        if (*at == 'f') {
            int status;
            if (!fork()) {
                free(kept = malloc(500000));
                _exit(0);
            }
            wait(&status);
        }
        if (*at == 'q') _exit(0);
        if (*at == 'a') abort();
    }
}

int main(void) {
    static char text[1000];
#ifdef LOOPS
    while (__AFL_LOOP(1000))
#endif
    {
        memset(text, 0, sizeof text);
        lseek(0, 0, SEEK_SET);
        if (read(0, text, sizeof text - 1) < 0) return 1;
        act(text);
    }
    return 0;
}
