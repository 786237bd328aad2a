// Attacks on the rest of the machine by system calls.
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>

ATTACK(io_uring) {
    struct io_uring_params parameters = {0};
    refused("io_uring", syscall(SYS_io_uring_setup, 4, &parameters));
}
ATTACK(keys) {
    refused("add_key", syscall(SYS_add_key, "user", "hostile", "x", 1, -2));
    refused("keyctl", syscall(SYS_keyctl, 0, -3, 1));
    refused("request_key", syscall(SYS_request_key, "user", "hostile", NULL, 0));
}
ATTACK(userfaultfd) { refused("userfaultfd", syscall(SYS_userfaultfd, 1)); }
ATTACK(bpf) {
    union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    refused("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map));
    struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_CPU_CLOCK};
    refused("perf_event_open of another process", syscall(SYS_perf_event_open, &event, victim(), -1, -1, 0));
}
ATTACK(mount) {
    refused("mount", mount("none", outside("empty"), "tmpfs", 0, ""));
    refused("bind mount", mount(outside("folder"), outside("empty"), NULL, MS_BIND, NULL));
    refused("mount in its folder", mount("none", variable("TMPDIR"), "tmpfs", 0, ""));
    refused("umount", umount2("/proc", MNT_DETACH));
    refused("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
    refused("pivot_root", syscall(SYS_pivot_root, variable("TMPDIR"), variable("TMPDIR")));
}
static void mount_apart(void) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) return;
    refused("mount in a namespace", mount("none", outside("empty"), "tmpfs", 0, ""));
    refused("mount in a namespace", mount(outside("folder"), inside("bound"), NULL, MS_BIND | MS_REC, NULL));
    refused("remount in a namespace", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
    refused("a file outside", open(outside("new"), O_CREAT | O_WRONLY, 0600));
}
ATTACK(namespaces) {
    mkdir(inside("bound"), 0700);
    in_child(mount_apart);
}
ATTACK(namespaces_of_others) {
    char name[64];
    for (const char **kind = (const char *[]){"mnt", "net", "pid", "user", "ipc", NULL}; *kind; kind++) {
        snprintf(name, sizeof name, "/proc/%d/ns/%s", harness(), *kind);
        int space = open(name, O_RDONLY);
        if (space >= 0) refused("a namespace of the harness", setns(space, 0));
        close(space);
    }
}
static void change_root(void) { refused("chroot", chroot(variable("TMPDIR"))); }
ATTACK(chroot) { in_child(change_root); }
ATTACK(clock) {
    // The time that it is: what may be set, is set right.
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    refused("clock_settime", clock_settime(CLOCK_REALTIME, &now));
    struct timeval time = {now.tv_sec, now.tv_nsec / 1000};
    refused("settimeofday", settimeofday(&time, NULL));
    struct timex none = {.modes = ADJ_TICK, .tick = 10000};
    refused("adjtimex", adjtimex(&none));
}
ATTACK(kernel) {
    char name[65];
    gethostname(name, sizeof name);
    refused("sethostname", sethostname(name, strlen(name)));
    refused("init_module", syscall(SYS_init_module, "", 0, ""));
    refused("acct", syscall(SYS_acct, NULL));
    refused("iopl", syscall(SYS_iopl, 3));
    refused("syslog", syscall(SYS_syslog, 8, NULL, 7));
    refused("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, 0));
}
ATTACK(identity) {
    refused("setuid", setuid(getuid() ? 0 : 1));
    refused("setresgid", setresgid(getgid() ? 0 : 1, -1, -1));
    refused("setgroups", syscall(SYS_setgroups, 1, &(gid_t){getgid() ? 0 : 1}));
    if (syscall(SYS_getgroups, 0, NULL) > 0 && getuid() == 0) breach("supplementary groups");
}
ATTACK(capabilities) {
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        unsigned long long set;
        if ((sscanf(line, "CapEff: %llx", &set) == 1 || sscanf(line, "CapPrm: %llx", &set) == 1) && set) breach(line);
    }
    if (status) fclose(status);
}

// Objects of System V, with the harness's number as their key, and a queue of POSIX.
ATTACK(left_objects) {
    shmget(harness(), 4096, IPC_CREAT | 0600);
    semget(harness(), 1, IPC_CREAT | 0600);
    msgget(harness(), IPC_CREAT | 0600);
    char name[64];
    snprintf(name, sizeof name, "/gramjet-hostile-%d", harness());
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, NULL);
    if (queue >= 0) mq_close(queue);
}
ATTACK(watches) {
    int watch = inotify_init1(IN_NONBLOCK);
    inotify_add_watch(watch, variable("TMPDIR"), IN_ALL_EVENTS);
    for (int i = 0; i < 20000; i++) put(inside("watched"));
    for (int i = 0; i < 200; i++) {
        if (inotify_init() < 0) break;
    }
    for (int number = 3; number < 300; number++) {
        char target[64], path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", number);
        ssize_t length = readlink(path, target, sizeof target);
        if (length >= 18 && !memcmp(target, "anon_inode:inotify", 18)) close(number);
    }
}

// System calls of 32 bits, which rules for 64 bits do not see: addresses must be below 4 GiB.
#ifdef __x86_64__
static long call_32(long call, long first, long second, long third) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(call), "b"(first), "c"(second), "d"(third) : "memory", "r8", "r9", "r10", "r11");
    return (int)result;
}
ATTACK(calls_of_32_bits) {
    char *low = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (low == MAP_FAILED) return;
    strcpy(low, outside("new"));
    refused("open by int 0x80", call_32(5, (long)low, O_CREAT | O_WRONLY, 0600));
    strcpy(low, outside("file"));
    call_32(15, (long)low, 0777, 0);  // chmod
    refused("kill by int 0x80", call_32(37, victim(), SIGKILL, 0));
    struct rlimit none = {0, 0};
    memcpy(low, &none, sizeof none);
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(340), "b"((long)victim()), "c"(0), "d"((long)low), "S"(0) : "memory", "r8", "r9", "r10", "r11");
    refused("io_uring by int 0x80", call_32(425, 4, (long)memset(low, 0, 4096), 0));
    int own = call_32(359, AF_INET, SOCK_STREAM, 262);
    if (own >= 0) {
        struct sockaddr_in address = local(number("HOSTILE_TCP"));
        memcpy(low, &address, sizeof address);
        refused("MPTCP by int 0x80", call_32(362, own, (long)low, sizeof address));
        close(own);
    }
    munmap(low, 8192);
}
ATTACK(calls_of_x32) {
    long x32 = 0x40000000;
    refused("open by x32", syscall(x32 + SYS_open, outside("new"), O_CREAT | O_WRONLY, 0600));
    syscall(x32 + SYS_chmod, outside("file"), 0777);
    refused("kill by x32", syscall(x32 + SYS_kill, victim(), SIGKILL));
    struct io_uring_params parameters = {0};
    refused("io_uring by x32", syscall(x32 + SYS_io_uring_setup, 4, &parameters));
}
#else
ATTACK(calls_of_32_bits) {}
ATTACK(calls_of_x32) {}
#endif
