// cJSON: parses, and prints and parses again what it has parsed.
#include <stdint.h>
#include <stdlib.h>

#include "cJSON.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cJSON *value = cJSON_ParseWithLength((const char *)data, size);
    if (!value) return 0;
    char *printed = cJSON_PrintUnformatted(value);
    if (printed) cJSON_Delete(cJSON_Parse(printed));
    free(printed);
    cJSON_Delete(value);
    return 0;
}
