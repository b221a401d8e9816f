/// One thing to fetch: what the job hands to the network.
struct FetchItem: Equatable, Sendable {
  /// Counts up from 0 in the order of starting.
  let id: Int
  let url: String
  /// The file name relative to the output folder; nil when only the cache is to be filled.
  let output: String?
}
