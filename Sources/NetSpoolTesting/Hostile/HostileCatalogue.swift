/// Everything an origin can do wrong, by name, for tests that go through the list. What a client should make of
/// each is the client's matter; most of them it should refuse.
public enum HostileCatalogue {
  /// All behaviours, group by group.
  public static let all: [HostileBehaviour] =
    framing + headers + status + chunks + transport + coding + redirects + requests

  /// The behaviour of this name.
  public static func named(_ name: String) -> HostileBehaviour? { all.first { $0.name == name } }

  /// The behaviours of this group.
  public static func group(_ group: HostileBehaviour.Group) -> [HostileBehaviour] {
    all.filter { $0.group == group }
  }
}

extension ScriptedOrigin {
  /// An origin that serves the whole ``HostileCatalogue``.
  ///
  /// - Throws: ``OriginError`` when the system gives no socket or thread.
  public static func hostile(limits: OriginLimits = OriginLimits()) throws(OriginError) -> ScriptedOrigin {
    let origin = try ScriptedOrigin(limits: limits)
    origin.serveHostile()
    return origin
  }

  /// Serves each behaviour of the catalogue at `/hostile/<name>`, and at `/hostile/ok` a correct answer, `ok`: what
  /// a test asks for to see that its client is still alive.
  public func serveHostile() {
    on("/hostile/ok", .text("ok"))
    on(prefix: "/hostile/redir_chain/", HostileCatalogue.nextOfChain)
    for behaviour in HostileCatalogue.all {
      on(behaviour.path, behaviour.answer)
      if let headAnswer = behaviour.headAnswer { onHead(behaviour.path, headAnswer) }
    }
  }
}
