"""Sections whose rows vary one thing: how many requests are in flight, how long a list is."""

import lists
from goals import Goal, at_most, ratio
from parts import CPU, MIB, REQUEST_COLUMNS, RSS, Row, Section

WIDTHS = [1, 4, 16, 64, 256]
RATES = [1_000, 4_000, 16_000]
RATE_SECONDS = 2


def p1_width(s):
    """What AsyncHTTPClient and the raw program do with the same number of connections."""
    places, rows = {}, []
    for width in WIDTHS:
        requests = s.scale.requests // 10 if width == 1 else s.scale.requests // 4
        flags = ["--url-prefix", s.origin.http, "--requests", str(requests), "--concurrency", str(width)]
        for name, client, more in (("raw tuned", "raw", []), ("netspool", "netspool", ["--queued", "64"]),
                                   ("AsyncHTTPClient, futures", "ahc", [])):
            rows.append(Row(f"{name}, {width} in flight", client, [*flags, *(more if width > 1 else [])]))
            places[rows[-1].label] = [name, width]
    return Section("P1c", "8 KiB GETs by the number in flight", rows, [], REQUEST_COLUMNS, rounds=2,
                   chart={"metric": "requests_per_second", "x": "requests in flight", "places": places})


def p1_open(s):
    """Requests leave on time, whatever those before have come to: what a stall holds up counts as held up."""
    rows, places = [], {}
    for rate in RATES:
        requests = int(rate * RATE_SECONDS * s.scale.share)
        flags = ["--url-prefix", s.origin.http, "--rate", str(rate), "--requests", str(requests), "--warmup", str(rate // 4)]
        for name, client in (("raw tuned", "raw"), ("netspool", "netspool"), ("AsyncHTTPClient, futures", "ahc")):
            rows.append(Row(f"{name}, {rate:,} per second", client, flags))
            places[rows[-1].label] = [name, rate]
    return Section("P1o", "latency of 8 KiB GETs from the time at which they should leave, by the load", rows, [], [
        ("p50 us", "p50_us", 1, 1, True), ("p99 us", "p99_us", 1, 1, True), ("CPU us/req", "cpu_us_per_request", 1, 1, False),
        ("req/s", "requests_per_second", 1, 0, False), ("RSS MiB", RSS, MIB, 1, False),
    ], metric="p99_us", rounds=2, chart={"metric": "p99_us", "x": "requests per second", "places": places})


def p11_lag(s):
    """The loop is handed something every 5 ms while an origin misbehaves in each of these ways."""
    waiting, large = s.origin.waiting, "bodies of 1 MiB"
    trusting = ["--ca", s.origin.ca]
    origins = [
        ("an origin that answers", s.origin.http, []), (large, s.origin.http, ["--folder", "m", "--files", "64"]),
        ("nobody listens", "http://127.0.0.1:1", []), ("all refused with 429", f"{waiting}/wait/0/0", []),
        ("every answer breaks off", f"{waiting}/break", []), ("answers take a minute", f"{waiting}/wait/60000/100000", []),
        ("an origin that answers, TLS", s.origin.https, trusting),
        ("a TLS connection for each answer", f"{s.origin.https}/closing", trusting),
        ("a certificate that nobody trusts", s.origin.sick_https, []),
        ("TLS that is no TLS", s.origin.sick_http.replace("http:", "https:"), trusting),
    ]
    beats = ["--lag", "--rate", "200", "--requests", str(int(600 * s.scale.share)), "--warmup", "100", "--bulk", "64"]
    rows = [Row(name, "inside", [*beats, "--url-prefix", prefix, *more]) for name, prefix, more in origins]

    def worst(key):
        return lambda one: max(one[row.label][key] for row in rows if row.label != large) / 1_000

    return Section("P11", "how late the loop runs what it is handed, with 64 requests under way", rows, [
        Goal("p99 of the loop's lag, at its worst", 10, worst("p99_us"), "ms"),
        Goal("the longest lag", 50, worst("worst_us"), "ms"),
        at_most("p99 of the lag with large bodies", large, "p99_us", 10, "ms", per=1_000),
    ], [
        ("p50 us", "p50_us", 1, 1, True), ("p99 us", "p99_us", 1, 1, True), ("worst us", "worst_us", 1, 0, True),
        ("ended", "load_ended", 1, 0, False),
    ], metric="p99_us", rounds=2)


def p15_mixed(s):
    """Healthy origins beside sick ones, on one queue. Names under localhost are origins of their own on the same port."""
    def at(name, path="", base=s.origin.waiting):
        return base.replace("127.0.0.1", f"{name}.localhost") + path

    port = s.origin.sick_http.rsplit(":", 1)[1]
    healthy = [("fast", at("fast", base=s.origin.http), 20), ("slow", at("slow", "/wait/50/1000"), 2),
               ("takes 20 at once", at("limited", "/wait/20/20"), 4)]
    sick = [
        "http://127.0.0.1:1", "http://nobody.invalid", at("refusing", "/wait/0/0"), at("slowly-refusing", "/wait/10/1"),
        at("breaking", "/break"), at("silent", "/wait/60000/100000"), at("missing", "/nothing", s.origin.sick_http),
        f"https://plain.localhost:{port}", s.origin.sick_https, s.origin.sick_https.replace("https:", "http:"),
    ]
    flags = ["--mixed", "--rate", "3600", "--requests", str(int(100_000 * s.scale.share)), "--warmup", "3600"]
    for _, prefix, share in healthy:
        flags += ["--healthy", prefix, str(share)]
    for prefix in sick:
        flags += ["--sick", prefix]
    alone, beside = "healthy origins alone", "beside ten sick ones"
    goals = [Goal(f"p99 of the origin \"{name}\", beside sick ones to alone", 1.2,
                  lambda one, key=f"origin{number}_p99_us": one[beside][key] / one[alone][key])
             for number, (name, _, _) in enumerate(healthy, 1)]
    columns = [(f"{name} p99 us", f"origin{number}_p99_us", 1, 0, True) for number, (name, _, _) in enumerate(healthy, 1)]
    # Refusals while the limit is being found.
    rows = [Row(alone, "netspool", [*flags, "--without-sick"], errors_share=0.02),
            Row(beside, "netspool", flags, errors_share=0.02)]
    # What the machine alone does to the fast one: somebody else asks it, who has nothing to do with the rest.
    rate = 2_000
    other = ["--url-prefix", s.origin.http, "--rate", str(rate), "--requests", str(rate * 10), "--warmup", str(rate // 4)]
    rows += [Row(f"raw in another process, {row.label}", "raw", other, beside=row) for row in rows]
    return Section("P15", "healthy origins beside sick ones, 3,600 requests a second in all", rows, goals, [
        *columns, ("p99 us", "p99_us", 1, 0, True), ("longest turn us", "longest_turn_us", 1, 0, False),
        ("ended", "requests", 1, 0, False),
    ], base=alone, metric="p99_us", rounds=3)


def p15_overload(s):
    """Ten times what the origin can do: 20 at once of 20 ms each."""
    prefix = ["--url-prefix", f"{s.origin.waiting}/wait/20/20", "--unique"]
    peak, over = "as much as it takes", "ten times as much"
    return Section("P15o", "overload: an origin that serves 1,000 a second, and a queue of 1,000", [
        Row(peak, "netspool", [*prefix, "--requests", "4000", "--queued", "64", "--adaptive", "--concurrency", "64"],
            errors_share=2),
        Row(over, "netspool", [*prefix, "--overload", "--rate", "10000", "--queued", "1000",
                               "--requests", str(int(80_000 * s.scale.share))]),
    ], [
        Goal("answers per second, at its best to under overload", 1 / 0.9, lambda one: one[peak]["requests_per_second"]
             * (1 - one[peak]["errors"] / one[peak]["requests"]) / one[over]["served_per_second"]),
        at_most("p99 of the time to a refusal", over, "refused_p99_us", 1_000, "us"),
    ], [
        ("served/s", "served_per_second", 1, 0, True), ("req/s", "requests_per_second", 1, 0, False),
        ("refused", "refused", 1, 0, False), ("refused p50 us", "refused_p50_us", 1, 1, False),
        ("refused p99 us", "refused_p99_us", 1, 1, True), ("RSS MiB", RSS, MIB, 1, False),
    ], metric="refused_p99_us", rounds=3)


def p16_lists(s):
    """The library's tool and curl's, which throw away what they fetch."""
    count = s.scale.requests // 3
    ours, curls = lists.tool_list(s, count, *lists.EIGHT_KIB), lists.curl_list(s, count, *lists.EIGHT_KIB)
    return Section("P16", f"a list of {count:,} URLs, 8 KiB each, 64 in flight", [ours, curls], [
        ratio("CPU of netspool fetch to curl -Z", ours.label, curls.label, CPU, 0.75),
    ], REQUEST_COLUMNS, base=curls.label)


def p5_lists(s):
    """Resident memory by the length of a list of URLs, all different."""
    lengths = [s.scale.deep // 100, s.scale.deep // 10, s.scale.deep]
    rows, places = [], {}
    for length in lengths:
        for name, row in (("netspool fetch", lists.tool_list(s, length)), ("curl -Z", lists.curl_list(s, length)),
                          ("aria2", lists.aria2_list(s, length)),
                          ("aria2 --deferred-input", lists.aria2_list(s, length, "--deferred-input=true",
                                                                      name="aria2 --deferred-input"))):
            rows.append(row)
            places[row.label] = [name, length]
    longest = lists.label("netspool fetch", lengths[-1])
    return Section("P5l", "memory by the length of a list of URLs, 1 KiB each, 64 in flight", rows, [
        at_most(f"resident with a list of {lengths[-1]:,} URLs", longest, RSS, 30, "MiB", per=MIB),
    ], [
        ("RSS MiB", RSS, MIB, 1, False), ("seconds", "seconds", 1, 1, False), ("CPU us/URL", "cpu_us_per_request", 1, 0, False),
    ], metric=RSS, rounds=1, chart={"metric": RSS, "x": "URLs in the list", "places": places})
