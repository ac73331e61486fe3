// The C library of Android, Bionic, as far as what the sources use differs from Linux in type or nullability,
// and Foundation, which re-exports it:
// https://android.googlesource.com/platform/bionic/+/main/libc/include/. What is the same is that of Glibc.
@_exported public import Foundation

// unistd.h and sys/socket.h. Constants rather than functions, because a second function would make calls with literals
// ambiguous. A call that only the function of Glibc accepts is not found, unless it names the module.
public let pread: @Sendable (Int32, UnsafeMutableRawPointer, Int, off_t) -> Int = { _, _, _, _ in never() }
public let send: @Sendable (Int32, UnsafeRawPointer, Int, Int32) -> Int = { _, _, _, _ in never() }
public let SOCK_STREAM: Int32 = 1
public let SOCK_CLOEXEC: Int32 = 0o2000000
public let MSG_DONTWAIT: Int32 = 0x40
public let MSG_NOSIGNAL: Int32 = 0x4000
// poll.h
public typealias nfds_t = UInt32
public let poll: @Sendable (UnsafeMutablePointer<pollfd>?, nfds_t, Int32) -> Int32 = { _, _, _ in never() }

// linux/if.h
public struct net_device_flags: RawRepresentable, Equatable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}
public let IFF_UP = net_device_flags(rawValue: 0x1)
public let IFF_LOOPBACK = net_device_flags(rawValue: 0x8)
public let IFF_RUNNING = net_device_flags(rawValue: 0x40)

/// The body of every stub: nothing runs.
func never() -> Never { fatalError("a stub is only type-checked") }
