import Glibc

/// Starts a program with these descriptors, by the numbers that it sees them under, default signals and none blocked: in our
/// process group, or as the leader of its own.
func spawn(
  _ words: [String], environment: [String], descriptors: [Int32: Int32], leadsGroup: Bool = false
) throws -> pid_t {
  var actions = unsafe posix_spawn_file_actions_t()
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe posix_spawn_file_actions_destroy(&actions) }
  var attributes = posix_spawnattr_t()
  unsafe posix_spawnattr_init(&attributes)
  defer { unsafe posix_spawnattr_destroy(&attributes) }
  setGroupAndSignals(&attributes, leadsGroup)

  // Copied above every number the child will use first, or one dup2 would overwrite the next one's source.
  let sources = try descriptors.mapValues {
    try TestDescriptor(owning: fcntl($0, F_DUPFD_CLOEXEC, 64), from: "fcntl")
  }
  for (number, source) in sources {
    unsafe posix_spawn_file_actions_adddup2(&actions, source.number, number)
  }

  guard let program = findProgram(words[0]) else { throw PartFailure("no program \(words[0])") }
  var child: pid_t = 0
  let failure = unsafe withCStrings([program] + words.dropFirst()) { argv in
    unsafe withCStrings(environment) { envp in
      starting { unsafe posix_spawn(&child, program, &actions, &attributes, argv, envp) }
    }
  }
  withExtendedLifetime(sources) {}
  guard failure == 0 else { throw PartFailure("\(program): errno \(failure)") }
  return child
}

/// The path of a program: PATH, then the folders of servers, which not every user's PATH has.
func findProgram(_ name: String) -> String? {
  if name.contains("/") { return name }
  let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
  let folders = path.split(separator: ":").map(String.init) + ["/usr/local/sbin", "/usr/sbin", "/sbin"]
  return folders.map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
}

private func setGroupAndSignals(_ attributes: inout posix_spawnattr_t, _ leadsGroup: Bool) {
  var none = sigset_t()
  var all = sigset_t()
  unsafe sigemptyset(&none)
  unsafe sigfillset(&all)
  unsafe posix_spawnattr_setpgroup(&attributes, 0)
  unsafe posix_spawnattr_setsigmask(&attributes, &none)
  unsafe posix_spawnattr_setsigdefault(&attributes, &all)
  let group = leadsGroup ? POSIX_SPAWN_SETPGROUP : 0
  let flags = group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
  unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
}

/// All of our environment.
func ownEnvironment() -> [String] {
  var entries: [String] = []
  while let entry = unsafe environ[entries.count] {
    unsafe entries.append(String(cString: entry))
  }
  return entries
}

/// These variables, what else a program needs of our environment, and nothing that would change what it does: a test may
/// itself run in a cluster. A program that is killed, or exits in the middle of its work, gives its memory back to nobody but
/// the system, and AddressSanitizer would call that a leak.
func narrowEnvironment(with given: [String]) -> [String] {
  let names = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "LD_PRELOAD", "TSAN_OPTIONS"]
  let wanted = names.map { "\($0)=" }.filter { name in !given.contains { $0.hasPrefix(name) } }
  return given + ownEnvironment().filter { entry in wanted.contains { entry.hasPrefix($0) } }
    + ["ASAN_OPTIONS=detect_leaks=0"]
}

private func withCStrings<R>(
  _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
) -> R {
  var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
  defer { unsafe pointers.forEach { unsafe free($0) } }
  return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
}
