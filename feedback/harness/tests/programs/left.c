// Writes its input, from a file or standard input; after `leave` a process lives on that moves and changes the input.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char text[4096];
    int file = argc > 1 ? open(argv[1], O_RDONLY) : 0;
    if (file < 0) return 2;
    ssize_t len = read(file, text, sizeof text - 1);
    if (len < 0) return 3;
    text[len] = 0;
    if (!strcmp(text, "leave") && !fork()) {
        setsid();
        close(1), close(2);
        for (;;) {
            lseek(file, 3, SEEK_SET);
            if (argc > 1 && !truncate(argv[1], 2)) continue;
        }
    }
    if (strcmp(text, "leave")) printf("%s", text);
    return 0;
}
