import Glibc

enum CurrentThread {
  static var id: UInt { UInt(pthread_self()) }
}
