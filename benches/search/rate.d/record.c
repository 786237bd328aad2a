// Appends each input to the file that RECORD names, if it is set: the length in four bytes, and the input.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void record(const unsigned char *input, size_t length) {
    static int file = -2;
    if (file == -2) {
        const char *path = getenv("RECORD");
        file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    }
    if (file < 0) return;
    unsigned char bytes[4 + 4096];
    uint32_t kept = length < 4096 ? (uint32_t)length : 4096;
    memcpy(bytes, &kept, 4);
    memcpy(bytes + 4, input, kept);
    if (write(file, bytes, 4 + kept) != (ssize_t)(4 + kept)) abort();
}
