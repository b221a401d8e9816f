#include "system_socket.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int64_t cnetspool_bytes_read(int descriptor, bool most) {
  struct tcp_info info = {0};
  int waiting = 0;
  if (most) ioctl(descriptor, FIONREAD, &waiting);
  getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &(socklen_t){sizeof info});
  if (!most) ioctl(descriptor, FIONREAD, &waiting);
  return (int64_t)info.tcpi_bytes_received - waiting;
}
