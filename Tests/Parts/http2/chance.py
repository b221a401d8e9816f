"""Answers over HTTP/2 that chance has spoilt: the same for the same seed."""

import random
import struct

from frames import *


class Chance:
    """What one connection answers, to whatever it is asked."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed} {number}")
        self.requests_left = self.random.randint(1, 4)
        self.streams = []
        self.held = []

    def answer(self, stream):
        """What is sent for a request, and what becomes of the connection: "hang up", "close" or nothing."""
        self.requests_left -= 1
        self.streams.append(stream)
        frames = self.mixed(self.held, self.real(stream))
        self.held = []
        if self.requests_left > 0 and self.is_so(15):
            self.held = frames
            return b"", None
        count = 0 if self.is_so(20) else self.random.choice([1, 1, 1, 2, 3, 5])
        for _ in range(count):
            self.random.choice(self.SPOILERS)(self, frames)
        sent = b"".join(frame(*one) for one in frames)
        is_cut = count > 0 and self.is_so(15)
        if is_cut:
            sent = sent[:self.random.randrange(len(sent) + 1)]
        # Now and then what is spoilt is followed by silence.
        is_over = self.requests_left == 0 or (count > 0 and self.is_so(90))
        return sent, self.random.choice(["hang up", "close"]) if is_over else None

    def is_so(self, percent):
        return self.random.randrange(100) < percent

    def mixed(self, some, others):
        """The frames of two answers, those of each in their order."""
        some, others, both = list(some), list(others), []
        while some or others:
            both.append((some if some and (not others or self.is_so(50)) else others).pop(0))
        return both

    # A frame is a list, so that it can be changed: kind, flags, stream, payload, and the length that it says it has.

    def real(self, stream):
        body = self.random.randbytes(self.random.choice([0, 2, 100, 5_000, 40_000]))
        block = STATUS_200 + field("content-type", "text/plain") + field("cache-control", "max-age=60")
        if self.is_so(75):
            block += field("content-length", str(len(body)))
        frames = []
        if self.is_so(10):
            frames.append([HEADERS, END_HEADERS, stream, field(":status", "103"), None])
        has_trailers = self.is_so(10)
        last = END_HEADERS | (0 if body or has_trailers else END_STREAM)
        if self.is_so(10):
            cut = self.random.randrange(1, len(block))
            frames.append([HEADERS, last & ~END_HEADERS, stream, block[:cut], None])
            frames.append([CONTINUATION, END_HEADERS, stream, block[cut:], None])
        else:
            frames.append([HEADERS, last, stream, block, None])
        step = self.random.choice([1_000, 5_000, 16_384])
        for start in range(0, len(body), step):
            is_last = start + step >= len(body) and not has_trailers
            frames.append([DATA, END_STREAM if is_last else 0, stream, body[start:start + step], None])
        if has_trailers:
            frames.append([HEADERS, END_HEADERS | END_STREAM, stream, field("checksum", "1"), None])
        return frames

    def any_stream(self):
        return self.random.choice([0, 1, 2, self.streams[-1] + 2, self.random.getrandbits(31)] + self.streams)

    def place(self, frames):
        return self.random.randrange(len(frames) + 1)

    def flip_bits(self, frames):
        one = self.random.choice(frames)
        payload = bytearray(one[3])
        for _ in range(self.random.choice([1, 1, 8]) if payload else 0):
            payload[self.random.randrange(len(payload))] ^= 1 << self.random.randrange(8)
        one[3] = bytes(payload)

    def change_length(self, frames):
        one = self.random.choice(frames)
        one[4] = max(0, len(one[3]) + self.random.choice([-9, -1, 1, 9, 300, 20_000, 1 << 23]))

    def change_stream(self, frames):
        self.random.choice(frames)[2] = self.any_stream()

    def change_flags(self, frames):
        self.random.choice(frames)[1] ^= 1 << self.random.randrange(8)

    def change_kind(self, frames):
        self.random.choice(frames)[0] = self.random.randrange(12)

    def insert_any(self, frames):
        payload = self.random.randbytes(self.random.choice([0, 4, 5, 6, 8, 8, 100]))
        kind, flags = self.random.randrange(12), self.random.getrandbits(8)
        frames.insert(self.place(frames), [kind, flags, self.any_stream(), payload, None])

    def insert_reset(self, frames):
        code = self.random.randrange(15)
        frames.insert(self.place(frames), [RST_STREAM, 0, self.any_stream(), struct.pack(">I", code), None])

    def insert_going_away(self, frames):
        said = struct.pack(">II", self.any_stream(), self.random.randrange(15))
        frames.insert(self.place(frames), [GOAWAY, 0, 0, said, None])

    def leave_one_out(self, frames):
        if len(frames) > 1:
            frames.pop(self.random.randrange(len(frames)))

    def repeat_one(self, frames):
        frames.insert(self.place(frames), list(self.random.choice(frames)))

    def change_order(self, frames):
        self.random.shuffle(frames)

    SPOILERS = [
        flip_bits, change_length, change_stream, change_flags, change_kind, insert_any, insert_reset,
        insert_going_away, leave_one_out, repeat_one, change_order]
