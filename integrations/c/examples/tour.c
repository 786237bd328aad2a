/* A tour of gramjet for C: inputs, choice bytes, variants, smaller texts, errors.
 *
 * Usage: tour [ENGINE]      auto, jit, vm or reference
 */

#include "gramjet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char GRAMMAR[] =
    "list ::= '[' (item (',' item)*)? ']'\n"
    "item ::= [a-z] | list\n";

/* Ends the program unless all is well. */
static void check(gramjet_status status, const char *call) {
    if (status != GRAMJET_OK) {
        fprintf(stderr, "%s: status %d: %s\n", call, (int)status, gramjet_last_error());
        exit(1);
    }
}

#define CHECK(call) check((call), #call)

static void show(const char *title, const gramjet_bytes *bytes) {
    printf("%s: %.*s\n", title, (int)bytes->len, (const char *)bytes->data);
}

/* What gramjet_minimise is to keep: an x, at least two lists deep. The context counts the calls. */
static int32_t has_deep_x(const uint8_t *text, size_t len, void *context) {
    int depth = 0;
    ++*(int *)context;
    for (size_t at = 0; at < len; at++) {
        depth += (text[at] == '[') - (text[at] == ']');
        if (text[at] == 'x' && depth >= 2) return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    printf("gramjet %s\n", gramjet_version());

    /* A grammar; an error is a status and a text. */
    gramjet_options options = {.engine = argc > 1 ? argv[1] : NULL, .max_len = 60};
    gramjet_grammar *grammar = NULL;
    const char *wrong = "list ::= itm";
    gramjet_status status = gramjet_grammar_compile((const uint8_t *)wrong, strlen(wrong), &options, &grammar);
    printf("status %d, %s\n", (int)status, strstr(gramjet_last_error(), "itm") != NULL ? "and the text names the rule" : "?");
    CHECK(gramjet_grammar_compile((const uint8_t *)GRAMMAR, strlen(GRAMMAR), &options, &grammar));
    printf("shortest: %d bytes\n", (int)gramjet_grammar_min_len(grammar));

    gramjet_session *session = NULL;
    CHECK(gramjet_session_new(grammar, 7, &session));
    gramjet_bytes text = {0}, choices = {0}, variant = {0};

    /* Inputs of a seed. */
    for (int number = 0; number < 3; number++) {
        CHECK(gramjet_generate(session, &text));
        show("generated", &text);
    }

    /* From a text to choice bytes, and back. */
    const char *seed = "[a,[b,[c,x]],[d,[[x]]],e]";
    size_t read = 0;
    CHECK(gramjet_parse(grammar, (const uint8_t *)seed, strlen(seed), &choices, NULL));
    CHECK(gramjet_render(session, choices.data, choices.len, &text, &read));
    show("parsed and rendered", &text);
    if (read >= choices.len) return 1; /* a header stands before them, as in files */
    CHECK(gramjet_parse_raw(grammar, (const uint8_t *)seed, strlen(seed), &choices, NULL));
    CHECK(gramjet_render_raw(session, choices.data, choices.len, &text, &read));
    if (read != choices.len) return 1;

    /* A text that does not conform. */
    size_t offset = 0;
    status = gramjet_parse(grammar, (const uint8_t *)"[a;b]", 5, NULL, &offset);
    printf("status %d at byte %d: %s\n", (int)status, (int)offset, gramjet_last_error());

    /* Variants, all of which conform. */
    for (int number = 0; number < 1000; number++) {
        if (number % 5 == 0) {
            CHECK(gramjet_splice(session, (const uint8_t *)seed, strlen(seed), (const uint8_t *)"[[[y]]]", 7, 50, &variant));
        } else {
            CHECK(gramjet_mutate(session, (const uint8_t *)seed, strlen(seed), 50, &variant));
        }
        CHECK(gramjet_parse(grammar, variant.data, variant.len, NULL, NULL));
        if (variant.len > 50) return 1;
    }
    printf("1000 variants conform\n");

    /* The smallest text that has what is asked for. */
    int calls = 0;
    CHECK(gramjet_minimise(session, (const uint8_t *)seed, strlen(seed), 10000, has_deep_x, &calls, &text));
    show("smallest", &text);

    /* The session keeps what it needs of the grammar. */
    gramjet_grammar_free(grammar);
    CHECK(gramjet_mutate(session, (const uint8_t *)"nonsense", 8, 50, &variant));
    printf("instead of nonsense: %s\n", gramjet_last_mutation(session));

    gramjet_bytes_free(&text);
    gramjet_bytes_free(&choices);
    gramjet_bytes_free(&variant);
    gramjet_session_free(session);
    return 0;
}
