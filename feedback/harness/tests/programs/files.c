// Writes its input to standard output, then does to its own files what the first byte of the input asks for. The file
// of the input is the first argument; without it, it is the standard input. Nothing of this may reach $VICTIM.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <linux/fs.h>

static char input[PATH_MAX], temporary[PATH_MAX], inner[PATH_MAX], top[PATH_MAX];

static const char *in_folder(const char *folder, const char *name) {
    static char path[2][2 * PATH_MAX];
    static int next;
    next = !next;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static void up(char *folder, const char *path) {
    snprintf(folder, PATH_MAX, "%s", path);
    *strrchr(folder, '/') = 0;
}

// Lets nobody change the file or folder, not even the superuser.
static void freeze(const char *path, int flag) {
    int file = open(path, O_RDONLY), flags = 0;
    if (file < 0 || ioctl(file, FS_IOC_GETFLAGS, &flags) < 0) return;
    flags |= flag;
    ioctl(file, FS_IOC_SETFLAGS, &flags);
    close(file);
}

static void fill(const char *folder) {
    int left = open(in_folder(folder, "left"), O_CREAT | O_WRONLY, 0600);
    if (left >= 0) close(left);
}

// Folders in folders that nobody may enter.
static void deep(int levels) {
    int folder = open(temporary, O_RDONLY | O_DIRECTORY);
    for (int level = 0; level < levels && folder >= 0; level++) {
        mkdirat(folder, "deep", 0700);
        mkdirat(folder, "beside", 0700);
        int file = openat(folder, "beside/file", O_CREAT | O_WRONLY, 0);
        if (file >= 0) close(file);
        int next = openat(folder, "deep", O_RDONLY | O_DIRECTORY);
        if (next < 0) break;
        fchmodat(folder, "beside", 0, 0);
        if (level > 0) fchmod(folder, 0);
        close(folder);
        folder = next;
    }
    if (folder >= 0) close(folder);
}

int main(int argc, char **argv) {
    const char *victim = getenv("VICTIM");
    if (argc > 1) {
        snprintf(input, sizeof input, "%s", argv[1]);
        int file = open(input, O_RDONLY);
        if (file < 0) return 3;
        dup2(file, 0);
        close(file);
    } else {
        ssize_t len = readlink("/proc/self/fd/0", input, sizeof input - 1);
        if (len < 0) return 4;
    }
    snprintf(temporary, sizeof temporary, "%s", getenv("TMPDIR"));
    up(inner, input);
    up(top, temporary);
    char text[4096];
    ssize_t len = read(0, text, sizeof text), written = 0;
    if (len > 0) written = write(1, text, (size_t)len);
    if (written != len || len < 1) return 5;
    int scratch = open(in_folder(temporary, "used"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (scratch < 0) return 6;
    close(scratch);
    switch (text[0]) {
    case 's': unlink(input); if (symlink(victim, input)) errno = 0; break;
    case 'h': unlink(input); if (link(victim, input)) errno = 0; break;
    case 'm': rename(input, in_folder(temporary, "moved")); break;
    case 'l': if (link(input, in_folder(temporary, "linked"))) errno = 0; break;
    case 'd':
        unlink(input);
        mkdir(input, 0700);
        fill(input);
        chmod(input, 0);
        break;
    case '0':
        chmod(input, 0);
        chmod(inner, 0);
        chmod(temporary, 0);
        chmod(top, 0);
        break;
    case 'f': {
        char folder[PATH_MAX];
        up(folder, victim);
        rename(inner, in_folder(temporary, "in"));
        if (symlink(folder, inner)) errno = 0;
        break;
    }
    case 't': {
        char folder[PATH_MAX], moved[PATH_MAX + 8];
        up(folder, victim);
        snprintf(moved, sizeof moved, "%s.moved", top);
        rename(top, moved);
        if (symlink(folder, top)) errno = 0;
        break;
    }
    case 'p':
        unlink(in_folder(temporary, "used"));
        rmdir(temporary);
        if (symlink(victim, temporary)) errno = 0;
        break;
    case 'i':
        fill(temporary);
        freeze(in_folder(temporary, "left"), FS_IMMUTABLE_FL);
        freeze(input, FS_IMMUTABLE_FL);
        freeze(temporary, FS_IMMUTABLE_FL);
        freeze(inner, FS_IMMUTABLE_FL);
        freeze(top, FS_IMMUTABLE_FL);
        break;
    case 'a': freeze(input, FS_APPEND_FL); break;
    case 'n': deep(40); break;
    case 'w': {
        int file = open("/proc/self/fd/0", O_WRONLY);
        if (write(0, "changed", 7) > 0 || (argc == 1 && file >= 0 && getenv("CONFINED"))) return 7;
        if (file >= 0) close(file);
        // Whoever gets a file by name may change it in place.
        if (argc > 1 && ((file = open(input, O_WRONLY | O_TRUNC)) < 0 || write(file, "changed", 7) != 7)) return 8;
        break;
    }
    case 'r':
        // It lives on, and puts a link in the place of the input again and again.
        if (fork() == 0) {
            setsid();
            close(0);
            close(1);
            close(2);
            struct timespec begin, now;
            clock_gettime(CLOCK_MONOTONIC, &begin);
            do {
                if (symlink(victim, in_folder(temporary, "link")) == 0) rename(in_folder(temporary, "link"), input);
                clock_gettime(CLOCK_MONOTONIC, &now);
            } while (now.tv_sec - begin.tv_sec < 2);
            _exit(0);
        }
        usleep(500);
        break;
    }
    return 0;
}
