// Parses the JSON text on standard input and prints it again: persistent and from shared memory under AFL++.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cJSON.h"

__AFL_FUZZ_INIT();

int main(void) {
    __AFL_INIT();
    unsigned char *text = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(10000)) {
        int length = __AFL_FUZZ_TESTCASE_LEN;
        cJSON *tree = cJSON_ParseWithLength((const char *)text, (size_t)length);
        if (tree) {
            free(cJSON_Print(tree));
            free(cJSON_PrintUnformatted(tree));
            cJSON_Delete(tree);
        }
    }
    return 0;
}
