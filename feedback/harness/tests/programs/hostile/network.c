// Attacks by sockets. The test has sockets that must see none of this.
#include <linux/if_alg.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>

static struct sockaddr_in local(int port) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

// Connects to the test's socket, and sends something.
static void reach(const char *what, int kind, int protocol, int port) {
    int own = socket(AF_INET, kind, protocol);
    if (own < 0) return;
    struct sockaddr_in address = local(port);
    int result = connect(own, (struct sockaddr *)&address, sizeof address);
    if (result == 0) result = send(own, "x", 1, MSG_NOSIGNAL);
    refused(what, result);
    close(own);
}
ATTACK(tcp) { reach("TCP", SOCK_STREAM, 0, number("HOSTILE_TCP")); }
ATTACK(mptcp) { reach("MPTCP", SOCK_STREAM, 262, number("HOSTILE_TCP")); }
ATTACK(udp) { reach("UDP", SOCK_DGRAM, 0, number("HOSTILE_UDP")); }
ATTACK(udp_without_connection) {
    int own = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = local(number("HOSTILE_UDP"));
    refused("UDP", sendto(own, "x", 1, 0, (struct sockaddr *)&address, sizeof address));
    struct iovec part = {"x", 1};
    struct mmsghdr message = {.msg_hdr = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1}};
    refused("UDP", sendmmsg(own, &message, 1, 0));
    close(own);
}
// TCP with data in its first packet connects without `connect`.
ATTACK(tcp_fast_open) {
    for (int protocol = 0; protocol < 263; protocol += 262) {
        int own = socket(AF_INET, SOCK_STREAM, protocol);
        struct sockaddr_in address = local(number("HOSTILE_TCP"));
        refused("TCP", sendto(own, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&address, sizeof address));
        close(own);
    }
}
ATTACK(tcp_6) {
    int own = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(number("HOSTILE_TCP"))};
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr);
    refused("TCP of IPv6", connect(own, (struct sockaddr *)&address, sizeof address));
    close(own);
}
ATTACK(listen) {
    for (int protocol = 0; protocol < 263; protocol += 262) {
        int own = socket(AF_INET, SOCK_STREAM, protocol);
        if (own >= 0) refused("listen without an address", listen(own, 1));
        struct sockaddr_in address = local(0);
        if (own >= 0) refused("bind", bind(own, (struct sockaddr *)&address, sizeof address));
        close(own);
    }
    int own = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = local(0);
    if (own >= 0) refused("bind of UDP", bind(own, (struct sockaddr *)&address, sizeof address));
    close(own);
}
ATTACK(other_protocols) {
    int kinds[][3] = {{AF_INET, SOCK_STREAM, 132}, {AF_INET, SOCK_RAW, 1}, {AF_INET6, SOCK_RAW, 58}, {AF_PACKET, SOCK_RAW, 0},
                      {AF_INET, SOCK_DGRAM, 1}, {AF_INET, SOCK_DGRAM, 136}, {AF_VSOCK, SOCK_STREAM, 0},
                      {AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK}, {AF_ALG, SOCK_SEQPACKET, 0}, {16, 3, 9}, {30, SOCK_STREAM, 0}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char what[64];
        snprintf(what, sizeof what, "socket of family %d, kind %d, protocol %d", kinds[i][0], kinds[i][1], kinds[i][2]);
        refused(what, socket(kinds[i][0], kinds[i][1], kinds[i][2]));
    }
}

static void reach_unix(const char *what, int kind, const char *path, int is_abstract) {
    int own = socket(AF_UNIX, kind, 0);
    if (own < 0) return;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    memcpy(address.sun_path + is_abstract, path, length);
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + length + is_abstract;
    if (kind == SOCK_DGRAM) refused(what, sendto(own, "x", 1, 0, (struct sockaddr *)&address, size));
    refused(what, connect(own, (struct sockaddr *)&address, size));
    close(own);
}
ATTACK(unix_path) { reach_unix("a socket with a path", SOCK_STREAM, outside("socket"), 0); }
ATTACK(unix_path_datagram) { reach_unix("a socket with a path", SOCK_DGRAM, outside("datagrams"), 0); }
ATTACK(unix_abstract) { reach_unix("an abstract socket", SOCK_STREAM, variable("HOSTILE_ABSTRACT"), 1); }
// By a link of its own, so that only the kernel knows where it leads.
ATTACK(unix_link) {
    if (symlink(outside("socket"), inside("s"))) return;
    reach_unix("a socket behind a link", SOCK_STREAM, inside("s"), 0);
}
// It must go on to work: programs use it within themselves.
ATTACK(socket_pair) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) _exit(76);
    char byte;
    if (write(ends[0], "x", 1) != 1 || read(ends[1], &byte, 1) != 1) _exit(76);
    close(ends[0]);
    close(ends[1]);
}
