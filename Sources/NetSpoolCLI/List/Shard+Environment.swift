/// The shard that a cluster's scheduler assigns, so that a job array needs no option.
extension Shard {
  /// A shard and where it comes from.
  struct Assignment: Equatable {
    var shard: Shard
    /// The variable that gave the index, for the note on standard error.
    var origin: String
  }

  struct Mistake: Error, Equatable, CustomStringConvertible {
    var description: String
  }

  /// Reads `JOB_COMPLETION_INDEX` (Kubernetes Indexed Jobs) or `SLURM_ARRAY_TASK_ID`, with the number of
  /// shards from `NETSPOOL_SHARDS`, for Slurm else from `SLURM_ARRAY_TASK_COUNT`.
  ///
  /// Both indices count from 0 (`--array=0-7`). Nil when nothing assigns a shard: `NETSPOOL_SHARDS` unset
  /// on Kubernetes means that the pods share nothing.
  static func assigned(_ environment: Environment) throws(Mistake) -> Assignment? {
    let shards = environment["NETSPOOL_SHARDS"].map { ("NETSPOOL_SHARDS", $0) }
    if let index = environment["JOB_COMPLETION_INDEX"] {
      guard let shards else { return nil }
      return try assignment(("JOB_COMPLETION_INDEX", index), of: shards)
    }
    let tasks = environment["SLURM_ARRAY_TASK_COUNT"].map { ("SLURM_ARRAY_TASK_COUNT", $0) }
    if let index = environment["SLURM_ARRAY_TASK_ID"], let shards = shards ?? tasks {
      return try assignment(("SLURM_ARRAY_TASK_ID", index), of: shards)
    }
    guard let shards else { return nil }
    throw Mistake(
      description: "\(shards.0) is set but neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is: "
        + "say which shard this is with --shard I/\(shards.1)")
  }

  private static func assignment(
    _ index: (name: String, value: String), of count: (name: String, value: String)
  ) throws(Mistake) -> Assignment {
    guard let shard = Shard("\(index.value)/\(count.value)") else {
      throw Mistake(
        description: "\(index.name)=\(index.value) with \(count.name)=\(count.value) is no shard: indices "
          + "run from 0 to one less than the count; set --shard I/N by hand")
    }
    return Assignment(shard: shard, origin: index.name)
  }
}
