internal import CNetSpoolCurl

/// Dates as people write them (curl_getdate(3)): `1 Jan 2026`, `2026-01-01 12:00`, and the forms of HTTP.
package enum CurlDate {
  /// Seconds since 1970; nil for what is no date.
  package static func seconds(_ text: String) -> Int64? {
    let seconds = unsafe curl_getdate(text, nil)
    return seconds == -1 ? nil : Int64(seconds)
  }
}
