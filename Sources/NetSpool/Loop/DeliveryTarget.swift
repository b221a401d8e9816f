internal import Dispatch

/// Where user closures run.
enum DeliveryTarget: Sendable {
  case queue(DispatchQueue)
  case loopThread
}
