#if Tracing
internal import Tracing

/// The spans of an operation (trait `Tracing`): one from `enqueue` to its end, and below it one for each exchange, whose
/// context goes along with the request (`traceparent`, or whatever the tracer injects). Attributes by OpenTelemetry's
/// semantic conventions for HTTP clients.
struct OperationTrace: Sendable {
  private let span: any Span

  /// On the thread that enqueues: below the span of the task that does. An attempt to send a frozen request is below that of
  /// the operation which waits for it.
  init(of request: NetworkRequest, below letter: OperationTrace?) {
    let context = letter?.span.context ?? ServiceContext.current ?? .topLevel
    let method = request.method.known ?? "HTTP"
    span = InstrumentationSystem.tracer.startSpan("NetSpool \(method)", context: context, ofKind: .internal)
    span.attributes.set(request.method)
    span.attributes["url.full"] = Redaction.standard.url(request.url)
  }

  /// Another exchange begins: its span, and the fields that tell the origin of it.
  func exchange(_ method: Method, _ url: String, number: Int) -> ExchangeTrace {
    ExchangeTrace(span.context, method, url, number: number)
  }

  func end(_ result: Result<NetworkResponse, NetworkError>) {
    if let answer = result.answer {
      span.attributes["http.response.status_code"] = Int64(answer.status)
      span.attributes["netspool.source"] = answer.source.rawValue
    }
    if case .failure(let error) = result {
      span.attributes["error.type"] = error.type
      span.setStatus(SpanStatus(code: .error, message: error.code.description))
    }
    span.end()
  }
}

/// The span of an exchange.
struct ExchangeTrace: Sendable {
  private let span: any Span
  let fields: Headers

  fileprivate init(_ context: ServiceContext, _ method: Method, _ url: String, number: Int) {
    span = InstrumentationSystem.tracer.startSpan(method.known ?? "HTTP", context: context, ofKind: .client)
    span.attributes.set(method)
    span.attributes["url.full"] = Redaction.standard.url(url)
    if let origin = try? URLParser.parse(url).pieces.origin {
      span.attributes["server.address"] = origin.host
      span.attributes["server.port"] = Int64(origin.port)
    }
    if number > 1 { span.attributes["http.request.resend_count"] = Int64(number - 1) }
    var fields = Headers()
    InstrumentationSystem.instrument.inject(span.context, into: &fields, using: FieldInjector())
    self.fields = fields
  }

  func end(_ head: ResponseHead?, _ failure: NetworkError?) {
    if let head {
      span.attributes["http.response.status_code"] = Int64(head.status)
      span.attributes["network.protocol.version"] = String(head.httpVersion.dropFirst(5))
      if head.status >= 400 {
        span.attributes["error.type"] = "\(head.status)"
        span.setStatus(SpanStatus(code: .error))
      }
    }
    if let failure {
      span.attributes["error.type"] = failure.type
      span.setStatus(SpanStatus(code: .error, message: failure.code.description))
    }
    span.end()
  }
}

extension SpanAttributes {
  fileprivate mutating func set(_ method: Method) {
    self["http.request.method"] = method.known ?? "_OTHER"
    if method.known == nil { self["http.request.method_original"] = method.name }
  }
}

private struct FieldInjector: Injector {
  func inject(_ value: String, forKey key: String, into carrier: inout NetworkRequest.Headers) {
    carrier.set(key, value)
  }
}
#endif
