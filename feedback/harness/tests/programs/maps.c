// Exits with the number of parts that its memory has.
#include <stdio.h>

int main(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    int parts = 0, byte;
    while (maps && (byte = fgetc(maps)) != EOF) parts += byte == '\n';
    return parts;
}
