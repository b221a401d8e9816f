/// How much a header section may hold before the answer is refused as `headersTooLarge`.
///
/// Without limits an origin decides how much memory its answer costs. Each block (a final head, one
/// informational head, the reply to CONNECT) is measured on its own.
struct HeaderLimits: Sendable, Hashable {
  /// One line with its end; 64 KiB. libcurl holds at most 100 KiB itself and then answers
  /// `CURLE_OUT_OF_MEMORY`, so this one is lower.
  var lineBytesMax = 64 * 1024
  /// All lines of one block; 128 KiB.
  var totalBytesMax = 128 * 1024
  /// Field lines of one block, and of the trailer section; 256.
  var linesMax = 256
  /// The trailer section; 64 KiB.
  var trailerBytesMax = 64 * 1024
  /// Informational (1xx) heads before the final one; 32.
  var informationalMax = 32

  init() {}
}
