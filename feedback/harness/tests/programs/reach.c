// Tries what its input names, and writes the error number; 0 if it may. The second argument of each attempt is
// harmless, so that nothing happens where it may.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static long number(const char *name) {
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 10) : 0;
}

static long reach_unix(const char *path, int is_abstract) {
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    if (file < 0) return -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path + is_abstract, path, sizeof address.sun_path - 2);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + (size_t)is_abstract);
    return connect(file, (struct sockaddr *)&address, len);
}

static void *nothing(void *argument) { return argument; }

static int in_clone(void *argument) {
    (void)argument;
    return 0;
}

static long cloned(int flags) {
    static char stack[1 << 16] __attribute__((aligned(16)));
    int process = clone(in_clone, stack + sizeof stack, flags | SIGCHLD, NULL);
    if (process > 0) waitpid(process, NULL, 0);
    return process;
}

#ifdef __x86_64__
// A call of 32 bits from a program of 64.
static long old_call(long call, long a, long b, long c) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(call), "b"(a), "c"(b), "d"(c), "S"(0L), "D"(0L)
                     : "memory", "r8", "r9", "r10", "r11");
    if ((int)result < 0) {
        errno = -(int)result;
        return -1;
    }
    return result;
}

// A pair of datagram sockets by a call of 32 bits, which sends to a socket that has a path by one of 64.
static long mixed_datagram(void) {
    uint32_t *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (low == MAP_FAILED) return -1;
    low[0] = AF_UNIX, low[1] = SOCK_DGRAM, low[2] = 0, low[3] = (uint32_t)(uintptr_t)(low + 8);
    if (old_call(102, 8, (long)low, 0) < 0) return -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, getenv("DATAGRAMS"), sizeof address.sun_path - 1);
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1};
    return sendmsg((int)low[8], &message, 0);
}
#endif

static long capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};
    if (syscall(SYS_capget, &header, data) < 0) return -1;
    return data[0].effective | data[1].effective | data[0].permitted | data[0].inheritable;
}

static long attempt(const char *name) {
    const char *outside = getenv("OUTSIDE"), *temporary = getenv("TMPDIR");
    pid_t other = (pid_t)number("OTHER");
    char path[8192];
    snprintf(path, sizeof path, "%s/own", temporary);
#define IS(what) if (strcmp(name, what) == 0)
    // What a program needs.
    IS("own-file") return open(path, O_CREAT | O_WRONLY, 0600);
    IS("own-mode") return open(path, O_CREAT | O_WRONLY, 0600) < 0 ? -1 : chmod(path, 0640) | utimes(path, NULL);
    IS("own-limit") {
        struct rlimit limit;
        return getrlimit(RLIMIT_NOFILE, &limit) | setrlimit(RLIMIT_NOFILE, &limit) | (nice(1) == -1 ? -1 : 0);
    }
    IS("own-cores") {
        cpu_set_t set;
        return sched_getaffinity(0, sizeof set, &set) < 0 ? -1 : sched_setaffinity(0, sizeof set, &set);
    }
    IS("thread") {
        pthread_t thread;
        int failed = pthread_create(&thread, NULL, nothing, NULL);
        return failed ? (errno = failed, -1) : pthread_join(thread, NULL);
    }
    IS("fork") {
        pid_t process = fork();
        if (process == 0) _exit(0);
        return waitpid(process, NULL, 0) == process ? 0 : -1;
    }
    IS("pair") {
        int ends[2];
        return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) | socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends);
    }
    IS("memory") return shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    // Files.
    IS("write") return open(outside, O_WRONLY);
    IS("truncate") return truncate(outside, 0);
    IS("chmod") return chmod(outside, 0755);
    IS("utimes") return utimes(outside, NULL);
    IS("chown") return chown(outside, (uid_t)-1, getegid());
    IS("xattr") return setxattr(outside, "user.gramjet", "x", 1, 0);
    // Sockets.
    IS("tcp") return socket(AF_INET, SOCK_STREAM, 0);
    IS("tcp6") return socket(AF_INET6, SOCK_STREAM, 0);
    IS("udp") return socket(AF_INET, SOCK_DGRAM, 0);
    IS("mptcp") return socket(AF_INET, SOCK_STREAM, 262);
    IS("netlink") return socket(AF_NETLINK, SOCK_RAW, 0);
    IS("unix") return socket(AF_UNIX, SOCK_STREAM, 0);
    IS("raw") return socket(AF_INET, SOCK_RAW, 1);
    IS("packet") return socket(AF_PACKET, SOCK_DGRAM, 0);
    IS("vsock") return socket(AF_VSOCK, SOCK_STREAM, 0);
    IS("unix-path") return reach_unix(getenv("SOCKET"), 0);
    IS("unix-abstract") return reach_unix(getenv("ABSTRACT"), 1);
    IS("datagram-pair") {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0) return -1;
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        strncpy(address.sun_path, getenv("DATAGRAMS"), sizeof address.sun_path - 1);
        return sendto(ends[0], "", 1, 0, (struct sockaddr *)&address, sizeof address);
    }
    // Other processes.
    IS("signal") return kill(other, 0);
    IS("limit") return (long)syscall(SYS_prlimit64, other, RLIMIT_CPU, NULL, NULL);
    IS("cores") {
        cpu_set_t set;
        return sched_getaffinity(other, sizeof set, &set) < 0 ? -1 : sched_setaffinity(other, sizeof set, &set);
    }
    IS("scheduler") {
        struct sched_param parameters = {0};
        return sched_setscheduler(other, SCHED_OTHER, &parameters) | sched_setparam(other, &parameters);
    }
    IS("priority") return setpriority(PRIO_PROCESS, (id_t)other, 19);
    IS("priority-of-user") {
        // There is no such user.
        long result = setpriority(PRIO_USER, 4242424, 0);
        return result < 0 && errno == ESRCH ? 0 : result;
    }
    IS("io-priority") return syscall(SYS_ioprio_set, 1, other, 0);
    // Messages.
    IS("others-memory") {
        struct shmid_ds facts;
        return shmctl((int)number("SEGMENT"), IPC_STAT, &facts);
    }
    // The system. A call with these arguments does nothing where it is there.
    IS("io_uring") return syscall(425, 0, NULL);
    IS("clone3") return syscall(435, NULL, 0);
    IS("keys") return syscall(SYS_keyctl, 0, -3, 0);
    IS("add-key") return syscall(SYS_add_key, NULL, NULL, NULL, 0, 0);
    IS("userfaultfd") return syscall(SYS_userfaultfd, 0);
    IS("bpf") return syscall(SYS_bpf, 9999, NULL, 0);
    IS("perf") return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0);
    IS("mount") return mount("none", "/no/such/folder", "tmpfs", 0, NULL);
    IS("umount") return umount2("/no/such/folder", 0);
    IS("chroot") return chroot("/no/such/folder");
    IS("fsopen") return syscall(430, NULL, 0);
    IS("unshare") return unshare(CLONE_NEWUTS);
    IS("unshare-user") return unshare(CLONE_NEWUSER);
    IS("clone") return cloned(CLONE_NEWUTS);
    IS("setns") return syscall(SYS_setns, -1, 0);
    IS("swapon") return syscall(SYS_swapon, "/no/such/file", 0);
    IS("module") return syscall(SYS_delete_module, NULL, 0);
    IS("reboot") return syscall(SYS_reboot, 0, 0, 0, NULL);
    IS("hostname") return syscall(SYS_sethostname, NULL, -1L);
    IS("clock") return syscall(SYS_clock_settime, CLOCK_REALTIME, NULL);
    IS("handle") return syscall(SYS_open_by_handle_at, -1, NULL, 0);
    IS("type-ahead") return ioctl(0, TIOCSTI, "");
    // Privileges.
    IS("capabilities") {
        long found = capabilities();
        return found == 0 ? 0 : (errno = EPERM, -1);
    }
    IS("groups") return getgroups(0, NULL) == 0 || geteuid() != 0 ? 0 : (errno = EPERM, -1);
    // Other conventions.
#ifdef __x86_64__
    IS("old-tcp") return old_call(359, AF_INET, SOCK_STREAM, 0);
    IS("old-socketcall") return old_call(102, 1, 0, 0);
    IS("old-pair") return mixed_datagram();
    IS("old-limit") return old_call(340, other, RLIMIT_CPU, 0);
    IS("old-io_uring") return old_call(425, 0, 0, 0);
    IS("old-clone3") return old_call(435, 0, 0, 0);
    IS("old-keys") return old_call(288, 0, -3, 0);
    IS("old-priority-of-user") return old_call(97, PRIO_USER, 4242424, 0);
    IS("old-unshare") return old_call(310, CLONE_NEWUTS, 0, 0);
    IS("old-getpid") return old_call(20, 0, 0, 0);
    IS("x32") return syscall(0x40000000 + SYS_getpid);
#else
    IS("old-socketcall") return syscall(SYS_socketcall, 1, NULL);
#endif
    errno = 9999;
    return -1;
}

int main(void) {
    char name[64] = {0};
    if (read(0, name, sizeof name - 1) < 1) return 2;
    errno = 0;
    long result = attempt(name);
    printf("%d", result < 0 ? errno : 0);
    return 0;
}
