/// A real part of a test (a server, a program, a socket) could not do its work.
struct PartFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
