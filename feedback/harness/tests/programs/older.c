// Begins as programs of an earlier run time do.
#include <stdint.h>
#include <unistd.h>

// The harness looks for this text to know programs that have a run time.
static const char *volatile mark = "##SIG_GRAMJET_RUNTIME_1##";

int main(void) {
    uint32_t word = 0x474a5202;
    (void)mark;
    if (write(199, &word, sizeof word) != sizeof word) return 1;
    return read(198, &word, sizeof word) < 0;
}
