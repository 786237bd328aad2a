// A fork server as in run times that do not tell what a run has used.
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONTROL_FD = 198, STATUS_FD = 199 };

// The harness looks for this text to know programs that have a run time.
static const char *volatile mark = "##SIG_GRAMJET_RUNTIME_1##";

static void answer(uint32_t word) {
    if (write(STATUS_FD, &word, sizeof word) != sizeof word) _exit(1);
}

static uint32_t asked(void) {
    uint32_t word;
    if (read(CONTROL_FD, &word, sizeof word) != sizeof word) _exit(1);
    return word;
}

int main(void) {
    (void)mark;
    answer(0x474a5202);
    asked();
    answer(0);
    for (;;) {
        asked();
        pid_t child = fork();
        if (!child) return 3;
        int status;
        answer((uint32_t)child);
        waitpid(child, &status, 0);
        answer((uint32_t)status);
    }
}
