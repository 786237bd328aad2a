// SQLite: runs statements in a new database in memory.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite3.h"

// Ends statements that go on for long.
static int is_over(void *steps) { return --*(int *)steps < 0; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sqlite3 *database;
    if (sqlite3_open(":memory:", &database) != SQLITE_OK) return 0;
    int steps = 1000;
    sqlite3_progress_handler(database, 1000, is_over, &steps);
    char *text = malloc(size + 1);
    if (text) {
        memcpy(text, data, size);
        text[size] = 0;
        sqlite3_exec(database, text, NULL, NULL, NULL);
    }
    free(text);
    sqlite3_close(database);
    return 0;
}
