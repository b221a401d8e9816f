#if DEBUG
/// Why a round could not be played; a broken promise is a verdict, not this.
struct CrashError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
#endif
