import ArgumentParser
import NetSpool
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

/// What is made of a command line before the parser sees it.
@Suite struct CommandWordsTests {
  @Test(
    arguments: [
      ("get -sSLo out u", "get -s -S -L --output=out --url=u"),
      ("get -XPOST u", "get --request=POST --url=u"), ("get -C - u", "get --continue-at=- --url=u"),
      ("get -r -500 u", "get --range=-500 --url=u"), ("get -o", "get --output"),
      ("get --output", "get --output"), ("get -H A:b -- -x", "get --header=A:b --url=-x"),
      ("fetch -- -x", "fetch -- -x"), ("get --max-time 5 u", "get --max-time=5 --url=u"),
      ("get - u", "get --url=- --url=u"), ("fetch -h", "fetch -h"), ("cache stats -sS", "cache stats -sS"),
      ("fetch l --json -o x", "fetch l --json --output=x"), ("", ""),
    ])
  func `short options and values are written out`(line: String, canonical: String) {
    let words = line.split(separator: " ").map(String.init)
    let unmarked = CommandWords.canonical(words).map { word in
      guard let mark = word.firstIndex(of: "\0"), let equals = word.firstIndex(of: "=") else { return word }
      return String(word[...equals] + word[word.index(after: mark)...])
    }
    #expect(unmarked == canonical.split(separator: " ").map(String.init))
  }

  @Test func `files belong to URLs in the order of the command line`() throws {
    let words = CommandWords.canonical([
      "get", "-O", "http://h/1", "-T", "a", "-o", "x", "--url", "http://h/2", "h/3", "-T", "b", "-sO",
    ])
    let exchange = try GetCommand.parse(Array(words.dropFirst()))
    #expect(exchange.words.arguments == ["http://h/1", "http://h/2", "http://h/3"])
    #expect(exchange.target.output == [TargetOptions.remoteName, "x", TargetOptions.remoteName])
    #expect(exchange.body.uploads == ["a", "b"])
  }

  /// An option that a command does not declare would be refused, though the table has it.
  @Test(arguments: [FetchCommand.self, GetCommand.self, PostCommand.self] as [any ParsableCommand.Type])
  func `a command has the options of the table and no others`(command: any ParsableCommand.Type) {
    var names: Set<String> = []
    let help = command.helpMessage(includeHidden: true, columns: 400)
    for line in help.split(separator: "\n") where line.hasPrefix("  -") {
      for word in line.split(whereSeparator: { ", /".contains($0) }).prefix(while: { $0.hasPrefix("-") }) {
        names.insert(String(word.drop { $0 == "-" }))
      }
    }
    #expect(
      names.subtracting(["h", "help", "version"])
        == OptionTable.names(of: command.configuration.commandName ?? ""))
  }

  @Test(
    arguments: [
      ("fetc", "fetch"), ("gte", "get"), ("docter", "doctor"), ("pots", "post"), ("frozen lst", "list"),
      ("cache stat", "stats"), ("report merg", "merge"), ("help fetc", "fetch"), ("help frozen thwa", "thaw"),
      ("frozen list", nil), ("help frozen list", nil), ("frozen", nil), ("cache --help", nil), ("help", nil),
      ("get lst", nil), ("report merge x", nil), ("--help", nil), ("", nil),
    ] as [(String, String?)])
  func `a command that is not there is suggested`(line: String, meant: String?) {
    let word = line.replacing("help ", with: "")
    let sentence = meant.map { "there is no command '\(word)'; did you mean '\($0)'?" }
    #expect(NetSpoolTool.mistaken(line.split(separator: " ").map(String.init)) == sentence)
  }

  @Test(
    arguments: [
      ("get --loc u", "there is no option '--loc'; did you mean '--location'?"),
      ("get -O --outptu=x u", "there is no option '--outptu'; did you mean '--output'?"),
      ("--versoin", "there is no option '--versoin'; did you mean '--version'?"),
      ("cache stats --jso", "there is no option '--jso'; did you mean '--json'?"),
      ("get --xyzzy u", "there is no option '--xyzzy'; 'netspool get --help' lists them"),
      ("fetch l -- --nothing", nil), ("get -H --nothing -o --loc u", nil), ("get -O --output x -d --x", nil),
      ("fetch l --json --shard 1/2", nil), ("help get", nil), ("--help", nil),
    ] as [(String, String?)])
  func `an option that is not there is suggested`(line: String, sentence: String?) {
    let words = CommandWords.canonical(line.split(separator: " ").map(String.init))
    #expect(NetSpoolTool.unknownOption(words) == sentence)
  }

  @Test(
    arguments: [
      ("fetch -v l", "fetch has no option '-v': 'netspool get -v' shows"),
      ("fetch l -qO", "fetch has no option '-O': --output names a folder"),
      ("fetch -C - l", "fetch has no option '-C': large files go on"),
      ("fetch -d a=b l", "fetch has no option '-d': it sends no bodies"),
      ("get -Z u", "get has no option '-Z': 'netspool fetch' takes a list"),
      ("get -y u", "get has no option '-y'; 'netspool get --help' lists them"),
      ("get -sK file u", nil), ("post -0 u", "post has no option '-0': HTTP/1.1 is"),
      ("fetch -qH -v:x -o -O -b a=b l", nil), ("get -sSLo -K -w -4 u", nil), ("get -O -- -K", nil),
      ("fetch -h", nil), ("fetch --failed -v l", nil), ("cache stats -v", nil), ("", nil),
    ] as [(String, String?)])
  func `a letter that is no option is named, with what there is instead`(line: String, begin: String?) {
    let sentence = CommandWords.unknownLetter(line.split(separator: " ").map(String.init))
    #expect(begin.map { sentence?.hasPrefix($0) == true } ?? (sentence == nil), "\(sentence ?? "none")")
  }

  @Test func `a URL without a command gets advice`() {
    #expect(NetSpoolTool.mistaken(["https://h/"])?.contains("netspool get https://h/") == true)
  }
}

@Suite struct NetrcTests {
  private static let text = """
    # mine
    machine a.example login anna password "pass \\"word\\" \\n"
    macdef init
    machine ghost login x password y

    machine b.example
      login ben
      password secret
    default login nobody password none
    """

  @Test(
    arguments: [
      ("a.example", .init(user: "anna", password: "pass \"word\" \n")),
      ("B.example", .init(user: "ben", password: "secret")),
      ("ghost", .init(user: "nobody", password: "none")),
    ] as [(String, Netrc.Account)])
  func `accounts are found by their hosts`(host: String, account: Netrc.Account) {
    #expect(Netrc(Self.text).account(for: host) == account)
  }

  @Test(
    arguments: [
      ("http://z@h/", "z", "pz"), ("http://h/", "a", "pa"), ("http://z:other@h/", "z", "pz"),
      ("http://d@h/", "d", "pd"), ("http://z%40y@h/", "z@y", "py"), ("http://stranger@h/", nil, nil),
      ("http://anybody@i/", "anybody", "pi"),
    ] as [(String, String?, String?)])
  func `the user of a URL has an account of his own`(url: String, user: String?, password: String?) {
    let netrc = Netrc(
      """
      machine h login a password pa machine h login z password pz machine h login z@y password py
      machine i password pi default login d password pd
      """)
    let named = URLText.user(url)
    let account = netrc.account(for: URLText.host(url), user: named?.name)
    #expect(account?.user == user && account?.password == password)
    #expect(netrc.account(of: url, yieldsToURL: false) == account)
    let yielding = netrc.account(of: url, yieldsToURL: true)
    #expect((yielding == nil) == (user == nil || named?.password != nil))
  }

  @Test(arguments: ["", "machine", "machine h", "login", "machine h login", "\"", "macdef x\n"])
  func `half a file is no crash`(text: String) { _ = Netrc(text).account(for: "h") }

  @Test func `a file that others may read is refused`() throws {
    let folder = try TestFolder()
    try folder.write("netrc", Array(Self.text.utf8), permissions: 0o644)
    #expect(throws: Netrc.exposed(folder["netrc"], to: nil)) { try Netrc.read(folder["netrc"]) }
    #expect(try Netrc.read(folder["none"]) == nil)
  }
}

@Suite(.measured) struct ContentDispositionTests {
  @Test(
    arguments: [
      ("attachment; filename=a.txt", "a.txt"), ("attachment; filename=\"a b.txt\"; x=y", "a b.txt"),
      ("Attachment; FileName=\"../../etc/passwd\"", "passwd"),
      ("attachment; filename=\"\\\"q\\\"\"", "\"q\""), ("attachment; filename=C:\\dir\\a.txt", "a.txt"),
      ("attachment", nil), ("attachment; filename=\"\"", nil), ("attachment; filename=..", "_"),
      ("attachment; filename=\"-rf\"", "_rf"), ("attachment; filename=a b.txt ; x=y", "a b.txt"),
      ("attachment; filename=\"a;b.txt\"", "a;b.txt"),
      ("attachment; x=\"filename=no\"; filename=yes", "yes"), ("attachment; notfilename=no", nil),
      ("attachment; xfilename=no; filename=yes", "yes"), ("filename=a.txt", "a.txt"),
      ("attachment; filename='a b.txt'", "'a b.txt'"),
      ("attachment; filename=plain; filename*=UTF-8''caf%C3%A9.txt", "caf\u{E9}.txt"),
      ("attachment; filename*=iso-8859-1'en'caf%E9.txt; filename=plain", "caf\u{E9}.txt"),
      ("attachment; filename*=UTF-8''%FF; filename=plain", "plain"),
      ("attachment; filename*=koi8-r''%C1; filename=plain", "plain"),
      ("attachment; filename*=UTF-8''..%2Fetc%2Fpasswd", "passwd"),
      ("attachment; filename=.bashrc", "_bashrc"), ("attachment; filename=\"a/...\"", "_.."),
      ("attachment; filename*=UTF-8''%2Eprofile; filename=plain", "_profile"),
    ] as [(String, String?)])
  func `names are plain ones`(field: String, name: String?) {
    #expect(ContentDisposition.fileName(field) == name)
  }

  /// Characters of which many are slow to count, to compare, or to find the last of.
  @Test(arguments: ["a", "\u{300}\u{316}", "\u{1F1E9}"], ["X", "filename=", "filename=\""])
  func `long fields take no longer than their length`(piece: String, start: String) {
    let field = start + String(repeating: piece, count: (60 << 10) / piece.utf8.count)
    expect(work { _ = ContentDisposition.fileName(field) }, within: .milliseconds(500))
  }
}
