import Glibc

/// Starts a program, in our process group, with these descriptors as 0, 1 and so on, default signals and no blocked ones.
func startProgram(_ words: [String], _ environment: [String], _ descriptors: [Int32]) throws -> pid_t {
  var actions = unsafe posix_spawn_file_actions_t()
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe _ = posix_spawn_file_actions_destroy(&actions) }
  for (number, descriptor) in descriptors.enumerated() {
    unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
  }
  var attributes = posix_spawnattr_t()
  unsafe posix_spawnattr_init(&attributes)
  defer { unsafe _ = posix_spawnattr_destroy(&attributes) }
  var (none, all) = (sigset_t(), sigset_t())
  unsafe sigemptyset(&none)
  unsafe sigfillset(&all)
  unsafe posix_spawnattr_setsigmask(&attributes, &none)
  unsafe posix_spawnattr_setsigdefault(&attributes, &all)
  unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
  var child: pid_t = 0
  let failure = unsafe withCStrings(words) { argv in
    unsafe withCStrings(environment + inheritedEnvironment(besides: environment)) { envp in
      starting { unsafe posix_spawn(&child, words[0], &actions, &attributes, argv, envp) }
    }
  }
  guard failure == 0 else { throw PartFailure("start \(words[0]): errno \(failure)") }
  return child
}
