// The run time of instrumented programs: counts how often each edge is executed, and starts the fork server.
//
// The counters are in memory shared with the harness, 32 bits an edge, from number 1 on; number 0 counts the edges
// without one. A counter that passes 2^32 - 1 begins again at 0, and adds one to the carries of its edge: these are in
// an array of their own, which most runs never touch. So a count has 64 bits, and counting is one increment and one
// branch that is hardly ever taken.
//
// With GRAMJET_IN_PLACE the counters of an image are what clang calls its guards, which the linker has put on pages of
// their own (pages.ld): the shared memory replaces these pages, so that counting needs no address but one that the
// linker knows. Else a guard holds the number of its edge.
//
// The program is not trusted, as it is run on inputs that shall break it: a plain overflow of one of its static buffers
// must end in a fault, and not change what this file knows. So counters lie between pages that nothing can write to.
// What this file keeps in the program's own memory can only be read. The rest (`struct control`) is mapped elsewhere,
// between pages that nothing can touch.
//
// Increments are not atomic: threads of one program may lose some of each other's, and two that pass 2^32 - 1 at once
// may both carry.
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    INPUT_FD = 195,    // memory with the input: its length in 4 bytes, then the input; further ones from INPUT_SIZE on
    MAP_FD = 196,      // memory with the counters
    CONTROL_MAP_FD = 197,  // memory with `struct control`
    CONTROL_FD = 198,  // requests of the harness
    STATUS_FD = 199,   // answers to it
    PAGE = 4096,
    INPUT_SIZE = 1 << 26,
    CAPACITY = 1 << 22,
    IMAGES = 64,
    GREETING = 0x474a5203,
    // What the harness offers and the program takes.
    USES_SHARED_INPUT = 1,
    ANSWERS_ITSELF = 2,   // a process that takes many inputs speaks with the harness itself
    TAKES_AHEAD = 4,      // such a process finds further inputs in memory, and speaks only when there are none
    TELLS_USAGE = 8,      // the processor time of each run is told, and the memory of a process that has one input
    // Its answer to an input: the status of a process that SIGSTOP has stopped.
    HAS_RUN = SIGSTOP << 8 | 0x7f,
};

// Where edges are counted in place, the first number of an image begins a page: it is 1, or a multiple of these more.
enum { PAGE_OF_COUNTERS = PAGE / sizeof(uint32_t) };

// The program's own file or a shared library: its edges have numbers without gaps.
struct image {
    uint32_t first, count;
    uint64_t start;   // address at which its file begins in memory, less that which its file gives
    char path[1008];  // empty: the program's own
};

// 64 bits that need not lie at a multiple of eight bytes in a structure: the header has no gap at its end.
typedef uint64_t __attribute__((aligned(4))) packed64;

// A process that answers itself: whether the harness waits for its answer. If it ends while that is not known, the fork
// server ends, too.
enum { RUNS, ANSWERS, WAITS };

// What the program tells the harness of itself, in memory that both have. Addresses are those in the files, 0 where
// there is none.
struct control {
    uint32_t greeting;
    uint32_t edges;   // counters in use, with number 0
    uint32_t beyond;  // edges for which there was no room
    uint32_t images;
    uint32_t process;  // that of a process which answers itself: one of the three above
    uint32_t carried;  // whether there are carries
    // What the last run has used, of those that are told: nanoseconds of processor time, and bytes of resident memory
    // at the peak; 0 if that is not known.
    packed64 cpu;
    packed64 peak;
    packed64 cpu_before;  // that of its process when the run began
    uint32_t end;         // the greeting again: whoever writes beyond an end changes one of the two
    uint8_t rest[PAGE - 52];
    struct image described[IMAGES];
    uint64_t addresses[CAPACITY];
    uint32_t carries[CAPACITY];
};
_Static_assert(offsetof(struct control, described) == PAGE && sizeof(struct image) == 1024, "as the harness knows it");

// Inputs that the harness gives while the program runs on earlier ones, with the counts of those that have run. Both
// count without end; an input is in the slot of its number. Slots begin in different sets of a cache.
enum { SLOTS = 16, SLOT_INPUT = 1 << 16, SLOT_EDGES = 1 << 13 };
struct ahead {
    uint32_t given;      // by the harness
    uint32_t finished;   // by the program
    uint32_t is_in_map;  // the counts of the next one stay where they are counted: there is no room for them
    uint32_t unused;
    volatile uint64_t begun;  // when the program has begun on the next one, in nanoseconds of CLOCK_MONOTONIC
    uint64_t rest[5];
    struct slot {
        uint32_t length;  // a longer input than there is room for comes alone, where inputs always are
        uint32_t count;   // edges
        uint64_t nanoseconds;
        struct {
            uint32_t number, count;
        } edges[SLOT_EDGES];
        uint8_t input[SLOT_INPUT];
        uint64_t cpu;  // nanoseconds of processor time, if they are told
        uint64_t rest[5];
    } slots[SLOTS];
};
_Static_assert(sizeof(struct ahead) == 64 + 16 * 131136, "as the harness knows it");

// No page of the processor is larger, where this is used.
#ifdef __x86_64__
enum { ALIGN = 1 << 12 };
#else
enum { ALIGN = 1 << 16 };
#endif

// The code of an image that gcc has compiled.
struct code {
    uintptr_t begin, size, start;
    uint32_t first;
};

// What changes in each process.
struct progress {
    int is_persistent;
    unsigned left;  // rounds
    uint8_t *read_input;
    size_t capacity;
};

// What this file keeps in the program's memory: a page that can only be read, but while `change` has it open.
union kept {
    struct {
        struct control *control;
        struct progress *progress;  // from its first use on
        uint8_t *shared_input;
        struct ahead *ahead;
        int is_attached, is_served, answers_itself, tells_usage;
        // Whether clang's guards were met.
        int has_guards;
        uint32_t known_codes;
        struct code codes[IMAGES];
        // The image of which guards were numbered last.
        struct image *latest;
        // The guards that were met last, until their number is known.
        uint32_t *met;
        uintptr_t met_end;
        // Those that are counters already, and their numbers.
        struct {
            uint32_t *start;
            uint32_t first, count;
        } placed[IMAGES];
        uint32_t known_placed;
    };
    uint8_t pages[ALIGN];
};
_Static_assert(sizeof(union kept) == ALIGN, "pages of its own");

// The shared memory of the harness replaces all but the first and the last pages. The last can't be touched, and the
// first can only be read. The counters then have addresses known at link time, which makes counting cheaper. Pages that
// are never touched take no memory. Each part of memory with rights of its own takes time in `fork`, so there are few.
static struct {
    union kept kept;
    uint8_t unused[PAGE - sizeof(uint32_t)];
    uint32_t counters[CAPACITY];
    uint8_t after[ALIGN] __attribute__((aligned(ALIGN)));
} area __attribute__((aligned(ALIGN)));
#define own area.kept
enum { AREA_SIZE = PAGE - sizeof(uint32_t) + sizeof area.counters };
_Static_assert(offsetof(__typeof__(area), counters) % PAGE == PAGE - sizeof(uint32_t), "number 1 begins a page");

// Lets `own` be changed, or ends that. Threads may load libraries at the same time, and a handler of a signal may
// count: one thread changes it, and no handler meanwhile.
static void change(int is_open) {
    static int is_taken;
    static sigset_t signals;
    if (is_open) {
        sigset_t all, before;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, &before);
        while (__atomic_exchange_n(&is_taken, 1, __ATOMIC_ACQUIRE)) sched_yield();
        signals = before;
        mprotect(&own, sizeof own, PROT_READ | PROT_WRITE);
    } else {
        sigset_t before = signals;
        mprotect(&own, sizeof own, PROT_READ);
        __atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
}

// Memory between two pages that nothing can touch: that of a file from a place on, or a new one.
static void *apart(size_t size, int file, off_t from) {
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint8_t *all = mmap(NULL, size + 2 * ALIGN, PROT_NONE, flags, -1, 0);
    if (all == MAP_FAILED) return NULL;
    flags = MAP_FIXED | (file < 0 ? flags : MAP_SHARED);
    void *map = mmap(all + ALIGN, size, PROT_READ | PROT_WRITE, flags, file, from);
    return map == MAP_FAILED ? NULL : map;
}

// The harness looks for this text to know programs that have this run time.
static const char signature[] = "##SIG_GRAMJET_RUNTIME_1##";

static void give_up(void) {
    static const char said[] = "gramjet: there is no memory for the counters of edges\n";
    (void)!write(2, said, sizeof said - 1);
    _exit(1);
}

static void attach(void) {
    if (own.control) return;
    // Linkers leave out what nothing refers to.
    (void)*(const volatile char *)signature;
    change(1);
    if (own.control) {
        change(0);
        return;
    }
    mprotect(area.after, sizeof area.after, PROT_NONE);
    if (getenv("GRAMJET_MAP")) {
        int flags = MAP_SHARED | MAP_FIXED;
        void *map = mmap(area.unused, AREA_SIZE, PROT_READ | PROT_WRITE, flags, MAP_FD, 0);
        if (map != MAP_FAILED) own.control = apart(sizeof *own.control, CONTROL_MAP_FD, 0);
        own.is_attached = own.control != NULL;
    }
    if (!own.control) own.control = apart(sizeof *own.control, -1, 0);
    if (!own.control) give_up();
    own.control->greeting = own.control->end = GREETING;
    if (!own.control->edges) own.control->edges = 1;
    change(0);
}

// The progress of this process, which most processes that take one input never ask for.
static struct progress *progress_of_process(void) {
    attach();
    if (own.progress) return own.progress;
    change(1);
    if (!own.progress) own.progress = apart(sizeof *own.progress, -1, 0);
    change(0);
    if (!own.progress) give_up();
    return own.progress;
}

// Where functions that clang compiles call one of this kind, they keep what they have in registers.
#ifdef __clang__
#define RARE __attribute__((noinline, cold, preserve_all))
#else
#define RARE __attribute__((noinline, cold))
#endif

// Called when the counter of this edge has become 0.
static void carry_to(uint32_t number) {
    if (!own.control) return;
    // In this order: the program may be killed between them.
    own.control->carried = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    own.control->carries[number]++;
}

// An image in memory: where it is, and where its code is.
struct loaded {
    uintptr_t at;  // an address in it
    uintptr_t start, code, code_end;
    const char *path;
};

static int holds(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    struct loaded *loaded = context;
    struct loaded found = {.at = loaded->at, .start = info->dlpi_addr, .path = info->dlpi_name};
    int is_it = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = info->dlpi_phdr + i;
        if (part->p_type != PT_LOAD) continue;
        uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (begin <= loaded->at && loaded->at < end) is_it = 1;
        if (!(part->p_flags & PF_X)) continue;
        if (!found.code) found.code = begin;
        found.code_end = end;
    }
    if (is_it) *loaded = found;
    return is_it;
}

// The first number that an image can have after these edges.
static uint32_t first_after(uint32_t edges) {
#ifdef GRAMJET_IN_PLACE
    return (edges + PAGE_OF_COUNTERS - 2) / PAGE_OF_COUNTERS * PAGE_OF_COUNTERS + 1;
#else
    return edges;
#endif
}

// Says where the edges of an image are: pairs of an address and flags, in their order.
__attribute__((unused)) static void locate(const struct image *image, const uintptr_t *pairs,
                                           const struct loaded *loaded) {
    for (uint32_t i = 0; i < image->count; i++) {
        uintptr_t address = pairs[2 * i];
        // A block that was removed later has no address.
        own.control->addresses[image->first + i] = address > loaded->start + 1 ? address - loaded->start : 0;
    }
}

// The numbers of an image's edges: those that it had in an earlier process of this program, too.
static struct image *numbered(const struct loaded *loaded, uint32_t needed) {
    const char *path = loaded->path ? loaded->path : "";
    struct control *control = own.control;
    uint32_t known = control->images;
    for (uint32_t i = 0; i < known && i < IMAGES; i++) {
        struct image *image = control->described + i;
        if (image->count == needed && !strncmp(image->path, path, sizeof image->path - 1)) return image;
    }
    uint32_t first = first_after(control->edges);
    if (known >= IMAGES || first > CAPACITY || needed > CAPACITY - first) {
        control->beyond += needed;
        return NULL;
    }
    struct image *image = control->described + known;
    image->first = first;
    image->count = needed;
    image->start = loaded->start;
    strncpy(image->path, path, sizeof image->path - 1);
    control->images = known + 1;
    control->edges = first + needed;
    return image;
}

RARE static void carry_of(uint32_t number) { carry_to(number); }

// A number that the program has changed must not lead out of the counters.
static inline void count(uint32_t number) {
    number %= CAPACITY;
    if (__builtin_expect(!++area.counters[number], 0)) carry_of(number);
}

#ifdef GRAMJET_IN_PLACE

static int is_placed(const uint32_t *start) {
    for (uint32_t i = 0; i < own.known_placed; i++) {
        if (own.placed[i].start == start) return 1;
    }
    return 0;
}

// Counters without a number are not those of the harness.
RARE static void carry(uint32_t *counter) {
    for (uint32_t i = 0; i < own.known_placed; i++) {
        uintptr_t at = ((uintptr_t)counter - (uintptr_t)own.placed[i].start) / sizeof *counter;
        if (at < own.placed[i].count) carry_to(own.placed[i].first + at);
    }
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
    change(1);
    own.has_guards = 1;
    own.met = start;
    own.met_end = (uintptr_t)stop;
    change(0);
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    if (__builtin_expect(!++*guard, 0)) carry(guard);
}

// Returns true if so many guards have pages of their own, between a page before and one after them (pages.ld). Another
// linker may have put them together without.
static int have_pages(uint32_t count) {
    uintptr_t begin = (uintptr_t)own.met, pages = (count * sizeof(uint32_t) + PAGE - 1) / PAGE;
    return begin % PAGE == 0 && own.met_end - begin == (pages + 2) * PAGE;
}

// Called after the function above for the same image: pairs of the address of an edge and flags.
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop) {
    uint32_t count = (stop - start) / 2;
    if (!count || !own.met || is_placed(own.met + PAGE_OF_COUNTERS) || own.known_placed == IMAGES) return;
    attach();
    if (!have_pages(count)) {
        own.control->beyond += count;
        return;
    }
    uint8_t *before = (uint8_t *)own.met, *counters = before + PAGE, *after = (uint8_t *)own.met_end - PAGE;
    struct loaded loaded = {.at = (uintptr_t)start};
    dl_iterate_phdr(holds, &loaded);
    struct image *image = numbered(&loaded, count);
    change(1);
    own.placed[own.known_placed].start = (uint32_t *)counters;
    own.placed[own.known_placed].first = image ? image->first : 0;
    own.placed[own.known_placed].count = image ? image->count : 0;
    own.known_placed++;
    change(0);
    mprotect(before, PAGE, PROT_NONE);
    mprotect(after, PAGE, PROT_NONE);
    if (!image) return;
    if (own.is_attached) {
        mmap(counters, after - counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, MAP_FD,
             (uint8_t *)(area.counters + image->first) - area.unused);
    }
    locate(image, start, &loaded);
}

#else

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
    attach();
    struct image *image = NULL;
    if (start != stop && !*start) {
        struct loaded loaded = {.at = (uintptr_t)start};
        dl_iterate_phdr(holds, &loaded);
        image = numbered(&loaded, stop - start);
    }
    change(1);
    own.has_guards = 1;
    own.latest = image;
    change(0);
    if (!image) return;
    for (uint32_t i = 0; i < image->count; i++) start[i] = image->first + i;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) { count(*guard); }

// Where the edges are whose guards were numbered just before: pairs of an address and flags, in the order of the
// guards.
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop) {
    if (!own.latest || own.latest->count != (stop - start) / 2) return;
    struct loaded loaded = {.at = (uintptr_t)start};
    dl_iterate_phdr(holds, &loaded);
    locate(own.latest, start, &loaded);
}

#endif

// gcc's calls give nothing but their return address. A library may have them beside a program that clang has built.
// Two calls are five bytes apart at least, or four where instructions take four. So a number for each four bytes of
// code tells them apart, whatever was executed before.
enum { APART = 4 };

static struct code *add(const struct loaded *loaded) {
    if (!loaded->code || own.known_codes >= IMAGES) return NULL;
    struct image *image = numbered(loaded, (loaded->code_end - loaded->code) / APART + 1);
    if (!image) return NULL;
    change(1);
    struct code *code = NULL;
    if (own.known_codes < IMAGES) {
        code = own.codes + own.known_codes;
        *code = (struct code){loaded->code, loaded->code_end - loaded->code, loaded->start, image->first};
        __atomic_store_n(&own.known_codes, own.known_codes + 1, __ATOMIC_RELEASE);
    }
    change(0);
    return code;
}

// Whether an image names the function that counts among the symbols that it takes from elsewhere.
static int is_counted(struct dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        uintptr_t names = 0;
        size_t size = 0;
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_STRTAB) names = entry->d_un.d_ptr;
            if (entry->d_tag == DT_STRSZ) size = entry->d_un.d_val;
        }
        if (!names) return 0;
        if (names < info->dlpi_addr) names += info->dlpi_addr;
        return memmem((const void *)names, size, "__sanitizer_cov_trace_pc", sizeof "__sanitizer_cov_trace_pc") != NULL;
    }
    return 0;
}

// The first image is the program's own. If clang has built it, it has guards; if only a library has them, the program
// gets its numbers at its first call.
static int add_counted(struct dl_phdr_info *info, size_t size, void *is_later) {
    if (*(int *)is_later ? is_counted(info) : !own.has_guards) {
        struct loaded loaded = {.at = info->dlpi_addr + info->dlpi_phdr[0].p_vaddr};
        for (int i = 0; i < info->dlpi_phnum; i++) {
            if (info->dlpi_phdr[i].p_type == PT_LOAD) loaded.at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        }
        if (holds(info, size, &loaded)) add(&loaded);
    }
    *(int *)is_later = 1;
    return 0;
}

__attribute__((noinline)) static struct code *found_code(uintptr_t address) {
    if (!own.known_codes) {
        int is_later = 0;
        attach();
        dl_iterate_phdr(add_counted, &is_later);
    }
    for (uint32_t i = 0; i < own.known_codes; i++) {
        if (address - own.codes[i].begin < own.codes[i].size) return own.codes + i;
    }
    struct loaded loaded = {.at = address};
    return dl_iterate_phdr(holds, &loaded) ? add(&loaded) : NULL;
}

void __sanitizer_cov_trace_pc(void) {
    uintptr_t address = (uintptr_t)__builtin_return_address(0);
    struct code *code = own.codes;
    if (address - code->begin >= code->size && !(code = found_code(address))) return;
    uint32_t number = code->first + (address - code->begin) / APART;
    // Within the call: the next instruction may be that of another line.
    if (!area.counters[number]) own.control->addresses[number] = address - 1 - code->start;
    count(number);
}

// Drops the counts up to here.
static void forget(void) {
    memset(area.counters, 0, sizeof(uint32_t) * own.control->edges);
    if (!own.control->carried) return;
    memset(own.control->carries, 0, sizeof(uint32_t) * own.control->edges);
    own.control->carried = 0;
}

static int receive(int fd, void *bytes, size_t count) {
    ssize_t got;
    do got = read(fd, bytes, count);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)count;
}

static int answer(uint32_t word) {
    ssize_t sent;
    do sent = write(STATUS_FD, &word, sizeof word);
    while (sent < 0 && errno == EINTR);
    return sent == sizeof word;
}

// Defined by programs that call `gramjet_input`; others read a file or their standard input.
extern int gramjet_takes_shared_input __attribute__((weak));

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

// A round of this process begins or ends. This clock takes a system call, so it is read only if the harness wants it.
static void begin_usage(void) {
    if (own.tells_usage) own.control->cpu_before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void end_usage(void) {
    if (!own.tells_usage) return;
    uint64_t now = nanoseconds(CLOCK_PROCESS_CPUTIME_ID), before = own.control->cpu_before;
    own.control->cpu = now > before ? now - before : 1;
    own.control->peak = 0;
}

// In place of `cpu_before`: the process has told what its last run has used, and its end is no part of that.
#define IS_TOLD UINT64_MAX

// What a child has used since its last run began, or in all if it has had one input. A clock that is less exact than
// the one above may say that it has used nothing; 0 would mean that it is not known.
static void tell_usage(const struct rusage *usage) {
    if (!own.tells_usage) return;
    uint64_t seconds = usage->ru_utime.tv_sec + usage->ru_stime.tv_sec;
    uint64_t cpu = 1000 * (1000000 * seconds + usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
    uint64_t before = own.control->cpu_before;
    if (before == IS_TOLD) return;
    own.control->cpu = cpu > before ? cpu - before : 1;
    own.control->peak = before ? 0 : 1024ull * usage->ru_maxrss;
    // It may go on.
    own.control->cpu_before = cpu;
}

// Puts the next input where the program looks for it.
static void begin_next(void) {
    const struct slot *slot = own.ahead->slots + own.ahead->finished % SLOTS;
    if (slot->length <= SLOT_INPUT) {
        memcpy(own.shared_input, &slot->length, sizeof slot->length);
        memcpy(own.shared_input + sizeof slot->length, slot->input, slot->length);
    }
    own.ahead->begun = nanoseconds(CLOCK_MONOTONIC);
    begin_usage();
}

// Lists the counts of an input and makes them zero, if there is room.
static int list(struct slot *slot) {
    enum { BLOCK = 64, FEW = 8 };
    if (own.control->carried) return 0;
    uint32_t edges = own.control->edges, listed = 0;
    for (uint32_t first = 1; first < edges; first += BLOCK) {
        uint32_t *block = area.counters + first, any = 0, end = edges - first < BLOCK ? edges - first : BLOCK;
        for (uint32_t i = 0; i < end; i++) any |= block[i];
        if (!any) continue;
        // Mostly few counters of a block are used.
        for (uint32_t i = 0; i < end; i += FEW) {
            uint32_t *few = block + i, some = 0, left = end - i < FEW ? end - i : FEW;
            for (uint32_t j = 0; j < left; j++) some |= few[j];
            if (!some) continue;
            // There must be room for a pair of each.
            if (listed + FEW > SLOT_EDGES) {
                while (listed--) area.counters[slot->edges[listed].number] = slot->edges[listed].count;
                return 0;
            }
            // Without a branch, as no processor can predict which of them are used. The pair of one that is not is
            // overwritten by the next, or lies beyond the last.
            for (uint32_t j = 0; j < left; j++) {
                uint32_t count = few[j];
                few[j] = 0;
                slot->edges[listed].number = first + i + j;
                slot->edges[listed].count = count;
                listed += count != 0;
            }
        }
    }
    // Number 0 counts the edges without a counter of their own.
    area.counters[0] = 0;
    slot->count = listed;
    return 1;
}

// Finishes an input, and begins the next one. Returns whether there is one, so that the harness need not be asked.
static int go_on(void) {
    struct slot *slot = own.ahead->slots + own.ahead->finished % SLOTS;
    uint64_t now = nanoseconds(CLOCK_MONOTONIC);
    slot->nanoseconds = now - own.ahead->begun;
    slot->cpu = own.control->cpu;
    if (!list(slot)) {
        own.ahead->is_in_map = 1;
        return 0;
    }
    // If the process ends now, its status belongs to no input.
    volatile uint32_t *state = &own.control->process;
    *state = ANSWERS;
    // The harness must not take the time of this input for that of the next one.
    own.ahead->begun = now;
    uint32_t finished = own.ahead->finished + 1;
    __atomic_store_n(&own.ahead->finished, finished, __ATOMIC_RELEASE);
    uint32_t left = __atomic_load_n(&own.ahead->given, __ATOMIC_ACQUIRE) - finished;
    if (left == 0 || left > SLOTS) return 0;
    *state = RUNS;
    begin_next();
    return 1;
}

// Agrees with the harness on how inputs come and what is told; returns false if it is gone.
static int greet(void) {
    uint32_t flags;
    if (!receive(CONTROL_FD, &flags, sizeof flags)) return 0;
    change(1);
    // Programs may change their input in place.
    if (flags & USES_SHARED_INPUT && &gramjet_takes_shared_input) own.shared_input = apart(INPUT_SIZE, INPUT_FD, 0);
    // The harness offers it to programs that have a loop.
    own.answers_itself = (flags & ANSWERS_ITSELF) != 0;
    if (flags & TAKES_AHEAD && own.shared_input && own.answers_itself) {
        own.ahead = apart(sizeof *own.ahead, INPUT_FD, INPUT_SIZE);
    }
    own.tells_usage = (flags & TELLS_USAGE) != 0;
    change(0);
    uint32_t taken = (own.shared_input ? USES_SHARED_INPUT : 0) | (own.ahead ? TAKES_AHEAD : 0);
    return answer(taken | (flags & (ANSWERS_ITSELF | TELLS_USAGE)));
}

// Forks at the harness's request. Returns in each child; the parent never returns.
void gramjet_serve(void) {
    if (own.is_served || !getenv("GRAMJET_MAP")) return;
    attach();
    change(1);
    own.is_served = 1;
    change(0);
    if (!answer(GREETING)) return;
    if (!greet()) _exit(1);
    // Other instrumented programs that it starts are not counted.
    unsetenv("GRAMJET_MAP");
    pid_t child = 0;
    for (;;) {
        uint32_t was_killed;
        int status;
        if (!receive(CONTROL_FD, &was_killed, sizeof was_killed)) _exit(0);
        if (child && was_killed) {
            waitpid(child, &status, 0);
            child = 0;
        }
        if (child) {
            kill(child, SIGCONT);
        } else {
            own.control->cpu_before = 0;
            child = fork();
            if (child < 0) _exit(1);
            if (!child) {
                if (own.answers_itself) {
                    // Not by the parent, which could be later than the answer to the first input.
                    if (!answer((uint32_t)getpid())) _exit(1);
                    fcntl(CONTROL_FD, F_SETFD, FD_CLOEXEC);
                    fcntl(STATUS_FD, F_SETFD, FD_CLOEXEC);
                    if (own.ahead) begin_next();
                } else {
                    close(CONTROL_FD);
                    close(STATUS_FD);
                }
                return;
            }
        }
        if (!own.answers_itself && !answer((uint32_t)child)) _exit(1);
        pid_t ended;
        struct rusage usage;
        do ended = wait4(child, &status, own.answers_itself ? 0 : WUNTRACED, &usage);
        while (ended < 0 && errno == EINTR);
        if (ended < 0) _exit(1);
        if (own.answers_itself && own.control->process != RUNS) _exit(1);
        if (!WIFSTOPPED(status)) child = 0;
        tell_usage(&usage);
        if (!answer((uint32_t)status)) _exit(1);
    }
}

// One more round of a program that takes many inputs in one process; 0 when it shall end.
int gramjet_loop(unsigned rounds) {
    struct progress *progress = progress_of_process();
    if (!progress->is_persistent) {
        progress->is_persistent = 1;
        progress->left = rounds;
        forget();
        begin_usage();
        return 1;
    }
    // Without that, the harness takes no process that has stopped for one that has run: each gets one input.
    if (!own.answers_itself) return 0;
    if (--progress->left == 0) {
        end_usage();
        if (own.tells_usage) own.control->cpu_before = IS_TOLD;
        return 0;
    }
    end_usage();
    if (own.ahead && go_on()) return 1;
    volatile uint32_t *state = &own.control->process;
    *state = ANSWERS;
    if (!answer(HAS_RUN)) _exit(1);
    *state = WAITS;
    uint32_t was_killed;
    if (!receive(CONTROL_FD, &was_killed, sizeof was_killed)) _exit(0);
    *state = RUNS;
    if (own.ahead) begin_next();
    else begin_usage();
    return 1;
}

// The input, where it comes by shared memory; else it is read from standard input.
const uint8_t *gramjet_input(size_t *len) {
    if (own.shared_input) {
        uint32_t count;
        memcpy(&count, own.shared_input, sizeof count);
        *len = count;
        return own.shared_input + sizeof count;
    }
    *len = 0;
    struct progress *progress = progress_of_process();
    for (;;) {
        if (progress->capacity - *len < 1 << 16) {
            progress->capacity = progress->capacity ? 2 * progress->capacity : 1 << 20;
            uint8_t *larger = realloc(progress->read_input, progress->capacity);
            if (!larger) abort();
            progress->read_input = larger;
        }
        ssize_t got = read(0, progress->read_input + *len, progress->capacity - *len);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return progress->read_input;
        *len += (size_t)got;
    }
}

// For `__AFL_FUZZ_TESTCASE_BUF` and `__AFL_FUZZ_TESTCASE_LEN`: the input stays in one place.
static uint8_t testcase[1 << 20];

uint8_t *gramjet_testcase(void) { return own.shared_input ? own.shared_input + sizeof(uint32_t) : testcase; }

unsigned gramjet_testcase_length(void) {
    size_t len = 0;
    if (own.shared_input) {
        gramjet_input(&len);
        return (unsigned)len;
    }
    while (len < sizeof testcase) {
        ssize_t got = read(0, testcase + len, sizeof testcase - len);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        len += (size_t)got;
    }
    return (unsigned)len;
}

// After all other constructors: what they do is done once, before the first fork.
__attribute__((constructor(65535))) static void begin(void) {
    if (!getenv("GRAMJET_DEFERRED")) gramjet_serve();
}
