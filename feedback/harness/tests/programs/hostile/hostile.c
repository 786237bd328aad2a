// A program that does harm: the first word of its input names the attack, a number after it says how much. What it may
// harm is in the environment: a folder, a process, sockets. What it must not be able to do and can do it reports by
// exit status 77 and a line on standard error; the test looks at the victims, too.
//
// With HARNESS it is a libFuzzer harness.
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

static void run(char *input) {
    char *end = input + strcspn(input, " \n");
    if (*end) much = atoi(end + 1);
    else much = 0;
    *end = 0;
    for (const struct attack *attack = __start_attacks; attack < __stop_attacks; attack++) {
        if (!strcmp(attack->name, input)) {
            attack->run();
            return;
        }
    }
    _exit(78);
}

#ifdef HARNESS
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    char input[64] = {0};
    memcpy(input, data, size < sizeof input ? size : sizeof input - 1);
    run(input);
    return 0;
}
#else
int main(int count, char **arguments) {
    own_arguments = arguments;
    if (count > 1) snprintf(input_file, sizeof input_file, "%s", arguments[1]);
    char input[64] = {0};
    int from = count > 1 ? open(arguments[1], O_RDONLY) : 0;
    if (from < 0) _exit(79);
    if (read(from, input, sizeof input - 1) < 0) _exit(79);
    if (from) close(from);
    run(input);
    return 0;
}
#endif
