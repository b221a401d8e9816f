import NetSpool
import NetSpoolTesting
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// Everyday command lines of curl's users: `netspool get` or `post` in place of `curl` sends the same and writes the same.
@Suite(.ownThreads) struct CurlCommandLineTests {
  /// `{u}` is the origin, `{h}` its host and port.
  static let getLines = [
    "{u}/", "{h}/plain", "-s {u}/a?b=c&d=e", "{u}/a%20b", "-sS {u}/x -o out.txt", "-so out.txt {u}/x",
    "-sO {u}/file.bin", "-sOL {u}/redirect", "-L -s {u}/redirect", "-s -o a {u}/1 -o b {u}/2",
    "-s -O {u}/one -O {u}/two", "-s --output-dir sub --create-dirs -o deep/file {u}/x", "-s {u}/1 {u}/2",
    "-s --url {u}/byname", "-sOJ {u}/named", "-s -H 'X-Test: 1' {u}/",
    "-s -H 'X-Test: 1' -H 'X-Test: 2' {u}/", "-s -H 'X-Empty;' {u}/", "-s -H 'Accept:' {u}/",
    "-s -H 'Host: other.example' {u}/", "-s -H @fields.txt {u}/", "-s -A tester/1 {u}/", "-s -A '' {u}/",
    "-s -e http://from.example/ {u}/", "-s -u anna:secret {u}/", "-s -u anna:secret --basic {u}/",
    "-s --digest -u anna:secret {u}/digest", "-s --anyauth -u anna:secret {u}/digest",
    "-s --oauth2-bearer t0ken {u}/", "-s -n {u}/", "-s --netrc-file my.netrc {u}/", "-s -b 'a=1; b=2' {u}/",
    "-s -b a=1 {u}/", "-s -b cookies.txt {u}/", "-s -c jar.txt -L {u}/login",
    "-s -b none.txt -c jar.txt {u}/login {u}/again -L", "-s -X DELETE {u}/thing", "-sXOPTIONS {u}/",
    "-s -r 0-4 {u}/range", "-s -r -4 {u}/range", "-s -r 5- -o part {u}/range", "-s -z '1 Jan 2026' {u}/",
    "-s -z data.txt {u}/", "-s -z '-1 Jan 2026' {u}/", "-s --compressed {u}/gzip", "-s -f {u}/error",
    "-s {u}/error", "-s -f -o err.txt {u}/error", "-s -m 20 --connect-timeout 5 {u}/",
    "-s -w '%{http_code} %{size_download} %{content_type}\\n' {u}/x",
    "-s -o /dev/null -w '%{response_code}:%{num_redirects}:%{url_effective}' -L {u}/redirect",
    "-s -w '%header{x-answer}' {u}/", "-s -G -d q=a -d r=b {u}/search",
    "-s -G --data-urlencode 'q=a b&c' {u}/search?x=1", "-s -d a=b {u}/form", "-s -x '' {u}/direct",
    "-s --noproxy '*' {u}/direct", "-s -x {h} http://far.example/page",
    "-s -x {h} -U u:p http://far.example/page", "-s -k {u}/", "-s --http1.1 {u}/",
    "-s --resolve far.example:{p}:127.0.0.1 http://far.example:{p}/x", "-s -R -O {u}/dated",
    "-s -T data.txt {u}/put/", "-s -T - {u}/put", "-s --max-redirs 3 -L {u}/redirect", "-sg {u}/x",
    "-s -T data.txt {u}/1 -T noending {u}/2", "-s -T data.txt {u}/1 {u}/2", "-s --url {u}/1 -o a {u}/2 -o b",
    "-s -O {u}/1 -o x {u}/2", "-s -O {u}/1 {u}/2", "-s -T data.txt {u}", "-s -T data.txt {u}/dir/?q=1",
    "-s -T data.txt {u}?q=1", "-s -T data.txt {u}/dir/#part", "-s -G {u}/search", "-s -G -d a=b {u}/search?",
    "-s -G -d a=b {u}/search?c=d&", "-s -H 'User-Agent: mine' -A other {u}/", "-s -r 5 {u}/range",
    "-s -r 0,5 {u}/range", "-s -H 'Referer: http://a/' -e http://b/ {u}/", "-s -H 'Cookie: a=b' -b c=d {u}/",
    "-s -H 'Cookie:' -b c=d {u}/", "-s -u :pw {u}/", "-s -u : {u}/", "-s -u '' {u}/",
    "-s -z none -o none {u}/", "-s -z '-no date' {u}/", "-s -w @data.txt {u}/",
    "-s --max-redirs -1 -L {u}/redirect", "-s --netrc-file two.netrc http://z@{h}/",
    "-s --netrc-file two.netrc {u}/", "-s --netrc-optional --netrc-file two.netrc http://z:other@{h}/",
    "-s -H 'User-Agent:' -A other {u}/", "-s -H 'Range: bytes=0-1' -r 2-3 {u}/range", "-s -i {u}/x",
    "-s -i -o out.txt {u}/x", "-s -I {u}/x", "-s -I -o head.txt {u}/x", "-s -D head.txt {u}/x",
    "-s -D head.txt -o body.txt {u}/x", "-s -D - -o body.txt {u}/x", "-s -i {u}/error",
    "-s -D head.txt {u}/error", "-s -i -L {u}/redirect", "-s -I -L {u}/redirect", "-s -f -i {u}/error",
    "-s -L -D head.txt {u}/redirect {u}/error", "-s -L -D - -o out.txt {u}/redirect", "-s -i {u}/raw",
    "-s -i --digest -u anna:secret {u}/digest", "-s -i -L --max-redirs 0 {u}/redirect", "-s -i {u}/trailers",
    "-s -i -o out.txt {u}/trailers", "-s -D head.txt {u}/trailers",
    "-s -w %{size_header}:%{num_headers} {u}/raw", "-s -w %{size_header} -L {u}/trailers",
    "-s -C - -o new {u}/range", "-s -C - -O {u}/range", "-s -C 10 -o tail {u}/range", "-s --http2 {u}/",
    "-s --http2-prior-knowledge {u}/", "-s -4 -6 {u}/x", "-s -6 -4 {u}/x", "-s -4 http://localhost:{p}/x",
    "-s --ipv6 {u}/x", "-s --connect-to far.example:80:127.0.0.1:{p} http://far.example/x",
    "-s --connect-to other.example:80:127.0.0.1:1 --connect-to ::localhost:{p} http://far.example/x",
    "-s --connect-to far.example::near.example: --resolve near.example:{p}:127.0.0.1 http://far.example:{p}/x",
    "-s -L --connect-to far.example:80:127.0.0.1:{p} http://far.example/redirect",
  ].filter(CurlComparison.isModel)

  static let postLines = [
    "-s -d a=b {u}/form", "-s -d a=b -d c=d {u}/form", "-sda=b {u}/form", "-s -d @data.txt {u}/form",
    "-s --data-binary @data.txt {u}/form", "-s --data-raw @data.txt {u}/form", "-s -d @- {u}/form",
    "-s --data-urlencode 'a=b c/d' --data-urlencode '=x&y' {u}/form",
    "-s --data-urlencode a@data.txt -d z=1 --data-urlencode 'last one' {u}/form",
    "-s --data-urlencode 'a= ' -d b=1 --data-raw @c -d d {u}/form",
    "-s -d a=b -H 'Content-Type: text/plain' {u}/form", "-s -d a=b -H 'Content-Type:' {u}/form",
    "-s --json '{\"a\":1}' {u}/json", "-s --json @data.txt {u}/json",
    "-s --json '{\"a\":' --json '1}' {u}/json", "-s --json '{}' -H 'Accept: text/plain' {u}/json",
    "-s -F a=b -F c=d {u}/form", "-s -F file=@data.txt {u}/form",
    "-s -F 'file=@data.txt;type=text/csv;filename=b.csv' {u}/form", "-s -F 'text=<data.txt' {u}/form",
    "-s -F pic=@picture.png -F bin=@noending {u}/form",
    "-s -F 'a=x;type=text/html' --form-string 'b=@x;y' {u}/form",
    "-s -F 'a=x;type=text/html; charset=utf-8' {u}/form", "-s -F 'a=\"a;b\"' {u}/form",
    "-s -F 'a= b ' {u}/form", "-s -F 'a=@data.txt;filename=\"a;b\"' {u}/form",
    "-s -F 'a=@\"data.txt\";type=text/x; y=z;filename=q' {u}/form", "-s -F 'a=text;filename=f.png' {u}/form",
    "-s -F 'a=<\"data.txt\"' {u}/form", "-s -X PUT -d a=b {u}/form", "-s -X PATCH --json '{}' {u}/json",
    "-s -u anna:secret -d a=b {u}/form", "-s -d a=b -o out.txt {u}/form", "-s -d '' {u}/form",
    "-s -d a=b {u}/error -w %{http_code}", "-s -d -5 {u}/form", "-s -d a=b -L {u}/see-other",
  ]

  /// What `--curl` prints is run by a shell.
  static let printedLines = [
    "-s -x {h} -U u:p http://far.example/page", "-s -b cookies.txt {u}/", "-s -c jar.txt -L {u}/login",
    "-sOJ {u}/named", "-s --output-dir sub --create-dirs -o deep/file {u}/x", "-s -R -O {u}/dated",
    "-s --resolve far.example:{p}:127.0.0.1 http://far.example:{p}/x", "-s -H 'Accept:' {u}/",
    "-s -4 --connect-to ::127.0.0.1:{p} http://far.example/x", "-s -w '%{http_code} a$b\\n' {u}/x",
    "-s -f {u}/error", "-s -o a {u}/1 -o b {u}/2", "-s -C - -o part {u}/range",
    "-s --max-redirs 0 -L {u}/redirect", "-s --noproxy '*' {u}/direct",
    "-s -A '' -e http://from.example/ {u}/", "-s -u anna:secret {u}/",
    "-s --digest -u anna:secret {u}/digest", "-s -n {u}/", "-s -z data.txt {u}/", "-s -G -d a=b {u}/search",
    "-s -T data.txt {u}/put/", "-s -m 20 --connect-timeout 1.5 --retry 1 {u}/", "-s -d a=b -d c=d {u}/form",
    "-s -F file=@data.txt {u}/form", "-s --json '{}' {u}/json",
  ]

  @Test(arguments: printedLines) func `the printed command does what curl does`(line: String) throws {
    try CurlComparison().expectSame("get --curl", line)
  }

  @Test func `the printed command has every option`() throws {
    let options = """
      --compressed --max-time 5 --retry 5 --limit-rate 5120 --proxy http://p:1 --proxy-user a:b --noproxy h --insecure \
      --cacert ca --capath dir --resolve h:80:127.0.0.1,[::1] --unix-socket s --connect-timeout 0.250 --http1.1 --location \
      --max-redirs 3 --cookie jar --cookie-jar new --remote-name --continue-at - --create-dirs --remote-time --fail --silent --show-error --verbose --no-progress-meter --progress-bar --no-buffer \
      --output-dir d --dump-header head --write-out %{http_code}
      """.split(separator: " ").map(String.init)
    let words = ["get", "--curl", "http://h/", "--cert", "c:pw", "--key", "k"] + options
    let end = try Tool.run(words)
    let quoted = options.map(ResumeCommand.quoted).joined(separator: " ")
    #expect(end.exit == .status(0) && end.output.hasSuffix(" 'http://h/' \(quoted)\n"), "\(end)")
    #expect(end.output.contains("--cert 'c:pw' --key 'k'"))
    let named = try Tool.run(["get", "--curl", "http://h/", "-i", "-OJ"])
    #expect(named.output.hasSuffix(" --include --remote-name --remote-header-name\n"), "\(named)")
    let blank = try Tool.run(["get", "--curl", "http://h/a b", "-G", "-d", "q=1 2"])
    #expect(blank.output.contains("'http://h/a%20b?q=1%202'"), "\(blank)")
    let refused = try Tool.run(["get", "--curl", "http://h/", "-H", "Content-Length: 3"])
    #expect(refused.exit == .status(64) && refused.output.isEmpty, "\(refused)")
  }

  @Test(arguments: getLines) func `get does what curl does`(line: String) throws {
    try CurlComparison().expectSame("get", line)
  }

  @Test(arguments: postLines) func `post does what curl does`(line: String) throws {
    try CurlComparison().expectSame("post", line)
  }
}
