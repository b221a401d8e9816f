/// Reading and writing what is held. Any thread.
extension EngineCache {
  func held(for question: CacheQuestion) -> HeldAnswer? {
    let primary = question.primaryKey
    guard let hit = store.lookup(primary) else { return nil }
    switch hit.withMetadata({ PrimaryEntry(decoding: $0, rules: rules) }) {
    case .response(let stored):
      return isWhole(stored, hit, primary) ? HeldAnswer(key: primary, stored: stored, hit: hit) : nil
    case .variants(let index): return variant(index, question)
    case nil:
      store.remove(primary)
      return nil
    }
  }

  private func variant(_ index: VariantIndex, _ question: CacheQuestion) -> HeldAnswer? {
    let key = StoreKey(CacheKey.variant(index, of: question.primaryKey.fullKey, headers: question.fields))
    guard let hit = store.lookup(key),
      let stored = hit.withMetadata({ StoredResponse(decoding: $0, rules: rules) }),
      isWhole(stored, hit, key)
    else { return nil }
    return HeldAnswer(key: key, stored: stored, hit: hit)
  }

  /// What says something else of its body goes.
  private func isWhole(_ stored: StoredResponse, _ hit: StoreHit, _ key: StoreKey) -> Bool {
    if stored.bodyBytes == hit.body.count { return true }
    store.remove(key)
    return false
  }

  /// Stores a whole answer in place of what was held.
  func put(_ entry: StoredResponse, _ body: [UInt8], for question: CacheQuestion) {
    var entry = entry
    entry.bodyBytes = Int64(body.count)
    guard let key = key(for: entry, question) else { return }
    store.put(key, namespace: settings.namespace, metadata: entry.encode(), body: body)
  }

  private func key(for entry: StoredResponse, _ question: CacheQuestion) -> StoreKey? {
    guard entry.facts.flags.contains(.varies) else { return question.primaryKey }
    guard let vary = VaryFields(entry.headers) else { return nil }
    return vary.isEmpty ? question.primaryKey : StoreKey(variantKey(vary, question))
  }

  /// Where this variant stands; the index of the variants is made if it is not there or names other fields.
  private func variantKey(_ vary: VaryFields, _ question: CacheQuestion) -> [UInt8] {
    let primary = question.primaryKey
    let entry = store.lookup(primary).flatMap { $0.withMetadata { PrimaryEntry(decoding: $0, rules: rules) } }
    if case .variants(let index) = entry, index.fields == vary {
      return CacheKey.variant(index, of: question.primaryKey.fullKey, headers: question.fields)
    }
    let index = VariantIndex(fields: vary)
    store.put(primary, namespace: settings.namespace, metadata: index.encode(), body: [])
    return CacheKey.variant(index, of: question.primaryKey.fullKey, headers: question.fields)
  }

  /// A 304 or a HEAD brought newer fields; the body stays.
  func update(_ held: HeldAnswer, to stored: StoredResponse) {
    store.replaceMetadata(held.key, metadata: stored.encode(), ifBodyIs: held.hit.bodyID)
  }

  func remove(_ held: HeldAnswer) { store.remove(held.key) }
}
