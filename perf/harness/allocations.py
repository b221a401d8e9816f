"""Allocations of a client, counted by a library that is loaded into it."""

import os
import struct

import measure

EIGHT = struct.Struct("=Q")


def run(library, command, seconds_max, within):
    """What the client printed, with the allocations of the whole process."""
    path = os.path.join(within, "allocations.count")
    with open(path, "wb") as counter:
        counter.write(EIGHT.pack(0))
    record = measure.run(command, seconds_max, {"LD_PRELOAD": library, "NETSPOOL_ALLOCATIONS": path})
    with open(path, "rb") as counter:
        record["allocations"] = EIGHT.unpack(counter.read(EIGHT.size))[0]
    return record
