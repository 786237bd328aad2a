// Does to its surroundings what its input asks for: the first byte says what, the second one how much.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void ignore_all(void) {
    for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
}

// A process of its own session that no process waits for.
static void leave_daemon(void) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            ignore_all();
            for (;;) pause();
        }
        _exit(0);
    }
    wait(NULL);
}

int main(void) {
    unsigned char input[2] = {0};
    ssize_t got = read(0, input, 2);
    int much = got > 1 ? input[1] - '0' : 0;
    static char block[1 << 16];
    memset(block, 'x', sizeof block);
    switch (got > 0 ? input[0] : 0) {
    case 'e': return much;
    case 's': raise(much ? SIGSEGV : SIGABRT); break;
    case 'l': for (;;) {}
    case 'i': ignore_all(); for (;;) pause();
    case 'd': for (int i = 0; i <= much; i++) leave_daemon(); break;
    case 'D':
        for (int i = 0; i <= much; i++) leave_daemon();
        for (;;) pause();
    case 'o': for (long i = 0; i < (much ? 1L << 40 : 1600); i++) if (write(1, block, sizeof block) < 0) return 1; break;
    case 'w': fprintf(stderr, "a message"); printf("a text"); return 3;
    case 'm':
        for (;;) {
            char *more = malloc(1 << 24);
            if (!more) return 9;
            memset(more, 1, 1 << 24);
        }
    case 'p': kill(getppid(), SIGKILL); sleep(1); break;
    case 'g': kill(-getpgid(getppid()), SIGKILL); sleep(1); break;
    case 'a': kill(-1, SIGKILL); break;
    case 'c': for (int number = 0; number < 1024; number++) close(number); break;
    case 'b': {
        // Forks without end, if it is not stopped; the bound protects the machine that the test runs on.
        int *forks = mmap(NULL, sizeof *forks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ignore_all();
        for (;;) {
            if (__atomic_add_fetch(forks, 1, __ATOMIC_RELAXED) > 500) pause();
            else if (fork() < 0) usleep(100);
        }
    }
    case 'f': {
        char name[4096];
        snprintf(name, sizeof name, "%s/left", getenv("TMPDIR"));
        int inside = open(name, O_CREAT | O_WRONLY, 0600);
        snprintf(name, sizeof name, "%s/folder", getenv("TMPDIR"));
        mkdir(name, 0700);
        int outside = open(getenv("OUTSIDE"), O_CREAT | O_WRONLY, 0600);
        return (inside >= 0 ? 1 : 0) + (outside >= 0 ? 2 : 0);
    }
    case 'r': unlink(getenv("INPUT") ? getenv("INPUT") : "input"); break;
    }
    return 0;
}
