/// Lets others go on before something is looked at again that nobody announces. To yield alone would keep a core busy, which
/// is what they need.
func moment() async { try? await Task.sleep(for: .milliseconds(1)) }
