// Counts what the compiler marks by `-fsanitize-coverage=trace-pc`, and prints it in the end.
#include <stdio.h>
#include <stdlib.h>

static unsigned long count;

void __sanitizer_cov_trace_pc(void) { count++; }

static void print(void) { fprintf(stderr, "%lu\n", count); }

__attribute__((constructor)) static void begin(void) { atexit(print); }
