import Glibc

/// A `.netrc`: users and passwords by host (netrc(5), as curl reads it). Read here, as libcurl would take it for redirects
/// to other machines as well, and looks at neither owner nor mode.
struct Netrc: Sendable {
  struct Account: Equatable, Sendable {
    var user = ""
    var password = ""
  }

  /// What is said of a file that others may read or change.
  /// - Parameter stranger: its owner, by number; nil when it is ours.
  static func exposed(_ path: String, to stranger: uid_t?) -> Mistake {
    if let stranger {
      let owners = "belongs to user \(stranger), and must be yours, user \(geteuid())"
      return Mistake("\(path) \(owners): whoever has it may change who you are", .localIO)
    }
    return Mistake("others may read \(path): 'chmod 600 \(path)' keeps the passwords in it to you", .localIO)
  }

  private var accounts: [(host: String, account: Account)] = []
  private var standard: Account?

  /// Nil when there is none.
  static func read(_ path: String) throws -> Netrc? {
    guard let text = try UserFile.read(path), let facts = FileFacts(path: path) else { return nil }
    let isOurs = facts.owner == geteuid()
    guard isOurs, facts.isPrivate else { throw exposed(path, to: isOurs ? nil : facts.owner) }
    return Netrc(text)
  }

  init(_ text: String) {
    var words = Words(text)
    var host: String?
    var account = Account()
    var isDefault = false
    func taken(_ netrc: inout Netrc) {
      if isDefault { netrc.standard = account } else if let host { netrc.accounts.append((host, account)) }
    }
    while let word = words.next() {
      switch word {
      case "machine", "default":
        taken(&self)
        (host, account, isDefault) = (word == "machine" ? words.next() : nil, Account(), word == "default")
      case "login": account.user = words.next() ?? ""
      case "password": account.password = words.next() ?? ""
      case "account": _ = words.next()
      case "macdef": words.skipMacro()
      default: continue
      }
    }
    taken(&self)
  }

  /// The first of the host, else that of all hosts.
  /// - Parameter user: the user that the URL names: then only an account of that user, or one that names none.
  func account(for host: String, user: String? = nil) -> Account? {
    let own = accounts.filter { $0.host.lowercased() == host.lowercased() }.map(\.account)
    let all = own + (standard.map { [$0] } ?? [])
    guard let user else { return all.first }
    let account = all.first { $0.user == user || $0.user.isEmpty }
    return account.map { Account(user: user, password: $0.password) }
  }

  /// - Parameter yieldsToURL: a password in the URL wins, as with `--netrc-optional`.
  func account(of url: String, yieldsToURL: Bool) -> Account? {
    let named = URLText.user(url)
    if yieldsToURL, named?.password != nil { return nil }
    return account(for: URLText.host(url), user: named?.name)
  }

  /// Words between blanks, or in quotes with `\n`, `\r`, `\t`, `\"`. `#` begins a comment at the start of a line.
  private struct Words {
    private var rest: Substring

    init(_ text: String) { rest = text[...] }

    mutating func next() -> String? {
      rest = rest.drop(while: \.isWhitespace)
      while rest.first == "#" { rest = rest.drop { !$0.isNewline }.drop(while: \.isWhitespace) }
      guard let first = rest.first else { return nil }
      if first == "\"" {
        rest.removeFirst()
        return rest.popQuoted().text
      }
      let word = rest.prefix { !$0.isWhitespace }
      rest = rest[word.endIndex...]
      return String(word)
    }

    /// Up to an empty line.
    mutating func skipMacro() {
      while let end = rest.firstIndex(where: \.isNewline) {
        rest = rest[rest.index(after: end)...]
        if rest.first?.isNewline ?? true { return }
      }
      rest = rest[rest.endIndex...]
    }
  }
}
