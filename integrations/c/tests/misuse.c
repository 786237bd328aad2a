/* What a program does wrong, and what the library says: no call may crash. Threads share a grammar. */

#include "gramjet.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef NDEBUG
#include <assert.h>

static const uint8_t *bytes(const char *text) {
    return (const uint8_t *)text;
}

static int32_t always(const uint8_t *text, size_t len, void *context) {
    (void)text, (void)len, (void)context;
    return 1;
}

static int32_t never(const uint8_t *text, size_t len, void *context) {
    (void)text, (void)len, (void)context;
    return 0;
}

static int says(const char *part) {
    return strstr(gramjet_last_error(), part) != NULL;
}

static void *work(void *data) {
    const gramjet_grammar *grammar = data;
    gramjet_session *session = NULL;
    gramjet_bytes text = {0}, choices = {0};
    assert(gramjet_last_error()[0] == 0);
    assert(gramjet_session_new(grammar, 5, &session) == GRAMJET_OK);
    for (int number = 0; number < 8; number++) {
        assert(gramjet_generate(session, &text) == GRAMJET_OK);
        assert(gramjet_parse(grammar, text.data, text.len, &choices, NULL) == GRAMJET_OK);
        assert(gramjet_mutate(session, text.data, text.len, 1000, &choices) == GRAMJET_OK);
    }
    assert(gramjet_parse(grammar, bytes("("), 1, NULL, NULL) == GRAMJET_MISMATCH && says("byte 1"));
    gramjet_bytes_free(&choices);
    gramjet_session_free(session);
    gramjet_bytes *last = malloc(sizeof *last);
    *last = text;
    return last;
}

int main(int argc, char **argv) {
    gramjet_options options = {.engine = argc > 1 ? argv[1] : NULL};
    gramjet_grammar *grammar = (gramjet_grammar *)8;
    gramjet_session *session = (gramjet_session *)8;
    gramjet_bytes text = {0}, empty = {0};

    assert(gramjet_last_error()[0] == 0);
    assert(gramjet_grammar_compile(NULL, 3, &options, &grammar) == GRAMJET_INVALID_ARGUMENT && says("text is NULL"));
    assert(grammar == NULL);
    assert(gramjet_grammar_compile(bytes("a ::= 'x'"), 9, &options, NULL) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_grammar_compile(bytes("a ::= '\xff'"), 9, &options, &grammar) == GRAMJET_INVALID_GRAMMAR && says("UTF-8"));
    assert(gramjet_grammar_compile(NULL, 0, &options, &grammar) == GRAMJET_INVALID_GRAMMAR);
    assert(gramjet_grammar_compile(bytes("x"), (size_t)-1, &options, &grammar) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_grammar_load(NULL, &options, &grammar) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_grammar_load("no-such-grammar", &options, &grammar) == GRAMJET_INVALID_GRAMMAR && says("css, "));
    gramjet_options turbo = {.engine = "turbo"}, start = {.start = "b"}, notation = {.format = "?"}, small = {.max_len = 1};
    assert(gramjet_grammar_compile(bytes("a ::= 'x'"), 9, &turbo, &grammar) == GRAMJET_INVALID_ARGUMENT && says("turbo"));
    assert(gramjet_grammar_compile(bytes("a ::= 'x'"), 9, &start, &grammar) == GRAMJET_INVALID_GRAMMAR);
    assert(gramjet_grammar_compile(bytes("a ::= 'x'"), 9, &notation, &grammar) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_grammar_compile(bytes("a ::= 'xyz'"), 11, &small, &grammar) == GRAMJET_INVALID_GRAMMAR && says("too small"));
    gramjet_options policy = {.separator_policy = "some"}, alphabet = {.alphabet = "latin"};
    assert(gramjet_grammar_compile(bytes("a ::= 'x'"), 9, &policy, &grammar) == GRAMJET_INVALID_ARGUMENT && says("any"));
    assert(gramjet_grammar_compile(bytes("a ::= 'x'"), 9, &alphabet, &grammar) == GRAMJET_INVALID_ARGUMENT && says("ascii"));
    gramjet_options indent = {.indent = "unit=0"}, tokens = {.tokens = "nowhere"};
    assert(gramjet_grammar_compile(bytes("a ::= 'x'"), 9, &indent, &grammar) == GRAMJET_INVALID_ARGUMENT && says("indented by"));
    const char *lark = "start: A\n%declare A\n";
    assert(gramjet_grammar_compile(bytes(lark), strlen(lark), &tokens, &grammar) == GRAMJET_INVALID_GRAMMAR && says("file of tokens"));
    assert(grammar == NULL);

    /* Blocks of lines: the tokens of their indentation. */
    const char *blocks = "grammar B; tokens { INDENT, DEDENT } s : l+ EOF ; l : ID NEWLINE | 'if' ':' NEWLINE INDENT l+ DEDENT ;"
                         " ID : [a-z]+ ; NEWLINE : '\\n' ; WS : ' ' -> skip ;";
    gramjet_options two = {.indent = "unit=2"};
    assert(gramjet_grammar_compile(bytes(blocks), strlen(blocks), &two, &grammar) == GRAMJET_OK);
    assert(gramjet_parse(grammar, bytes("if:\n  b\n"), 8, NULL, NULL) == GRAMJET_OK);
    assert(gramjet_parse(grammar, bytes("if:\n    b\n"), 10, NULL, NULL) == GRAMJET_MISMATCH);
    gramjet_grammar_free(grammar);

    /* Texts that others have made: blanks where the lexer hides them. */
    const char *calls = "grammar Calls; call : 'call' NAME ';' EOF ; NAME : [a-z]+ ; WS : [ \\n]+ -> skip ;";
    const char *spaced = " call  a ;\n";
    gramjet_options others = {.separator_policy = "any"};
    for (int of_others = 0; of_others < 2; of_others++) {
        assert(gramjet_grammar_compile(bytes(calls), strlen(calls), of_others ? &others : NULL, &grammar) == GRAMJET_OK);
        gramjet_status said = gramjet_parse(grammar, bytes(spaced), strlen(spaced), NULL, NULL);
        assert(said == (of_others ? GRAMJET_OK : GRAMJET_MISMATCH));
        gramjet_grammar_free(grammar);
    }

    /* A warning: b is not reached. */
    const char *sum = "sum ::= '(' sum ')' | sum '+' sum | sum sum sum sum sum sum sum sum sum '!' | [0-9]\nb ::= 'y'\n";
    options.max_depth = 12;
    assert(gramjet_grammar_compile(bytes(sum), strlen(sum), &options, &grammar) == GRAMJET_OK);
    assert(strstr(gramjet_grammar_warnings(grammar), "`b`") != NULL);
    assert(options.engine == NULL || strcmp(options.engine, "auto") == 0 || strcmp(gramjet_grammar_engine(grammar), options.engine) == 0);
    assert(gramjet_grammar_min_len(grammar) == 1 && gramjet_grammar_min_len(NULL) == 0);
    assert(gramjet_grammar_warnings(NULL) == NULL && gramjet_grammar_engine(NULL) == NULL);

    assert(gramjet_session_new(NULL, 1, &session) == GRAMJET_INVALID_ARGUMENT && session == NULL);
    assert(gramjet_session_new(grammar, 1, NULL) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_session_new(grammar, 1, &session) == GRAMJET_OK);
    assert(gramjet_last_mutation(session)[0] == 0 && gramjet_last_mutation(NULL) == NULL);

    assert(gramjet_generate(NULL, &text) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_generate(session, NULL) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_render(session, NULL, 0, &text, NULL) == GRAMJET_OK && text.len == 1 && text.data[0] == '0');
    assert(gramjet_render(session, NULL, 1, &text, NULL) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_parse(NULL, bytes("1"), 1, NULL, NULL) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_parse(grammar, NULL, 0, NULL, NULL) == GRAMJET_MISMATCH);
    assert(gramjet_remember(session, bytes("1+2"), 3) == GRAMJET_OK);
    assert(gramjet_remember(session, bytes("1+"), 2) == GRAMJET_MISMATCH && says("byte 2"));
    assert(gramjet_mutate(session, bytes("1+2"), 3, 0, &text) == GRAMJET_NO_ROOM && text.len == 0);
    assert(gramjet_mutate(session, bytes("1+2"), 3, 9, NULL) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_mutate(session, NULL, 0, 9, &text) == GRAMJET_OK && strcmp(gramjet_last_mutation(session), "fresh") == 0);
    assert(gramjet_splice(session, bytes("1+2"), 3, NULL, 4, 9, &text) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_splice(session, bytes("1+2"), 3, bytes("nothing"), 7, 9, &text) == GRAMJET_OK);
    assert(gramjet_minimise(session, bytes("1+2"), 3, 9, NULL, NULL, &text) == GRAMJET_INVALID_ARGUMENT);
    assert(gramjet_minimise(session, bytes("1+2"), 3, 9, never, NULL, &text) == GRAMJET_INVALID_ARGUMENT && says("does not hold"));
    assert(gramjet_minimise(session, bytes("1+"), 2, 9, always, NULL, &text) == GRAMJET_MISMATCH);
    assert(gramjet_minimise(session, bytes("(4+5)"), 5, 99, always, NULL, &text) == GRAMJET_OK && text.len == 1);

    /* Choice bytes with a header: a text beyond the depth limit, and those of another grammar. */
    gramjet_bytes recorded = {0}, raw = {0};
    char deep[101] = {0};
    memset(deep, '(', 50);
    deep[50] = '7';
    memset(deep + 51, ')', 50);
    assert(gramjet_parse(grammar, bytes(deep), 101, &recorded, NULL) == GRAMJET_OK);
    assert(gramjet_render(session, recorded.data, recorded.len, &text, NULL) == GRAMJET_OK);
    assert(text.len == 101 && memcmp(text.data, deep, 101) == 0);
    assert(gramjet_parse_raw(grammar, bytes(deep), 101, &raw, NULL) == GRAMJET_OK && raw.len < recorded.len);
    assert(memcmp(recorded.data + (recorded.len - raw.len), raw.data, raw.len) == 0);
    assert(gramjet_render(session, raw.data, raw.len, &text, NULL) == GRAMJET_OK && text.len < 101);
    assert(gramjet_render_raw(session, recorded.data, recorded.len, &text, NULL) == GRAMJET_OK);
    assert(gramjet_render_raw(session, NULL, 1, &text, NULL) == GRAMJET_INVALID_ARGUMENT);
    gramjet_options uniform = {.max_depth = 12, .shape = "uniform", .engine = options.engine}, round = {.shape = "round"};
    gramjet_grammar *even = NULL;
    assert(gramjet_grammar_compile(bytes(sum), strlen(sum), &round, &even) == GRAMJET_INVALID_ARGUMENT && says("target-size"));
    assert(gramjet_grammar_compile(bytes(sum), strlen(sum), &uniform, &even) == GRAMJET_OK);
    assert(strstr(gramjet_grammar_warnings(grammar), "taking the shape target-size=1000") != NULL);
    assert(strstr(gramjet_grammar_warnings(even), "taking the shape") == NULL);
    assert(gramjet_parse(even, bytes(deep), 101, &recorded, NULL) == GRAMJET_OK);
    assert(gramjet_render(session, recorded.data, recorded.len, &text, NULL) == GRAMJET_OTHER_GRAMMAR && says("the shape uniform"));
    assert(gramjet_render(session, recorded.data, 20, &text, NULL) == GRAMJET_OTHER_GRAMMAR && says("damaged"));
    gramjet_grammar_free(even);
    gramjet_bytes_free(&recorded);
    gramjet_bytes_free(&raw);

    /* Inputs must not lie in output buffers. */
    assert(gramjet_minimise(session, bytes("(4+5)"), 5, 99, always, NULL, &text) == GRAMJET_OK && text.len == 1);
    assert(gramjet_mutate(session, text.data, text.len, 9, &text) == GRAMJET_INVALID_ARGUMENT && says("lies in the bytes"));
    assert(gramjet_render(session, text.data, text.len, &text, NULL) == GRAMJET_INVALID_ARGUMENT && text.len == 1);
    assert(gramjet_parse(grammar, text.data, text.len, &text, NULL) == GRAMJET_INVALID_ARGUMENT);

    pthread_t threads[4];
    gramjet_bytes *last[4];
    for (int number = 0; number < 4; number++) assert(pthread_create(&threads[number], NULL, work, grammar) == 0);
    for (int number = 0; number < 4; number++) {
        assert(pthread_join(threads[number], (void **)&last[number]) == 0);
        assert(last[number]->len == last[0]->len && memcmp(last[number]->data, last[0]->data, last[0]->len) == 0);
    }
    for (int number = 0; number < 4; number++) {
        gramjet_bytes_free(last[number]);
        free(last[number]);
    }

    gramjet_bytes_free(&text);
    gramjet_bytes_free(&text);
    gramjet_bytes_free(&empty);
    gramjet_bytes_free(NULL);
    gramjet_session_free(session);
    gramjet_session_free(NULL);
    gramjet_grammar_free(grammar);
    gramjet_grammar_free(NULL);
    puts("all calls said what they should");
    return 0;
}
