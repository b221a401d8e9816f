#define _GNU_SOURCE
#include "system_netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

int cnetspool_netlink_open(int watches) {
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return -1;
  struct sockaddr_nl address = {.nl_family = AF_NETLINK};
  if (watches)
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
  int why = errno;
  close(descriptor);
  errno = why;
  return -1;
}

int cnetspool_netlink_ask(int descriptor, uint16_t type, uint32_t sequence) {
  struct {
    struct nlmsghdr header;
    struct rtmsg about;  // the longest of the three; all of it zero asks for everything
    uint32_t padding;    // struct ifinfomsg is 16 bytes long
  } question = {.header = {.nlmsg_len = sizeof question,
                           .nlmsg_type = type,
                           .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                           .nlmsg_seq = sequence}};
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  ssize_t sent =
      sendto(descriptor, &question, sizeof question, 0, (struct sockaddr *)&kernel, sizeof kernel);
  return sent < 0 ? -1 : 0;
}

int64_t cnetspool_netlink_receive(int descriptor, void *bytes, size_t count) {
  struct sockaddr_nl sender = {0};
  struct iovec place = {.iov_base = bytes, .iov_len = count};
  struct msghdr message = {
      .msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &place, .msg_iovlen = 1};
  ssize_t length = recvmsg(descriptor, &message, 0);
  if (length < 0) return -1;
  if (sender.nl_pid != 0) return 0;
  if (message.msg_flags & MSG_TRUNC) {
    errno = ENOBUFS;
    return -1;
  }
  return length;
}
