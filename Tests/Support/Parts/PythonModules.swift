import Glibc
import Testing

/// The Python that has the modules of `CSupport/test-modules`, in the environment that `CSupport/install --tests`
/// makes: NETSPOOL_PYTHON, or `netspool-tests/python` in the user's cache.
enum PythonModules {
  static let interpreter: String? = {
    guard let home = variable("NETSPOOL_PYTHON") ?? cache.map({ $0 + "/python" }) else { return nil }
    let path = home + "/bin/python"
    return unsafe access(home + "/installed", R_OK) == 0 && access(path, X_OK) == 0 ? path : nil
  }()

  static var isInstalled: Bool { interpreter != nil }

  /// Where the tests keep what takes long to make.
  static let cache: String? = {
    if let cache = variable("XDG_CACHE_HOME") { return cache + "/netspool-tests" }
    return variable("HOME").map { $0 + "/.cache/netspool-tests" }
  }()

  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips, and says why, where the Python modules of the tests are not installed.
  static var needsPython: Self {
    .enabled(if: PythonModules.isInstalled, "the Python modules are not installed: CSupport/install --tests")
  }
}
