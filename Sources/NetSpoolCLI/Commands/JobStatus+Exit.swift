import ArgumentParser
import NetSpool

extension JobStatus {
  /// Ends the command with the status of the body, or with that of what it throws and a line on standard error.
  static func exit(_ console: Console, _ body: (Console) throws -> JobStatus) throws -> Never {
    do {
      throw ExitCode(try body(console).code)
    } catch let exit as ExitCode {
      throw exit
    } catch {
      console.message("netspool: \(error)")
      throw ExitCode(status(of: error).code)
    }
  }

  /// The library refuses settings only; everything else but a missing password is about this machine.
  private static func status(of error: any Error) -> JobStatus {
    error is NetworkError || error is CredentialOptions.Missing ? .usage : .localIO
  }
}
