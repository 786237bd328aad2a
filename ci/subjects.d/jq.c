// jq: parses, runs the program `.`, and prints.
#include <stdint.h>
#include <stddef.h>

#include "jq.h"
#include "jv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    // To compile takes jq longer than most inputs do.
    static jq_state *state;
    if (!state && (!(state = jq_init()) || !jq_compile(state, "."))) return 0;
    jv value = jv_parse_sized((const char *)data, (int)size);
    if (!jv_is_valid(value)) {
        jv_free(value);
        return 0;
    }
    jq_start(state, value, 0);
    jv result = jq_next(state);
    if (jv_is_valid(result)) {
        jv_free(jv_dump_string(result, JV_PRINT_SORTED));
    } else {
        jv_free(result);
    }
    return 0;
}
