/// The evidence of one round: about one width of answers.
struct SizingRound: Sendable {
  var answers = 0
  var failures = 0
  var latencySum = 0.0
  var latencyMin = Double.infinity
  /// The limit was reached: more would have been asked for.
  var isSaturated = false
  /// Bodies that took longer than their heads, and the least that one of them was stretched.
  var longBodies = 0
  var stretchMin = Double.infinity
  var finished = 0
  var newConnections = 0

  mutating func take(latency: Double) {
    answers += 1
    latencySum += latency
    latencyMin = min(latencyMin, latency)
  }

  mutating func take(_ transport: OriginSizing.Transport, stretch: Double?) {
    finished += 1
    if transport.isConnectionNew { newConnections += 1 }
    guard let stretch, transport.seconds > latencySum / Double(max(answers, 1)) else { return }
    longBodies += 1
    stretchMin = min(stretchMin, stretch)
  }

  /// The bodies take more time than the answers' beginnings, and this many times more than they need.
  var stretch: Double { longBodies * 2 > finished ? stretchMin : 1 }

  /// The origin closes its connections, so that each answer costs a new one.
  var isChurning: Bool { newConnections * 2 > finished }
}
