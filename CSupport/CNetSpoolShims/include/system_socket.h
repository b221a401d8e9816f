/// What the kernel knows of a socket. linux/tcp.h has fields that glibc's netinet/tcp.h lacks, and no Swift module.
#ifndef CNETSPOOL_SYSTEM_SOCKET_H
#define CNETSPOOL_SYSTEM_SOCKET_H

#include <stdint.h>

/// How many bytes have been read from a TCP connection so far (tcp(7), TCP_INFO; tcp(7), SIOCINQ); -1: not known.
int64_t cnetspool_bytes_read(int descriptor);

#endif
