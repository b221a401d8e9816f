package import Dispatch

/// Where user closures run.
package enum DeliveryTarget: Sendable {
  case queue(DispatchQueue)
  case loopThread
}
