// Writes files to the temporary folder without end, as the first byte of the input says: with names, or without.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    int byte = getchar();
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    if (chdir(getenv("TMPDIR"))) return 1;
    for (int i = 0; byte == 'n' || byte == 'u'; i++) {
        char name[32];
        snprintf(name, sizeof name, "file%d", i);
        int file = open(name, O_CREAT | O_WRONLY, 0600);
        if (file < 0) return 2;
        if (byte == 'u') unlink(name);
        for (int block_of_file = 0; block_of_file < 8; block_of_file++) {
            if (write(file, block, sizeof block) < 0) return 3;
        }
        // Room is taken when it is written.
        fdatasync(file);
        if (byte == 'n') close(file);
        if (i > 500) usleep(100000);
    }
    return 0;
}
