/// A waiting element's place in an `AdmissionQueue`. Worth nothing once the element has left, and the queue
/// notices: every enqueue gets the next generation, so a reused slot never answers to an old ticket.
struct Ticket: Hashable, Sendable {
  let index: UInt32
  let generation: UInt32
}

/// An origin registered with an `AdmissionQueue`. The number is reused after `removeOrigin`.
struct OriginID: Hashable, Sendable {
  let rawValue: UInt32

  init(_ rawValue: UInt32) { self.rawValue = rawValue }
}
