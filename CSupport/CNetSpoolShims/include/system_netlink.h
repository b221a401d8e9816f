/// The routing socket of netlink(7). Here because <linux/netlink.h> belongs to no module that Swift can import,
/// and its addresses are built with casts.
#ifndef CNETSPOOL_SYSTEM_NETLINK_H
#define CNETSPOOL_SYSTEM_NETLINK_H

#include <stddef.h>
#include <stdint.h>

/// A non-blocking NETLINK_ROUTE socket, closed on exec; with `watches`, also told of every change of links,
/// addresses and routes (rtnetlink(7)). Its number, or -1 and errno.
int cnetspool_netlink_open(int watches);

/// Asks for all links, addresses or routes: `type` is RTM_GETLINK, RTM_GETADDR or RTM_GETROUTE. 0, or -1 and errno.
int cnetspool_netlink_ask(int descriptor, uint16_t type, uint32_t sequence);

/// The next datagram: its length; 0 when another process sent it, which counts as nothing; -1 and errno. One that
/// did not fit is lost, like those that the kernel had no room for: ENOBUFS.
int64_t cnetspool_netlink_receive(int descriptor, void *_Nonnull bytes, size_t count);

#endif
