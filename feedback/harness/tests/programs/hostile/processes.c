// Attacks by processes and signals.

ATTACK(stop_self) { raise(SIGSTOP); }
ATTACK(stop_by_terminal) { raise(SIGTTIN); }
ATTACK(stop_from_terminal) { raise(SIGTSTP); }
ATTACK(stop_in_thread) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
}

// Its child stops, and it ends.
ATTACK(stop_child) {
    if (fork() == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    usleep(2000);
}

// Its child stops, and it waits.
ATTACK(stop_child_and_wait) {
    pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

ATTACK(stop_by_child) {
    pid_t parent = getpid();
    if (fork() == 0) {
        kill(parent, SIGSTOP);
        _exit(0);
    }
    wait(NULL);
    // Another thread may have to stop this one.
    sleep(1);
}

ATTACK(fork_bomb) {
    // Forks without end, if it is not stopped; the bound protects the machine that the test runs on.
    int *forks = mmap(NULL, sizeof *forks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ignore_all();
    for (;;) {
        if (__atomic_add_fetch(forks, 1, __ATOMIC_RELAXED) > 300) remain();
        else if (fork() < 0) usleep(100);
    }
}

// A process that is always another one: what signals one by one comes too late.
ATTACK(fork_comet) {
    if (!is_left_behind()) return;
    for (int i = 0; i < 20000; i++) {
        if (fork()) _exit(0);
    }
    remain();
}

ATTACK(daemon) { if (is_left_behind()) remain(); }

ATTACK(daemons) {
    for (int i = 0; i < 10; i++) {
        if (is_left_behind()) remain();
    }
}

ATTACK(daemons_and_wait) {
    for (int i = 0; i < 3; i++) {
        if (is_left_behind()) remain();
    }
    remain();
}

// The parent of a child by vfork waits for it.
ATTACK(vfork) {
    pid_t child = vfork();
    if (child == 0) for (;;) pause();
}

ATTACK(clones) {
    // Of another parent, without a signal at its end, with the parent's files: three kinds that waits may overlook.
    int kinds[] = {CLONE_PARENT | SIGCHLD, 0, CLONE_FILES | CLONE_FS};
    for (int i = 0; i < 3; i++) {
        if (syscall(SYS_clone, kinds[i], 0, 0, 0, 0) == 0) {
            ignore_all();
            remain();
        }
    }
}

static void *exits(void *status) { _exit((int)(intptr_t)status); }
static void *exits_later(void *status) {
    usleep(5000);
    exit((int)(intptr_t)status);
}
ATTACK(exit_from_thread) {
    pthread_t thread;
    pthread_create(&thread, NULL, exits, (void *)5);
    pthread_join(thread, NULL);
}
ATTACK(exit_after_main_thread) {
    pthread_t thread;
    pthread_create(&thread, NULL, exits_later, (void *)6);
    pthread_exit(NULL);
}

static void *runs_on(void *nothing) {
    for (;;) pause();
    return nothing;
}
ATTACK(threads) {
    pthread_t thread;
    for (int i = 0; i < 200; i++) {
        if (pthread_create(&thread, NULL, runs_on, NULL)) break;
    }
}

static void goes_on(int signal_number) { (void)signal_number; }
ATTACK(handlers) {
    for (int number = 1; number < 65; number++) signal(number, goes_on);
    for (;;) pause();
}
static void goes_on_later(int signal_number) {
    (void)signal_number;
    usleep(1000);
}
// The instruction is executed again, and again.
ATTACK(handler_of_faults) {
    signal(SIGSEGV, goes_on_later);
    *(volatile int *)8 = 1;
}
ATTACK(alarm) {
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 2000}, NULL);
    for (;;) pause();
}
ATTACK(blocked_signals) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    ignore_all();
    for (;;) sleep(1);
}

static void harm(pid_t process, const char *what) {
    refused(what, kill(process, SIGKILL));
    refused(what, syscall(SYS_tgkill, process, process, SIGKILL));
    refused(what, sigqueue(process, SIGKILL, (union sigval){0}));
    int descriptor = syscall(SYS_pidfd_open, process, 0);
    if (descriptor < 0) return;
    refused(what, syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, NULL, 0));
    close(descriptor);
}
ATTACK(kill_harness) { harm(harness(), "a signal to the harness"); }
ATTACK(kill_victim) { harm(victim(), "a signal to another process"); }
ATTACK(kill_group) { kill(0, SIGKILL); }
ATTACK(kill_parent) { kill(getppid(), SIGKILL); }
ATTACK(kill_ancestors) {
    char name[64], text[512];
    for (pid_t process = getppid(); process > 1 && process != harness();) {
        snprintf(name, sizeof name, "/proc/%d/stat", process);
        kill(process, SIGKILL);
        int file = open(name, O_RDONLY);
        ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
        if (length <= 0) break;
        text[length] = 0;
        close(file);
        char *after = strrchr(text, ')');
        if (!after || sscanf(after + 1, " %*c %d", &process) != 1) break;
    }
}
// Only where it is confined, as it would else end all that runs here.
ATTACK(kill_all) {
    refused("a signal to the harness", kill(harness(), 0));
    refused("a signal to another process", kill(victim(), 0));
    kill(-1, SIGKILL);
}
// The kernel sends the signal, once there is something to read.
ATTACK(kill_by_descriptor) {
    int ends[2];
    if (pipe(ends)) return;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[0], F_SETOWN, i ? victim() : harness());
        fcntl(ends[0], F_SETSIG, SIGKILL);
        fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
        say(ends[1], "x", 1);
    }
    close(ends[0]);
    close(ends[1]);
}
ATTACK(death_signal) {
    prctl(PR_SET_PDEATHSIG, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (is_left_behind()) remain();
}
ATTACK(subreaper) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (fork() == 0) {
        setsid();
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        for (int i = 0; i < 5; i++) {
            if (is_left_behind()) remain();
        }
        remain();
    }
}
// What reads /proc/PID/stat must not take it for a process that has ended.
ATTACK(names_of_processes) {
    const char *names[] = {") Z 1 1", ")\n(x) X 1", "1 (a) R 1", "\n\n\n", "\xff\xfe)"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is_left_behind()) {
            prctl(PR_SET_NAME, names[i]);
            remain();
        }
    }
    prctl(PR_SET_NAME, names[0]);
}
ATTACK(arguments) {
    if (!own_arguments) return;
    memset(own_arguments[0], '\n', strlen(own_arguments[0]));
    prctl(PR_SET_DUMPABLE, 0);
    if (is_left_behind()) remain();
}
ATTACK(exec_without_end) {
    int file = open(inside("again"), O_CREAT | O_WRONLY, 0700);
    const char *text = "test $(($1 % 8)) = 0 && sleep 0.02; exec /bin/sh \"$0\" $(($1 + 1))\n";
    say(file, text, strlen(text));
    close(file);
    execl("/bin/sh", "sh", inside("again"), "1", (char *)NULL);
}
ATTACK(exec_of_another) {
    // With what is open here, and as root where the file's mode says so.
    execlp("umount", "umount", "--version", (char *)NULL);
}

// Attacks on the state of other processes.
static void others(void (*harms)(pid_t)) {
    harms(victim());
    harms(getppid());
    harms(harness());
}
static void limit(pid_t process) {
    struct rlimit none = {0, 0}, before;
    prlimit(process, RLIMIT_CPU, NULL, &before);
    if (process == getppid() && process != harness() && getppid() == getpgid(0)) return;
    for (int kind = RLIMIT_NLIMITS - 1; kind >= 0; kind--) prlimit(process, kind, &none, NULL);
}
ATTACK(limits_of_others) { others(limit); }
static void bind_to_one(pid_t process) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(process, sizeof one, &one);
}
ATTACK(affinity_of_others) { others(bind_to_one); }
enum { NO_USER = 1234567 };
static void slow_down(pid_t process) {
    // All processes of the user, only where one is refused, as others' tests may run as this user.
    if (setpriority(PRIO_PROCESS, process, 19)) setpriority(PRIO_USER, getuid() ? getuid() : NO_USER, 19);
    syscall(SYS_ioprio_set, 1, process, 3 << 13);
    struct sched_param parameter = {0};
    sched_setscheduler(process, SCHED_IDLE, &parameter);
}
ATTACK(priority_of_others) { slow_down(victim()); slow_down(harness()); }
static void trace(pid_t process) {
    refused("ptrace", ptrace(PTRACE_SEIZE, process, 0, 0));
    refused("ptrace", ptrace(PTRACE_ATTACH, process, 0, 0));
}
ATTACK(ptrace_victim) { trace(victim()); }
ATTACK(ptrace_harness) { trace(harness()); }
ATTACK(ptrace_parent) {
    // A fork server may be traced by its children: they are its own.
    if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0) waitpid(getppid(), NULL, __WALL);
}
static void write_memory(pid_t process) {
    char bytes[8] = {0}, name[64];
    struct iovec here = {bytes, 8}, there = {(void *)0x400000, 8};
    if (process_vm_writev(process, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT) breach("memory of another process");
    if (process_vm_readv(process, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT) breach("memory of another process");
    snprintf(name, sizeof name, "/proc/%d/mem", process);
    refused("the memory of another process by /proc", open(name, O_RDWR));
    snprintf(name, sizeof name, "/proc/%d/oom_score_adj", process);
    refused("oom_score_adj of another process", open(name, O_WRONLY));
    snprintf(name, sizeof name, "/proc/%d/comm", process);
    refused("the name of another process", open(name, O_WRONLY));
    int descriptor = syscall(SYS_pidfd_open, process, 0);
    if (descriptor < 0) return;
    for (int number = 0; number < 500; number++) {
        refused("a descriptor of another process", syscall(SYS_pidfd_getfd, descriptor, number, 0));
    }
    close(descriptor);
}
ATTACK(memory_of_victim) { write_memory(victim()); }
ATTACK(memory_of_harness) { write_memory(harness()); }
ATTACK(oom_score) {
    int file = open("/proc/self/oom_score_adj", O_WRONLY);
    say(file, "-1000", 5);
    close(file);
}
ATTACK(real_time) {
    struct sched_param parameter = {.sched_priority = 50};
    refused("real-time scheduling", sched_setscheduler(0, SCHED_FIFO, &parameter));
    refused("a raised priority", setpriority(PRIO_PROCESS, 0, -20));
}
ATTACK(locked_memory) { mlockall(MCL_CURRENT | MCL_FUTURE); }
ATTACK(own_limits) {
    struct rlimit none = {0, 0}, endless = {RLIM_INFINITY, RLIM_INFINITY};
    refused("a raised limit on core dumps", setrlimit(RLIMIT_CORE, &endless));
    refused("a raised limit on the size of files", setrlimit(RLIMIT_FSIZE, &endless));
    setrlimit(RLIMIT_NOFILE, &none);
    setrlimit(RLIMIT_NPROC, &none);
}
ATTACK(core_dump) {
    struct rlimit endless = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &endless);
    prctl(PR_SET_DUMPABLE, 1);
    abort();
}
