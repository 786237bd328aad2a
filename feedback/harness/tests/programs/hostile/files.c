// Attacks on files: the input, the temporary folder, and files elsewhere.

static void set_flags(const char *path, int flags) {
    int file = open(path, O_RDONLY | O_NONBLOCK), before = 0;
    if (file < 0) return;
    ioctl(file, FS_IOC_GETFLAGS, &before);
    before |= flags;
    ioctl(file, FS_IOC_SETFLAGS, &before);
    close(file);
}

ATTACK(input_remove) { unlink(input()); }

ATTACK(input_link) {
    unlink(input());
    if (symlink(outside("file"), input())) return;
}

// The name can't be removed either, then.
ATTACK(input_link_locked) {
    unlink(input());
    if (symlink(outside("file"), input())) return;
    chmod(variable("TMPDIR"), 0555);
}

ATTACK(input_link_dangling) {
    unlink(input());
    if (symlink(outside("made"), input())) return;
}

ATTACK(input_immutable) {
    set_flags(input(), FS_IMMUTABLE_FL);
    put(inside("kept"));
    set_flags(inside("kept"), FS_IMMUTABLE_FL);
    mkdir(inside("appended"), 0700);
    set_flags(inside("appended"), FS_APPEND_FL);
    set_flags(variable("TMPDIR"), FS_IMMUTABLE_FL);
}

ATTACK(input_rename) { rename(input(), inside("renamed")); }

ATTACK(input_second_name) {
    if (link(input(), inside("second"))) return;
    unlink(input());
    rename(inside("second"), input());
    if (link(input(), inside("third"))) return;
}

ATTACK(input_mode) { chmod(input(), 0); }

ATTACK(input_folder) {
    unlink(input());
    mkdir(input(), 0700);
    put(in(input(), "file"));
    chmod(input(), 0);
}

ATTACK(input_fifo) {
    unlink(input());
    mkfifo(input(), 0600);
}

ATTACK(input_device) {
    unlink(input());
    mknod(input(), S_IFCHR | 0600, 0x101);
}

ATTACK(input_victim) {
    unlink(input());
    if (link(outside("file"), input()) == 0) breach("a second name of a file outside");
    rename(outside("file"), input());
}

ATTACK(input_written) {
    for (int file = 0; file < 3; file++) {
        if (ftruncate(file, 1 << 20) == 0) say(file, "finding", 7);
    }
    int file = open(input(), O_RDWR);
    if (file < 0) return;
    say(file, "finding", 7);
    ftruncate(file, 1 << 22);
    close(file);
}

// Whoever opens a file with a lease waits for the one that has it.
ATTACK(input_lease) {
    if (!is_left_behind()) return;
    signal(SIGIO, SIG_IGN);
    int file = open(input(), O_RDONLY);
    flock(file, LOCK_EX | LOCK_NB);
    fcntl(file, F_SETLEASE, F_WRLCK);
    fcntl(file, F_SETLEASE, F_RDLCK);
    struct flock lock = {.l_type = F_WRLCK};
    fcntl(file, F_SETLK, &lock);
    remain();
}

// Renames a link over the input, again and again.
ATTACK(input_race) {
    if (!is_left_behind()) return;
    close(0);
    char link[4096], name[4096];
    snprintf(link, sizeof link, "%s", inside("racing"));
    snprintf(name, sizeof name, "%s", input());
    for (int i = 0; i < 2000000; i++) {
        if (symlink(outside("file"), link) == 0) rename(link, name);
    }
    _exit(0);
}

// What looks for files must not go through a link.
ATTACK(folder_race) {
    if (!is_left_behind()) return;
    char folder[4096], link[4096];
    snprintf(folder, sizeof folder, "%s", inside("sub"));
    snprintf(link, sizeof link, "%s", inside("racing"));
    for (int i = 0; i < 500000; i++) {
        mkdir(folder, 0700);
        if (symlink(variable("HOSTILE_OUTSIDE"), link) == 0)
            syscall(SYS_renameat2, AT_FDCWD, folder, AT_FDCWD, link, 2);
        unlink(folder);
        rmdir(folder);
        unlink(link);
        rmdir(link);
    }
    _exit(0);
}

ATTACK(folder_mode) { chmod(variable("TMPDIR"), 0); }

ATTACK(folder_remove) {
    unlink(input());
    rmdir(variable("TMPDIR"));
}

ATTACK(folder_rename) {
    char other[4096];
    snprintf(other, sizeof other, "%s-other", variable("TMPDIR"));
    refused("rename of the temporary folder", rename(variable("TMPDIR"), other));
    refused("a folder beside the temporary folder", mkdir(other, 0700));
}

ATTACK(folder_left) { if (chdir(variable("TMPDIR")) == 0) unlink("input"); }

static void deepen(void) {
    if (chdir(variable("TMPDIR"))) return;
    for (int i = 0; i < much; i++) {
        if (mkdir("deep", 0700) || chdir("deep")) return;
    }
    put("file");
}
ATTACK(folders_deep) { in_child(deepen); }

ATTACK(names) {
    char name[256] = {0};
    for (int first = 1; first < 256; first++) {
        if (first == '/') continue;
        memset(name, first, 255);
        name[1] = '\n';
        name[2] = 27;
        put(inside(name));
    }
    for (const char *const *text = (const char *const[]){"-rf", "...", " ", "*", "\xff\xfe", "inpu", "input ", NULL}; *text; text++) {
        put(inside(*text));
    }
}

ATTACK(kinds_of_files) {
    mkfifo(inside("fifo"), 0600);
    mknod(inside("socket"), S_IFSOCK | 0600, 0);
    if (symlink(variable("HOSTILE_OUTSIDE"), inside("to-outside"))) return;
    if (symlink("itself", inside("itself"))) return;
    if (symlink("..", inside("upwards"))) return;
    mkdir(inside("closed"), 0700);
    mkdir(inside("closed/inner"), 0700);
    put(inside("closed/inner/file"));
    if (symlink(outside("folder"), inside("closed/inner/link"))) return;
    chmod(inside("closed/inner"), 0);
    chmod(inside("closed"), 0);
    mkdir(inside("sticky"), 01777);
    put(inside("sticky/file"));
    chmod(inside("sticky"), 0555);
}

ATTACK(many_files) {
    char name[32];
    for (int i = 0; i < much; i++) {
        snprintf(name, sizeof name, "empty-%d", i);
        int file = open(inside(name), O_CREAT | O_WRONLY, 0600);
        if (file >= 0) close(file);
    }
}

// Fills the disk, in part.
static void fill(int is_named) {
    signal(SIGXFSZ, SIG_IGN);
    char name[32];
    for (int i = 0; i < much; i++) {
        snprintf(name, sizeof name, "large-%d", i);
        int file = open(inside(name), O_CREAT | O_WRONLY, 0600);
        if (file < 0) return;
        if (!is_named) unlink(inside(name));
        if (posix_fallocate(file, 0, 8 << 20)) return;
        if (is_named) close(file);
        usleep(10000);
    }
}
ATTACK(disk_filled) { fill(1); usleep(100000); }
ATTACK(disk_filled_without_names) { fill(0); usleep(100000); }
ATTACK(disk_filled_by_one_left) { if (is_left_behind()) fill(0), remain(); }

ATTACK(sparse_file) {
    signal(SIGXFSZ, SIG_IGN);
    int file = open(inside("sparse"), O_CREAT | O_RDWR, 0600);
    for (long size = 1l << 20; size < 1l << 50; size <<= 2) {
        if (ftruncate(file, size)) break;
    }
    close(file);
}

// An earlier attack may have taken a process that goes on to its temporary folder.
static int is_outside(const char *folder) {
    char path[4096];
    return !realpath(folder, path) || strncmp(path, variable("TMPDIR"), strlen(variable("TMPDIR")));
}

ATTACK(outside_made) {
    refused("a new file outside", open(outside("new"), O_CREAT | O_WRONLY, 0600));
    refused("a new folder outside", mkdir(outside("made"), 0700));
    refused("a new link outside", symlink("file", outside("made")));
    refused("a new FIFO outside", mkfifo(outside("made"), 0600));
    refused("a new device outside", mknod(outside("made"), S_IFCHR | 0600, 0x103));
    refused("a file without a name outside", open(variable("HOSTILE_OUTSIDE"), O_TMPFILE | O_WRONLY, 0600));
    if (is_outside(".")) refused("a file in the working folder", open("made", O_CREAT | O_WRONLY, 0600));
}

ATTACK(outside_written) {
    refused("open for writing", open(outside("file"), O_WRONLY));
    refused("open for appending", open(outside("file"), O_RDWR | O_APPEND));
    refused("open with O_TRUNC", open(outside("file"), O_RDONLY | O_TRUNC));
    refused("truncate", truncate(outside("file"), 0));
    int file = open(outside("file"), O_RDONLY), same;
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    if ((same = open(name, O_RDWR)) >= 0) breach("open for writing by a descriptor");
    void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map != MAP_FAILED) breach("memory of a file outside");
    close(file);
}

ATTACK(outside_removed) {
    refused("unlink", unlink(outside("file")));
    refused("rmdir", rmdir(outside("empty")));
    refused("rename", rename(outside("file"), outside("renamed")));
    refused("exchange", syscall(SYS_renameat2, AT_FDCWD, outside("file"), AT_FDCWD, outside("private"), 2));
}

ATTACK(outside_moved_in) {
    refused("rename from outside", rename(outside("file"), inside("stolen")));
    refused("rename of a folder from outside", rename(outside("folder"), inside("stolen")));
    if (link(outside("file"), inside("hard")) == 0) {
        open(inside("hard"), O_WRONLY | O_TRUNC);
        breach("a second name of a file outside");
    }
    put(inside("new"));
    refused("rename to outside", rename(inside("new"), outside("file")));
    refused("link to outside", link(inside("new"), outside("made")));
}

ATTACK(outside_by_link) {
    if (symlink(outside("file"), inside("soft"))) return;
    refused("writing through a link", open(inside("soft"), O_WRONLY));
    if (symlink(variable("HOSTILE_OUTSIDE"), inside("folder"))) return;
    refused("a file in a folder behind a link", open(inside("folder/made"), O_CREAT | O_WRONLY, 0600));
}

ATTACK(outside_mode) {
    chmod(outside("file"), 0777);
    int file = open(outside("file"), O_RDONLY);
    fchmod(file, 0777);
    close(file);
}

ATTACK(outside_owner) {
    if (chown(outside("file"), 1, 1) && lchown(outside("link"), getuid(), getgid()) == 0) return;
}

ATTACK(outside_times) {
    utime(outside("file"), NULL);
    utimensat(AT_FDCWD, outside("link"), NULL, AT_SYMLINK_NOFOLLOW);
    utimensat(AT_FDCWD, outside("folder"), (struct timespec[2]){{1, 1}, {1, 1}}, 0);
}

ATTACK(outside_attributes) {
    setxattr(outside("file"), "user.hostile", "x", 1, 0);
    setxattr(outside("folder"), "user.hostile", "x", 1, 0);
    set_flags(outside("file"), FS_NOATIME_FL | FS_NODUMP_FL | FS_IMMUTABLE_FL);
}

ATTACK(outside_anywhere) {
    const char *folders[] = {variable("HOME"), "/tmp", "/var/tmp", "/dev/shm", "/run", "/var/lock", "/dev/mqueue", "."};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (is_outside(folders[i])) refused(folders[i], open(in(folders[i], "gramjet-hostile-left"), O_CREAT | O_WRONLY, 0600));
    }
}

// A folder of the harness by way of /proc.
ATTACK(outside_by_proc) {
    char name[128];
    for (const char **link = (const char *[]){"root", "cwd", NULL}; *link; link++) {
        snprintf(name, sizeof name, "/proc/%d/%s/%s/new", harness(), *link, variable("HOSTILE_OUTSIDE"));
        refused("a file by /proc", open(name, O_CREAT | O_WRONLY, 0600));
    }
    for (int number = 0; number < 500; number++) {
        snprintf(name, sizeof name, "/proc/%d/fd/%d", harness(), number);
        struct stat found;
        if (stat(name, &found) || !S_ISREG(found.st_mode)) continue;
        refused("a file of the harness by /proc", open(name, O_WRONLY));
    }
}

ATTACK(outside_by_handle) {
    struct {
        struct file_handle handle;
        char bytes[128];
    } known = {.handle.handle_bytes = 128};
    int mount_number, folder = open(variable("HOSTILE_OUTSIDE"), O_RDONLY);
    if (name_to_handle_at(AT_FDCWD, outside("file"), &known.handle, &mount_number, 0) == 0)
        refused("open_by_handle_at", open_by_handle_at(folder, &known.handle, O_WRONLY));
    close(folder);
}
