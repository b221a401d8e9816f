/// Settings; they count until the operation is enqueued and are ignored afterwards, except for `priority`.
extension NetworkOperation {
  /// Changes the request as a value. The closure must not use the operation itself, whose lock is held.
  @discardableResult
  public func configure(_ change: (inout NetworkRequest) -> Void) -> Self {
    edit(change)
    return self
  }

  /// Replaces every field of a name by one.
  @discardableResult
  public func setHeader(_ name: String, _ value: String) -> Self { configure { $0.headers.set(name, value) } }

  /// Adds a field.
  @discardableResult
  public func addHeader(_ name: String, _ value: String) -> Self { configure { $0.headers.add(name, value) } }

  /// `Authorization: <scheme> <token>`; the scheme is `Bearer` unless told otherwise.
  @discardableResult
  public func setAuthorization(_ token: String, scheme: String = "Bearer") -> Self {
    setHeader("Authorization", "\(scheme) \(token)")
  }

  /// A user name and password for this request alone. Digest is answered if the origin offers it, else Basic;
  /// with `preemptive`, false by default, Basic goes with the first request already. Over plain HTTP Basic needs
  /// `allowsCredentialsInClear`.
  @discardableResult
  public func setCredentials(user: String, password: String, preemptive: Bool = false) -> Self {
    setCredentials(
      preemptive ? .basic(user: user, password: password) : .password(user: user, password: password))
  }

  /// Sets the account that this request is sent for, instead of the engine's.
  @discardableResult
  public func setCredentials(_ credentials: NetworkCredentials) -> Self {
    configure { $0.credentials = credentials }
  }

  /// Adds a pair to the query or the body, by the method.
  @discardableResult
  public func addParameter(_ name: String, _ value: some LosslessStringConvertible) -> Self {
    configure { $0.parameters.append(name, value) }
  }

  /// Replaces the body. A GET becomes a POST.
  @discardableResult
  public func setBody(_ body: NetworkRequest.Body) -> Self {
    configure { request in
      if case .none = body {} else if request.method == .get { request.method = .post }
      request.body = body
    }
  }

  /// Adds a file to a multipart body; the request becomes a POST if it was a GET.
  @discardableResult
  public func addFile(
    _ path: String, forKey key: String, mimeType: String? = nil, fileName: String? = nil
  ) -> Self {
    editMultipart { $0.addFile(path, forKey: key, mimeType: mimeType, fileName: fileName) }
  }

  /// Adds bytes to a multipart body; the request becomes a POST if it was a GET.
  @discardableResult
  public func addData(
    _ bytes: some Sequence<UInt8>, forKey key: String, mimeType: String? = nil, fileName: String? = nil
  ) -> Self {
    editMultipart { $0.addData(bytes, forKey: key, mimeType: mimeType, fileName: fileName) }
  }

  private func editMultipart(_ change: (inout Multipart) -> Void) -> Self {
    configure { request in
      if request.method == .get { request.method = .post }
      var multipart = Multipart()
      if case .multipart(let own) = request.body { multipart = own }
      change(&multipart)
      request.body = .multipart(multipart)
    }
  }

  /// Sends what a stream gives. A GET becomes a POST.
  @discardableResult
  public func setUploadStream(_ stream: any UploadStream, contentType: String? = nil) -> Self {
    setBody(.stream(stream, contentType: contentType))
  }

  /// Adds a destination of the body; with streams, no body is kept in memory.
  @discardableResult
  public func addDownloadStream(_ stream: any DownloadStream, onFailure: StreamFailurePolicy = .failOperation)
    -> Self
  {
    if (stream as? FileDownloadStream)?.isDigestMalformed == true {
      fail(FileDownloadStream.malformedDigest)
    }
    attach(StreamAttachment(stream, policy: onFailure))
    return self
  }

  /// Starts only after the other has ended, whatever its end. Enqueue the other as well: nothing else ends this wait but
  /// ``NetworkRequest/Timeouts/queueDeadline`` and a cancel. What would close a cycle is not added, and the operation ends with
  /// `.invalidRequest` when it is enqueued.
  @discardableResult
  public func addDependency(_ other: NetworkOperation) -> Self {
    wait(behind: other)
    return self
  }

  /// `.normal` by default; may be changed while it waits.
  public var priority: NetworkRequest.Priority {
    get { request.priority }
    set { changePriority(to: newValue) }
  }

  /// A name of your own, to cancel by, and to remove from the cache by; may be changed while it is under way.
  public var tag: String? {
    get { request.tag }
    set { changeTag(to: newValue) }
  }

  /// A setting of the request: see ``NetworkRequest``. What changes a part of one, `headers["A"] = "b"`, reads it and sets it:
  /// where several threads do so, ``configure(_:)`` is one step.
  public subscript<Value>(dynamicMember setting: WritableKeyPath<NetworkRequest, Value>) -> Value {
    get { request[keyPath: setting] }
    set { configure { $0[keyPath: setting] = newValue } }
  }
}
