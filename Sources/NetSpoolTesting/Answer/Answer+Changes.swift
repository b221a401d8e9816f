/// Changed copies, to be chained.
extension Answer {
  /// With one more header field.
  public func header(_ name: String, _ value: String) -> Answer {
    changed { $0.headers.append(HeaderField(name, value)) }
  }

  /// With this reason phrase.
  public func reason(_ reason: String) -> Answer { changed { $0.reason = reason } }

  /// With this framing of the body.
  public func framed(_ framing: AnswerFraming) -> Answer { changed { $0.framing = framing } }

  /// Begun only after this time.
  public func delay(_ time: Duration) -> Answer { changed { $0.delay = time } }

  /// Sent at this many bytes a second.
  public func throttle(_ bytesPerSecond: Int) -> Answer { paced(.bytesPerSecond(bytesPerSecond)) }

  /// Sent in writes of `size` bytes, head included, with this time between them.
  public func slice(_ size: Int, every interval: Duration = .zero) -> Answer {
    paced(.slices(of: size, every: interval))
  }

  /// Sent at this pace, or only its body.
  public func paced(_ pace: Pace, bodyOnly: Bool = false) -> Answer {
    changed {
      $0.pace = pace
      $0.pacesBodyOnly = bodyOnly
    }
  }

  /// Stopped after this many bytes of the body until ``ScriptedOrigin/releaseAll()``.
  public func stallAfter(_ bodyBytes: Int) -> Answer { fault(.stall, at: .body(bodyBytes)) }

  /// Reset after this many bytes of the body.
  public func resetAfter(_ bodyBytes: Int) -> Answer { fault(.reset, at: .body(bodyBytes)) }

  /// Cut off, by an orderly close, after this many bytes of the body.
  public func closeAfter(_ bodyBytes: Int) -> Answer { fault(.close, at: .body(bodyBytes)) }

  /// With this fault at this place. Several may be given.
  public func fault(_ action: FaultAction, at point: FaultPoint) -> Answer {
    changed { $0.faults.append(Fault(action, at: point)) }
  }

  /// Sent as soon as the request's head is there, whatever is still to come of its body.
  public func early() -> Answer { changed { $0.isEarly = true } }

  /// With `Connection: close`, and closed behind the answer.
  public func closing() -> Answer { changed { $0.closesConnection = true } }

  private func changed(_ change: (inout Answer) -> Void) -> Answer {
    var copy = self
    change(&copy)
    return copy
  }
}
