// PCRE2: compiles the pattern and matches it against a few texts, at most 100 000 steps each.
#include <stdint.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include "pcre2.h"

static const char *const texts[] = {"", "aaaaaaaaaaaaaaaaaaaaaaaa!", "The quick brown fox, 42 times: a_b-c@d.e\n"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int error;
    PCRE2_SIZE at;
    pcre2_code *code = pcre2_compile(data, size, 0, &error, &at, NULL);
    if (!code) return 0;
    pcre2_match_data *found = pcre2_match_data_create_from_pattern(code, NULL);
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(limits, 100000);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pcre2_match(code, (PCRE2_SPTR)texts[i], strlen(texts[i]), 0, 0, found, limits);
    }
    pcre2_match_context_free(limits);
    pcre2_match_data_free(found);
    pcre2_code_free(code);
    return 0;
}
