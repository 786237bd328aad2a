// Counts what a program asks for: the bytes that it allocates, and the depth of its stack. The loader loads this
// library before all others (LD_PRELOAD), so its functions stand before those that allocate.
//
// The counts are in memory that the harness shares. The program can write to it as well: it is not trusted.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    DEMAND_FD = 194,
    SIZE = 4096,
    SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
    GREETING = 0x474a4401,
    // In place of the greeting: another allocator stands before this library.
    IS_BEHIND = 0x474a4402,
    // What the harness asks for.
    WANTS_STACK = 1,
    // The first process is a fork server.
    SERVES = 2,
};

struct demand {
    uint32_t greeting;
    uint32_t wanted;     // by the harness
    uint64_t allocated;  // bytes
    uint64_t stack;      // bytes at its deepest; 0 if no process has ended by itself
    uint32_t server;     // the first process
};

static struct demand *shared;

// Adds memory that was allocated.
static void *counted(void *memory, size_t size) {
    if (memory && shared) __atomic_fetch_add(&shared->allocated, size, __ATOMIC_RELAXED);
    return memory;
}

// Older C libraries allocate while they look for a function. These are their own, and stand behind no other.
extern void *__libc_malloc(size_t) __attribute__((weak));
extern void *__libc_calloc(size_t, size_t) __attribute__((weak));
extern void *__libc_realloc(void *, size_t) __attribute__((weak));

static __thread int is_looking __attribute__((tls_model("initial-exec")));

// Returns the next function of this name: that of the C library, or of an allocator that stands before it; NULL while
// this thread looks for one.
static void *next(void **known, const char *name) {
    void *found = __atomic_load_n(known, __ATOMIC_ACQUIRE);
    if (found || is_looking) return found;
    is_looking = 1;
    found = dlsym(RTLD_NEXT, name);
    is_looking = 0;
    __atomic_store_n(known, found, __ATOMIC_RELEASE);
    return found;
}

static void *of_malloc, *of_calloc, *of_realloc, *of_aligned_alloc, *of_memalign, *of_posix_memalign;

#define NEXT(function) __typeof__(&function) found = (__typeof__(&function))next(&of_##function, #function)

// A name that nothing else can stand before.
static void *own_malloc(size_t size) {
    NEXT(malloc);
    if (!found) return __libc_malloc ? __libc_malloc(size) : NULL;
    return counted(found(size), size);
}

void *malloc(size_t size) __attribute__((alias("own_malloc")));

void *calloc(size_t number, size_t size) {
    NEXT(calloc);
    if (!found) return __libc_calloc ? __libc_calloc(number, size) : NULL;
    return counted(found(number, size), number * size);
}

void *realloc(void *old, size_t size) {
    NEXT(realloc);
    if (!found) return __libc_realloc ? __libc_realloc(old, size) : NULL;
    return counted(found(old, size), size);
}

void *reallocarray(void *old, size_t number, size_t size) {
    size_t all;
    if (!__builtin_mul_overflow(number, size, &all)) return realloc(old, all);
    errno = ENOMEM;
    return NULL;
}

void *aligned_alloc(size_t alignment, size_t size) {
    NEXT(aligned_alloc);
    return found ? counted(found(alignment, size), size) : NULL;
}

void *memalign(size_t alignment, size_t size) {
    NEXT(memalign);
    return found ? counted(found(alignment, size), size) : NULL;
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    NEXT(posix_memalign);
    int error = found ? found(memory, alignment, size) : ENOMEM;
    if (!error) counted(*memory, size);
    return error;
}

// Looks for all of them, so that no thread has to later.
static void look(void) {
    { NEXT(malloc); }
    { NEXT(calloc); }
    { NEXT(realloc); }
    { NEXT(aligned_alloc); }
    { NEXT(memalign); }
    { NEXT(posix_memalign); }
}

// The stack of the first thread is measured from where this process began, or was forked by a fork server, down to the
// last word that is not zero. The words below are made zero at the beginning.
static uintptr_t base, page, top, most;

// Bytes below a function that clears which it leaves as they are: it is there itself.
enum { OWN = 1024, WORD = sizeof(uintptr_t) };

// Returns the lowest page of the stack of the first thread that an address is in; 0 for another stack. The first
// thread's ends above at what the kernel has put there.
static uintptr_t lowest(uintptr_t address) {
    if (!top || address > top || top - address > most) return 0;
    uintptr_t lowest = address & ~(page - 1);
    unsigned char unused;
    while (top - lowest < most && !mincore((void *)(lowest - page), page, &unused)) lowest -= page;
    return lowest;
}

// Begins to measure the stack. Nothing below this function may be in use, as it is where a program begins.
__attribute__((noinline)) static void begin_stack(void) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), end = (here - OWN) & ~(uintptr_t)(WORD - 1);
    uintptr_t first = lowest(here), last = end & ~(page - 1);
    base = 0;
    if (!first) return;
    if (first < last && madvise((void *)first, last - first, MADV_DONTNEED)) return;
    for (uintptr_t at = last > first ? last : first; at < end; at += WORD) *(volatile uintptr_t *)at = 0;
    base = here;
}

// Tells the depth of the stack.
static void end_stack(void) {
    if (!shared || !base) return;
    uintptr_t at = lowest(base);
    if (!at) return;
    while (at < base && !*(volatile uintptr_t *)at) at += WORD;
    uint64_t depth = at < base ? base - at : 1, known = __atomic_load_n(&shared->stack, __ATOMIC_RELAXED);
    while (known < depth &&
           !__atomic_compare_exchange_n(&shared->stack, &known, depth, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

// Begins anew in a process that the fork server has made for an input. Other processes go on where the one was that has
// made them: their stack may be any memory, and what is below may be in use.
static void begin_fork(void) {
    if (shared->wanted & SERVES && shared->server == (uint32_t)getppid()) begin_stack();
}

// Stands before the function by which programs end without those that `exit` calls.
void _exit(int status) {
    end_stack();
    for (;;) syscall(SYS_exit_group, status);
}

void _Exit(int status) { _exit(status); }

// Attaches the memory of the harness, if its descriptor has not been taken for another file.
__attribute__((constructor)) static void begin(void) {
    struct stat facts;
    look();
    int seals = fcntl(DEMAND_FD, F_GET_SEALS);
    if (seals < 0 || (seals & SEALS) != SEALS || fstat(DEMAND_FD, &facts) || facts.st_size != SIZE) return;
    void *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, DEMAND_FD, 0);
    if (map == MAP_FAILED) return;
    shared = map;
    int is_behind = dlsym(RTLD_DEFAULT, "malloc") != (void *)own_malloc;
    if (!shared->server) {
        shared->server = getpid();
        shared->greeting = is_behind ? IS_BEHIND : GREETING;
    }
    if (!(shared->wanted & WANTS_STACK)) return;
    struct rlimit limit;
    page = sysconf(_SC_PAGESIZE);
    top = getauxval(AT_RANDOM);
    most = 1 << 30;
    if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < most) most = limit.rlim_cur;
    pthread_atfork(NULL, NULL, begin_fork);
    at_quick_exit(end_stack);
    begin_stack();
}

// Tells the depth of the stack of a program that ends by itself.
__attribute__((destructor)) static void end(void) { end_stack(); }
