// A program that does harm: the first word of its input names the attack, a number after it says how much. What it may
// harm is in the environment: a folder, a process, sockets. What it must not be able to do and can do it reports by
// exit status 77 and a line on standard error; the test looks at the victims, too.
//
// With HARNESS it is a libFuzzer harness, with LIBRARY a library that functions of other languages load.
#include "hostile.h"

#include "files.c"
#include "memory.c"
#include "network.c"
#include "output.c"
#include "processes.c"
#include "system.c"

extern const struct attack __start_attacks[], __stop_attacks[];

// Counts edges, says so, and harms nobody.
ATTACK(benign) {
    static volatile int sum;
    for (int i = 0; i < much; i++) sum += i % 3 ? i : 2;
    char text[32];
    say(1, text, snprintf(text, sizeof text, "benign %d\n", much));
}

// What a campaign must find.
ATTACK(finding) { abort(); }

ATTACK(status) { _exit(much); }

static void run(char *text) {
    char *end = text + strcspn(text, " \n");
    much = *end ? atoi(end + 1) : 0;
    *end = 0;
    if (!*text) return;
    for (const struct attack *attack = __start_attacks; attack < __stop_attacks; attack++) {
        if (!strcmp(attack->name, text)) {
            attack->run();
            return;
        }
    }
    _exit(78);
}

#if defined HARNESS
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    char text[64] = {0};
    memcpy(text, data, size < sizeof text ? size : sizeof text - 1);
    run(text);
    return 0;
}
#elif defined LIBRARY
// For Python, which calls it by its name.
void hostile(const char *data) {
    char text[64] = {0};
    strncpy(text, data, sizeof text - 1);
    run(text);
}

// For Java, which gives a letter at a time, and 0 at the end.
void Java_Hostile_give(void *environment, void *class, int letter) {
    static char text[64];
    static size_t length;
    (void)environment, (void)class;
    if (letter && length < sizeof text - 1) text[length++] = (char)letter;
    if (letter) return;
    text[length] = 0;
    length = 0;
    run(text);
}

// For Node, as an add-on: these functions are Node's.
int napi_get_cb_info(void *, void *, size_t *, void **, void **, void **);
int napi_get_value_string_utf8(void *, void *, char *, size_t, size_t *);
int napi_create_function(void *, const char *, size_t, void *(*)(void *, void *), void *, void **);
#pragma weak napi_get_cb_info
#pragma weak napi_get_value_string_utf8
#pragma weak napi_create_function
static void *called(void *environment, void *call) {
    char text[64] = {0};
    size_t count = 1, length;
    void *argument = NULL;
    napi_get_cb_info(environment, call, &count, &argument, NULL, NULL);
    napi_get_value_string_utf8(environment, argument, text, sizeof text, &length);
    run(text);
    return NULL;
}
void *napi_register_module_v1(void *environment, void *exports) {
    void *function = exports;
    napi_create_function(environment, "hostile", 7, called, NULL, &function);
    return function;
}
#else
int main(int count, char **arguments) {
    own_arguments = arguments;
    if (count > 1) snprintf(input_file, sizeof input_file, "%s", arguments[1]);
    char text[64] = {0};
    int from = count > 1 ? open(arguments[1], O_RDONLY) : 0;
    if (from < 0 || read(from, text, sizeof text - 1) < 0) _exit(79);
    if (from) close(from);
    run(text);
    return 0;
}
#endif
