// Attacks by memory and descriptors, and on what the program shares with the harness.

ATTACK(memory_filled) {
    for (int i = 0; i < much; i++) {
        char *more = malloc(1 << 24);
        if (!more) return;
        memset(more, 1, 1 << 24);
    }
    remain();
}

ATTACK(memory_filled_by_children) {
    for (int child = 0; child < 8; child++) {
        if (fork()) continue;
        for (int i = 0; i < 4; i++) {
            char *more = malloc(1 << 24);
            if (more) memset(more, 1, 1 << 24);
        }
        remain();
    }
    remain();
}

// Without a page of a process's own.
ATTACK(memory_filled_without_pages) {
    int file = memfd_create("hostile", 0);
    static char block[1 << 20];
    for (int i = 0; i < much * 16; i++) say(file, block, sizeof block);
    usleep(300000);
}

ATTACK(stack) {
    volatile char block[1 << 16];
    block[0] = 1;
    attack_stack();
    block[1] = block[0];
}

ATTACK(descriptors_filled) {
    for (int i = 0; i < 1 << 20; i++) {
        if (dup(0) < 0) break;
    }
}

ATTACK(descriptors_closed) { syscall(SYS_close_range, 0, ~0u, 0); }
ATTACK(descriptors_closed_but_output) { syscall(SYS_close_range, 3, ~0u, 0); }

// A process that is left has all descriptors, in many copies.
ATTACK(descriptors_kept) {
    if (!is_left_behind()) return;
    for (int number = 0; number < 500; number++) {
        fcntl(number, F_SETFD, 0);
        dup(number);
    }
    remain();
}

// Calls a function with each descriptor beyond standard error that is of a kind.
static void each(int kind, void (*function)(int)) {
    struct stat found;
    for (int number = 3; number < 1024; number++) {
        if (fstat(number, &found) == 0 && (found.st_mode & S_IFMT) == (mode_t)kind) function(number);
    }
}

static void write_words(int descriptor) {
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    // Processes and statuses that there might be: a signal, an exit status, an answer of a process that goes on.
    uint32_t words[] = {11, 0x100, 0x137f, (uint32_t)getpid(), 0, 1, (uint32_t)-1, 0x474a5202};
    say(descriptor, (const char *)words, sizeof words);
}
static void write_half(int descriptor) {
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    say(descriptor, "abc", much ? 3 : 1);
}
static void flood(int descriptor) {
    static char block[1 << 16];
    memset(block, 0xa5, sizeof block);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 64; i++) say(descriptor, block, sizeof block);
}
static void drain(int descriptor) {
    char block[4096];
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    while (read(descriptor, block, sizeof block) > 0) {}
}
static void shut(int descriptor) { close(descriptor); }

ATTACK(protocol_words) { each(S_IFIFO, write_words); }
ATTACK(protocol_half) { each(S_IFIFO, write_half); }
ATTACK(protocol_flood) { each(S_IFIFO, flood); }
ATTACK(protocol_closed) { each(S_IFIFO, shut); }
// A child that lives on reads what is meant for the next process.
ATTACK(protocol_read) {
    if (!is_left_behind()) {
        each(S_IFIFO, drain);
        return;
    }
    for (int i = 0; i < 1000; i++) {
        each(S_IFIFO, drain);
        usleep(100);
    }
    remain();
}
ATTACK(protocol_words_later) {
    if (!is_left_behind()) return;
    for (int i = 0; i < 20; i++) {
        each(S_IFIFO, write_words);
        usleep(500);
    }
    remain();
}
ATTACK(protocol_sent) {
    // To whoever listens: to no process of the test.
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return;
    for (int number = 3; number < 500; number++) {
        if (number == ends[0] || number == ends[1] || fcntl(number, F_GETFD) < 0) continue;
        char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
        struct iovec part = {&byte, 1};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &number, sizeof number);
        sendmsg(ends[0], &message, MSG_DONTWAIT);
    }
    close(ends[0]);
    close(ends[1]);
}

static void truncate_to_nothing(int descriptor) { ftruncate(descriptor, 0); }
static void seal(int descriptor) { fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_FUTURE_WRITE | F_SEAL_GROW); }
static void extend(int descriptor) { ftruncate(descriptor, 1l << 40); }
static void punch(int descriptor) { fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1l << 40); }
static void scribble(int descriptor) {
    static char block[1 << 16];
    memset(block, much ? much : 0xff, sizeof block);
    for (int i = 0; i < 8; i++) {
        if (pwrite(descriptor, block, sizeof block, (long)i << 16) < 0) return;
    }
    // Where inputs are given ahead.
    for (int i = 0; i < 34; i++) {
        if (pwrite(descriptor, block, sizeof block, (1l << 26) + ((long)i << 16)) < 0) return;
    }
}

ATTACK(shared_truncated) { each(S_IFREG, truncate_to_nothing); }
ATTACK(shared_sealed) { each(S_IFREG, seal); }
ATTACK(shared_extended) { each(S_IFREG, extend); }
ATTACK(shared_emptied) { each(S_IFREG, punch); }
ATTACK(shared_written) { each(S_IFREG, scribble); }
ATTACK(shared_written_later) {
    if (!is_left_behind()) return;
    for (int i = 0; i < 200; i++) {
        each(S_IFREG, scribble);
        usleep(100);
    }
    remain();
}

// Calls a function with each mapping of shared memory.
static void each_map(void (*function)(char *, size_t)) {
    struct {
        char *begin;
        size_t size;
    } found[64];
    int count = 0;
    char line[8192], rights[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long begin, end;
    while (maps && count < 64 && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3 || rights[3] != 's') continue;
        found[count].begin = (char *)begin;
        found[count++].size = end - begin;
    }
    if (maps) fclose(maps);
    for (int i = 0; i < count; i++) function(found[i].begin, found[i].size);
}
static void unmap(char *begin, size_t size) { munmap(begin, size); }
static void protect(char *begin, size_t size) { mprotect(begin, size, PROT_READ); }
static void overwrite(char *begin, size_t size) { memset(begin, much ? much : 0x41, size < 1 << 20 ? size : 1 << 20); }
static void replace(char *begin, size_t size) {
    mmap(begin, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}
ATTACK(map_removed) { each_map(unmap); }
ATTACK(map_protected) { each_map(protect); }
ATTACK(map_overwritten) { each_map(overwrite); }
ATTACK(map_replaced) { each_map(replace); }

// Plain bugs: text that is longer than its buffer, behind it and before it.
static char name[64];
static volatile size_t length_of_name;
ATTACK(overflow) {
    length_of_name = much;
    for (size_t i = 0; i < length_of_name; i++) ((volatile char *)name)[i] = 'n';
}
ATTACK(underflow) {
    length_of_name = much;
    for (size_t i = 0; i < length_of_name; i++) ((volatile char *)name)[-(long)i] = 'n';
}

ATTACK(own_memory_by_proc) {
    int file = open("/proc/self/mem", O_RDWR);
    if (file < 0) return;
    length_of_name = 8;
    pwrite(file, "overwritten", 8, (off_t)(uintptr_t)name);
    close(file);
}
