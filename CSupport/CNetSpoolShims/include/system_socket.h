/// What the kernel knows of a socket. linux/tcp.h has fields that glibc's netinet/tcp.h lacks, and no Swift module.
#ifndef CNETSPOOL_SYSTEM_SOCKET_H
#define CNETSPOOL_SYSTEM_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

/// At most, or at least, so many bytes of a TCP connection have been read: what has come (tcp(7), TCP_INFO) and what of it
/// waits (SIOCINQ) cannot be asked at once, and a thread that is put off between the two misses what comes meanwhile.
int64_t cnetspool_bytes_read(int descriptor, bool most);

#endif
