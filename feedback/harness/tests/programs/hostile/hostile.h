// Helpers of all attacks.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

struct attack {
    const char *name;
    void (*run)(void);
};

// Defines the function of an attack.
#define ATTACK(word)                                                                                    \
    static void attack_##word(void);                                                                    \
    __attribute__((used, section("attacks"))) static const struct attack row_##word = {#word, attack_##word}; \
    static void attack_##word(void)

// The number after the attack's name.
static int much;
static char **own_arguments;
static char input_file[4096];

static void say(int to, const char *text, size_t length) {
    if (write(to, text, length) < 0) return;
}

// Reports what it must not be able to do.
static void breach(const char *what) {
    dprintf(2, "breach: %s\n", what);
    _exit(77);
}

// A result that must be an error.
static void refused(const char *what, long result) {
    if (result >= 0) breach(what);
}

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static int number(const char *name) { return atoi(variable(name)); }

// The path of a name in a folder; a few can be in use at a time.
static const char *in(const char *folder, const char *name) {
    static char paths[8][8192];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const char *inside(const char *name) { return in(variable("TMPDIR"), name); }
static const char *outside(const char *name) { return in(variable("HOSTILE_OUTSIDE"), name); }

// The process whose program this is, the guard's parent, and one that has no part in the run.
static int harness(void) { return number("HOSTILE_HARNESS"); }
static int victim(void) { return number("HOSTILE_VICTIM"); }

// The file of the input.
static const char *input(void) {
    if (!*input_file) {
        ssize_t length = readlink("/proc/self/fd/0", input_file, sizeof input_file - 1);
        if (length <= 0 || *input_file != '/' || !strncmp(input_file, "/dev/", 5) || strstr(input_file, "memfd:"))
            snprintf(input_file, sizeof input_file, "%s", inside("input"));
        else input_file[length] = 0;
    }
    return input_file;
}

static void put(const char *path) {
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    if (file < 0) return;
    say(file, "x", 1);
    close(file);
}

static void ignore_all(void) {
    for (int signal_number = 1; signal_number < 65; signal_number++) signal(signal_number, SIG_IGN);
}

// Returns true in a process of its own session that no process waits for and no signal but SIGKILL ends.
static int is_left_behind(void) {
    pid_t child = fork();
    if (child < 0) return 0;
    if (child) {
        waitpid(child, NULL, 0);
        return 0;
    }
    setsid();
    if (fork()) _exit(0);
    ignore_all();
    prctl(PR_SET_PDEATHSIG, 0);
    return 1;
}

// Waits for so long that the test would not end in time. The bound protects the machine that the test runs on.
static void remain(void) {
    for (int i = 0; i < 600; i++) sleep(1);
    _exit(0);
}

// Runs a function in a child; returns its exit status, or -1.
static int in_child(void (*function)(void)) {
    int status;
    pid_t child = fork();
    if (child < 0) return -1;
    if (!child) {
        function();
        _exit(0);
    }
    if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) return -1;
    if (WEXITSTATUS(status) == 77) _exit(77);
    return WEXITSTATUS(status);
}
