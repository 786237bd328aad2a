// Small programs whose cost is linear in the end: some with caches, some with work that is quadratic up to a cap.
// `-DRUN=name` chooses one.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 22];
static volatile long sink;

// Linear.
static void digits(char *s) { for (; *s; s++) if (isdigit((unsigned char)*s)) sink += *s - '0'; }
static void words(char *s) {
    for (int in = 0; *s; s++) {
        if (*s != ' ' && *s != ',' && !in) sink++, in = 1;
        else if (*s == ' ' || *s == ',') in = 0;
    }
}
static void depth(char *s) {
    long now = 0;
    for (; *s; s++) { if (*s == '(' || *s == '[') now++; else if (*s == ')' || *s == ']') now--; if (now > sink) sink = now; }
}
static void crc(char *s) {
    unsigned crc = ~0u;
    for (; *s; s++) { crc ^= (unsigned char)*s; for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0); }
    sink = crc;
}
static void numbers(char *s) {
    while (*s) { if (isdigit((unsigned char)*s)) sink += strtol(s, &s, 10); else s++; }
}
static void runs(char *s) {
    while (*s) { char *t = s; while (*t == *s) t++; sink += t - s > 3; s = t; }
}
static void push(char *s) {
    long room = 1, count = 0; char *all = malloc(1);
    for (; *s; s++) {
        if (count == room) { char *more = malloc(room * 2); for (long i = 0; i < count; i++) more[i] = all[i]; free(all); all = more; room *= 2; }
        all[count++] = *s;
    }
    sink = count;
}
static void hashed(char *s) {
    static char *table[1 << 17];
    for (char *w = strtok(s, " ,"); w; w = strtok(0, " ,")) {
        unsigned h = 2166136261u; for (char *c = w; *c; c++) h = (h ^ (unsigned char)*c) * 16777619u;
        h = (h ^ h >> 15) & ((1 << 17) - 1);
        while (table[h] && strcmp(table[h], w)) h = (h + 1) & ((1 << 17) - 1);
        table[h] = w;
    }
}
static void twice(char *s) { long n = 0; for (char *t = s; *t; t++) n++; for (long i = n; i-- > 0;) sink += s[i]; }
static void longer(char *s) {
    // Every word after the hundredth costs more.
    long word = 0;
    for (; *s; s++) { if (*s == ',') word++; for (long i = 0; i < (word > 100 ? 9 : 2); i++) sink += i; }
}
static void pages(char *s) {
    // Each page of 512 bytes is cleared first.
    for (long i = 0; s[i]; i++) { if (i % 512 == 0) for (int k = 0; k < 512; k++) sink += k; sink += s[i]; }
}
static void brackets(char *s) {
    static char stack[1 << 22]; long top = 0;
    for (; *s; s++) { if (strchr("([", *s)) stack[top++] = *s; else if (strchr(")]", *s) && top) top--; }
    sink = top;
}

// With caches.
static void direct(char *s) {
    static char *known[16];
    for (char *w = strtok(s, " ,"); w; w = strtok(0, " ,")) {
        unsigned h = *w & 15;
        if (known[h] && !strcmp(known[h], w)) continue;
        for (int k = 0; k < 40; k++) sink += k;
        known[h] = w;
    }
}
static void front(char *s) {
    static char *known[8];
    for (char *w = strtok(s, " ,"); w; w = strtok(0, " ,")) {
        int at = 0; while (at < 7 && known[at] && strcmp(known[at], w)) at++;
        for (; at > 0; at--) known[at] = known[at - 1];
        known[0] = w;
    }
}
static void cleared(char *s) {
    static char *known[64]; int count = 0;
    for (char *w = strtok(s, " ,"); w; w = strtok(0, " ,")) {
        int at = 0; while (at < count && strcmp(known[at], w)) at++;
        if (at == count) { if (count == 64) count = 0; known[count++] = w; }
    }
}
static void table(char *s) {
    static int square[1 << 15]; int is_made = 0;
    for (; *s; s++) {
        if (isdigit((unsigned char)*s) && !is_made) { for (int i = 0; i < 1 << 15; i++) square[i] = i * i; is_made = 1; }
        sink += square[(unsigned char)*s];
    }
}

// Quadratic up to a cap.
static void first(char *s, int cap) {
    char **known = calloc(cap, sizeof *known); int count = 0;
    for (char *w = strtok(s, " ,"); w; w = strtok(0, " ,")) {
        int at = 0; while (at < count && strcmp(known[at], w)) at++;
        if (at == count && count < cap) known[count++] = w;
    }
}
static void first60(char *s) { first(s, 60); }
static void first300(char *s) { first(s, 300); }
static void first1500(char *s) { first(s, 1500); }
static void sorted(char *s) {
    long n = strlen(s); if (n > 400) n = 400;
    for (long i = 0; i < n; i++) for (long j = 0; j + 1 < n - i; j++) if (s[j] > s[j + 1]) { char c = s[j]; s[j] = s[j + 1]; s[j + 1] = c; }
}
static void rescan(char *s) {
    // Looks back at most 256 bytes for a quote.
    for (long i = 0; s[i]; i++) for (long j = i; j >= 0 && j > i - 256; j--) if (s[j] == '"') break; else sink++;
}
static void refused(char *s) {
    long commas = 0; for (char *t = s; *t; t++) commas += *t == ',';
    if (commas > 500) return;
    for (long i = 0; i < commas; i++) for (long j = 0; j < i; j++) sink++;
}

int main(void) {
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    RUN(text);
    return 0;
}
