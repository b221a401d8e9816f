import Glibc

/// The wait status of a child of fork(2). Swift hides that call, rightly: the child does what little it may, and ends
/// without unwinding.
///
/// A lock of Swift's runtime or of the C library that another thread had when the process split never opens in the child,
/// so it is ended by SIGALRM at the latest.
func forked(atMost seconds: UInt32 = isSanitized ? 60 : 10, _ body: () -> Int32) -> Int32 {
  typealias Fork = @convention(c) () -> pid_t
  let address = unsafe dlsym(nil, "fork")!
  let child = unsafe unsafeBitCast(address, to: Fork.self)()
  if child == 0 {
    // The threads of a pool block every signal, and a child keeps what was blocked.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigprocmask(SIG_SETMASK, &none, nil)
    alarm(seconds)
    _exit(body())
  }
  var status: Int32 = 0
  while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
  return status
}

/// The status of a child that did not have to be ended, of three at most.
func forkedInTime(_ body: () -> Int32) -> Int32 {
  var status: Int32 = 0
  for _ in 0..<3 {
    // Other threads come to rest.
    usleep(100_000)
    status = forked(body)
    if !isEndedByAlarm(status) { break }
  }
  return status
}

func isEndedByAlarm(_ status: Int32) -> Bool { status & 0x7F == SIGALRM }
