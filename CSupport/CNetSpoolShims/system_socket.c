#include "system_socket.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int64_t cnetspool_bytes_read(int descriptor) {
  struct tcp_info info;
  socklen_t size = sizeof info;
  int waiting = 0;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return -1;
  if (size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) return -1;
  return ioctl(descriptor, FIONREAD, &waiting) != 0 ? -1 : (int64_t)info.tcpi_bytes_received - waiting;
}
