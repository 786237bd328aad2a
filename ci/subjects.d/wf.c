// Counts how often each word of standard input occurs, and prints the words in the order of their counts.
//
// The words are in a hash table of a fixed size whose buckets are lists, as in the program wf 0.41. Words that share a
// bucket make it slow.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1021, LONGEST = 1 << 12 };

struct word {
    struct word *next;
    unsigned long count;
    char text[];
};
static struct word *buckets[BUCKETS];
static size_t words;

static unsigned hash(const char *text) {
    unsigned value = 0;
    for (; *text; text++) value = 31 * value + (unsigned char)*text;
    return value % BUCKETS;
}

static void count(const char *text) {
    struct word **place = &buckets[hash(text)];
    for (; *place; place = &(*place)->next) {
        if (strcmp((*place)->text, text) == 0) {
            (*place)->count++;
            return;
        }
    }
    struct word *word = malloc(sizeof *word + strlen(text) + 1);
    if (!word) exit(1);
    word->next = NULL;
    word->count = 1;
    strcpy(word->text, text);
    *place = word;
    words++;
}

static int by_count(const void *left, const void *right) {
    const struct word *a = *(struct word *const *)left, *b = *(struct word *const *)right;
    if (a->count != b->count) return a->count < b->count ? 1 : -1;
    return strcmp(a->text, b->text);
}

int main(void) {
    static char text[LONGEST];
    size_t len = 0;
    for (int c; (c = getchar()) != EOF;) {
        if (!isspace(c) && len < LONGEST - 1) {
            text[len++] = (char)tolower(c);
        } else if (len > 0) {
            text[len] = 0;
            count(text);
            len = 0;
        }
    }
    if (len > 0) {
        text[len] = 0;
        count(text);
    }
    struct word **sorted = malloc((words + 1) * sizeof *sorted), **end = sorted;
    if (!sorted) return 1;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        for (struct word *word = buckets[bucket]; word; word = word->next) *end++ = word;
    }
    qsort(sorted, words, sizeof *sorted, by_count);
    for (size_t i = 0; i < words; i++) printf("%lu %s\n", sorted[i]->count, sorted[i]->text);
    return 0;
}
