// Attacks by output, and on the terminal.

ATTACK(output_escapes) {
    const char text[] = "\033[2J\033]0;owned\007\033[31m\r\n\x9b" "31m\0\xff\xfe\033P+q\033\\";
    say(1, text, sizeof text);
    say(2, text, sizeof text);
}

ATTACK(output_huge) {
    static char block[1 << 16];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < much * 16; i++) say(i & 1 ? 1 : 2, block, sizeof block);
}

ATTACK(output_without_end) {
    static char block[1 << 16];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 1 << 20; i++) {
        say(1, block, sizeof block);
        // The machine has other tests, too.
        if (i % 64 == 63) usleep(20000);
    }
}

ATTACK(output_closed) {
    close(1);
    close(2);
}

ATTACK(output_not_blocking) {
    for (int file = 1; file < 3; file++) {
        fcntl(file, F_SETFL, O_NONBLOCK | O_ASYNC);
        fcntl(file, F_SETPIPE_SZ, 4096);
    }
}

// Reads what the next input says.
ATTACK(output_stolen) {
    if (!is_left_behind()) return;
    int stolen = open("/proc/self/fd/1", O_RDONLY);
    char byte;
    while (stolen >= 0 && read(stolen, &byte, 1) == 1) {}
    remain();
}

// Says something while the next input runs.
ATTACK(output_late) {
    if (!is_left_behind()) return;
    for (int i = 0; i < 100; i++) {
        say(1, "late\n", 5);
        usleep(100);
    }
    remain();
}

ATTACK(terminal) {
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (terminal < 0) return;
    say(terminal, "breach\n", 7);
    ioctl(terminal, TIOCSTI, "x");
    breach("the terminal");
}

ATTACK(kernel_log) {
    refused("/dev/kmsg", open("/dev/kmsg", O_WRONLY));
    refused("/proc/sysrq-trigger", open("/proc/sysrq-trigger", O_WRONLY));
    refused("/dev/vda", open("/dev/vda", O_WRONLY));
    refused("/dev/mem", open("/dev/mem", O_RDWR));
    refused("/proc/sys/kernel/hostname", open("/proc/sys/kernel/hostname", O_WRONLY));
}
