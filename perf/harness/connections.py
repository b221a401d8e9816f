"""Sections about connections: new ones over TLS, many hosts, several loops."""

from goals import ratio
from parts import CPU, REQUEST_COLUMNS, Row, Section


def p13_handshakes(s):
    """The origin ends each connection after its answer, so that each GET begins with a handshake."""
    flags = ["--url-prefix", f"{s.origin.https}/closing", "--ca", s.origin.ca, "--requests", str(s.scale.requests // 20)]
    flags += ["--warmup", "200"]
    return Section("P13", "8 KiB GETs over TLS, a new connection for each", [
        Row("raw tuned", "raw", flags),
        Row("netspool", "netspool", [*flags, "--queued", "64"]),
        Row("AsyncHTTPClient, futures", "ahc", flags),
    ], [
        ratio("CPU of netspool to raw tuned", "netspool", "raw tuned", CPU, 1.1),
    ], REQUEST_COLUMNS, base="raw tuned", rounds=3)


def p14_hosts(s):
    """Names under localhost, each an origin of its own; the connections are new everywhere."""
    plain = ["--url-prefix", f"{s.origin.http}/closing", "--requests", str(s.scale.requests // 3), "--queued", "64"]
    one, many = "one origin", "10,000 origins"
    return Section("P14", "8 KiB GETs by the number of origins, a new connection for each", [
        Row(one, "netspool", plain),
        Row("100 origins", "netspool", [*plain, "--hosts", "100"]),
        Row(many, "netspool", [*plain, "--hosts", "10000"]),
    ], [
        ratio("CPU per GET at 10,000 origins to one", many, one, CPU, 1.3),
    ], REQUEST_COLUMNS, base=one, rounds=3)


def p1_loops(s):
    plain = ["--url-prefix", s.origin.http, "--requests", str(s.scale.requests), "--queued", "64", "--hosts", "16"]
    return Section("P1l", "8 KiB GETs to 16 origins, 64 in flight, by the number of loops", [
        Row("netspool, 1 loop", "netspool", [*plain, "--loops", "1"]),
        Row("netspool, 2 loops", "netspool", [*plain, "--loops", "2"]),
    ], [
        ratio("CPU with two loops to one", "netspool, 2 loops", "netspool, 1 loop", CPU, 1.05),
    ], REQUEST_COLUMNS, base="netspool, 1 loop")
