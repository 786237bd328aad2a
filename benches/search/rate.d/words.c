// Counts words in a table of lists. With PERSISTENT one process takes many inputs, in memory; else each input has a
// process, and comes by standard input.
#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { BUCKETS = 64, WORDS = 4096 };

struct word {
    const unsigned char *at;
    int length, count, next;
};

void record(const unsigned char *input, size_t length);

static struct word words[WORDS];
static int heads[BUCKETS], known;

static void add(const unsigned char *at, int length) {
    unsigned hash = 0;
    for (int i = 0; i < length; i++) hash = hash * 31 + at[i];
    int *link = &heads[hash % BUCKETS];
    while (*link && (words[*link].length != length || memcmp(words[*link].at, at, length))) link = &words[*link].next;
    if (!*link && known + 1 < WORDS) {
        *link = ++known;
        words[known] = (struct word){at, length, 0, 0};
    }
    words[*link].count++;
}

static void count(const unsigned char *input, int length) {
    record(input, length);
    memset(heads, 0, sizeof heads);
    known = 0;
    for (int i = 0; i < length;) {
        int begin = i;
        while (i < length && isalpha(input[i])) i++;
        if (i > begin) add(input + begin, i - begin);
        else i++;
    }
}

#ifdef PERSISTENT
__AFL_FUZZ_INIT();

int main(void) {
    __AFL_INIT();
    const unsigned char *input = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(100000)) count(input, __AFL_FUZZ_TESTCASE_LEN);
}
#else
int main(void) {
    static unsigned char input[4096];
    ssize_t length = read(0, input, sizeof input);
    count(input, length < 0 ? 0 : (int)length);
}
#endif
