internal import CNetSpoolCurl

extension HTTPDate {
  /// Seconds since 1970 of a date as people write it (curl_getdate(3)): `1 Jan 2026`, `2026-01-01 12:00`, and the forms of
  /// HTTP; nil for what is no date.
  package static func written(_ text: String) -> Int64? {
    let seconds = unsafe curl_getdate(text, nil)
    return seconds == -1 ? nil : Int64(seconds)
  }
}
