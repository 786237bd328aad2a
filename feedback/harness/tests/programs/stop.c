// Stops itself, a child that it waits for, or nothing, as the first byte of the input says; `a` ends in SIGABRT.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int byte = getchar();
    printf("%c\n", byte), fflush(stdout);
    switch (byte) {
        case 's': raise(SIGSTOP); break;
        case 't': signal(SIGTSTP, SIG_DFL), kill(getpid(), SIGSTOP); break;
        case 'c': {
            pid_t child = fork();
            if (!child) raise(SIGSTOP), _exit(0);
            waitpid(child, NULL, 0);
            break;
        }
        // It goes on by itself.
        case 'g': {
            pid_t own = getpid();
            if (!fork()) usleep(1000), kill(own, SIGCONT), _exit(0);
            raise(SIGSTOP);
            break;
        }
        case 'a': abort();
    }
    return 0;
}
