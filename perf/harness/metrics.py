"""What the numbers in a result are called, their units, and how they are printed."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Metric:
    key: str
    title: str
    unit: str
    divisor: float = 1
    more_is_better: bool = False

    def text(self, value):
        """With its unit and three digits, as nobody measures more."""
        return f"{digits(value / self.divisor)} {self.unit}".strip()


_ALL = [
    Metric("cpu_us_per_request", "CPU per request", "µs"),
    Metric("cpu_user_us_per_request", "of it user", "µs"),
    Metric("requests_per_second", "throughput", "req/s", more_is_better=True),
    Metric("p50_us", "latency, median", "µs"),
    Metric("p99_us", "latency, 99th percentile", "µs"),
    Metric("worst_us", "latency, the worst", "µs"),
    Metric("origin1_p99_us", "latency of the fast origin, 99th percentile", "µs"),
    Metric("origin2_p99_us", "latency of the slow origin, 99th percentile", "µs"),
    Metric("origin3_p99_us", "latency of the origin that takes 20 at once, 99th percentile", "µs"),
    Metric("longest_turn_us", "longest hold of the loop", "µs"),
    Metric("served_per_second", "answers per second under overload", "1/s", more_is_better=True),
    Metric("refused_p50_us", "time to a refusal, median", "µs"),
    Metric("refused_p99_us", "time to a refusal, 99th percentile", "µs"),
    Metric("lookup_ns", "time of one lookup", "ns"),
    Metric("lookup_p99_ns", "99th percentile of batches", "ns"),
    Metric("freeze_ns", "time of one durable record", "ns"),
    Metric("open_seconds", "opening", "s"),
    Metric("make_ns", "making an operation", "ns"),
    Metric("enqueue_ns", "caller's time to enqueue", "ns"),
    Metric("enqueue_cpu_ns", "of it CPU", "ns"),
    Metric("bytes_per_queued", "memory per queued operation", "B"),
    Metric("rss_max_bytes", "resident memory, highest", "MiB", MIB),
    Metric("cpu_seconds", "CPU", "s"),
    Metric("seconds", "time", "s"),
    Metric("instructions_per_request", "user instructions per request", ""),
    Metric("allocations_per_request", "allocations per request", ""),
    Metric("atomics_per_request", "atomic steps per request", ""),
    Metric("errors", "requests that failed", ""),
]
METRICS = {metric.key: metric for metric in _ALL}

# Of these less is better, and two results can be compared by them.
COMPARED = [
    "cpu_us_per_request", "lookup_ns", "freeze_ns", "open_seconds", "p50_us", "p99_us", "rss_max_bytes", "enqueue_ns",
    "make_ns", "bytes_per_queued", "cpu_seconds", "instructions_per_request", "allocations_per_request", "atomics_per_request",
]


def digits(value):
    """Three of them: 0.0123, 1.23, 12.3, 123, 12,300."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
