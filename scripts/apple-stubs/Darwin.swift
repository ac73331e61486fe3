// The C library of Apple platforms, as far as the sources use what differs from Linux: constants and functions of other
// types. What is the same is that of Glibc, which Foundation re-exports.
//
// They follow the headers of XNU that the comments name, and the manual pages, like those of DarwinTypes.
@_exported public import DarwinTypes

// sys/stat.h, stat(2)
@discardableResult public func stat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!) -> Int32 {
    never()
}
@discardableResult public func lstat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!) -> Int32 {
    never()
}
@discardableResult public func fstat(_ descriptor: Int32, _ status: UnsafeMutablePointer<stat>!) -> Int32 { never() }
public var S_IFMT: mode_t { never() }
public var S_IFREG: mode_t { never() }
public var S_IFDIR: mode_t { never() }
public var S_IFLNK: mode_t { never() }

// unistd.h, pread(2) and ftruncate(2)
@discardableResult public func pread(
    _ descriptor: Int32,
    _ bytes: UnsafeMutableRawPointer!,
    _ count: Int,
    _ offset: off_t
) -> Int { never() }
@discardableResult public func ftruncate(_ descriptor: Int32, _ length: off_t) -> Int32 { never() }

// sys/fcntl.h, fcntl(2)
public let F_FULLFSYNC: Int32 = 51

// sys/socket.h
public let SOCK_STREAM: Int32 = 1
public let SOL_SOCKET: Int32 = 0xffff
public let SO_REUSEADDR: Int32 = 0x0004
public let SO_LINGER: Int32 = 0x0080
public let SO_RCVBUF: Int32 = 0x1002
public let SO_NOSIGPIPE: Int32 = 0x1022
public let SHUT_WR: Int32 = 1
public let MSG_DONTWAIT: Int32 = 0x80
@discardableResult public func bind(_ socket: Int32, _ address: UnsafePointer<sockaddr>!, _ length: socklen_t) -> Int32
{ never() }
@discardableResult public func connect(
    _ socket: Int32,
    _ address: UnsafePointer<sockaddr>!,
    _ length: socklen_t
) -> Int32 { never() }
@discardableResult public func getsockname(
    _ socket: Int32,
    _ address: UnsafeMutablePointer<sockaddr>!,
    _ length: UnsafeMutablePointer<socklen_t>!
) -> Int32 { never() }

// ifaddrs.h and net/if.h, getifaddrs(3)
@discardableResult public func getifaddrs(_ first: UnsafeMutablePointer<UnsafeMutablePointer<ifaddrs>?>!) -> Int32 {
    never()
}
public func freeifaddrs(_ first: UnsafeMutablePointer<ifaddrs>!) { never() }
public let IFF_UP: Int32 = 0x1
public let IFF_LOOPBACK: Int32 = 0x8
public let IFF_RUNNING: Int32 = 0x40

// sys/resource.h, setrlimit(2)
@discardableResult public func setrlimit(_ resource: Int32, _ limit: UnsafePointer<rlimit>!) -> Int32 { never() }
public let RLIMIT_FSIZE: Int32 = 1

// What only Linux has.
@available(*, unavailable) public let MSG_NOSIGNAL: Int32 = 0
@available(*, unavailable) public let MSG_MORE: Int32 = 0
@available(*, unavailable) public let SOCK_CLOEXEC: Int32 = 0
@available(*, unavailable) public let SOCK_NONBLOCK: Int32 = 0
@available(*, unavailable) public let O_PATH: Int32 = 0
@available(*, unavailable) public let O_TMPFILE: Int32 = 0
@available(*, unavailable) public let POLLRDHUP: Int32 = 0
@available(*, unavailable) public let RENAME_NOREPLACE: Int32 = 0
@available(*, unavailable) public let accept4: @Sendable () -> Int32 = { never() }
@available(*, unavailable) public let pipe2: @Sendable () -> Int32 = { never() }
@available(*, unavailable) public let getrandom: @Sendable () -> Int32 = { never() }
@available(*, unavailable) public let fdatasync: @Sendable () -> Int32 = { never() }

/// The body of every stub: nothing runs.
func never() -> Never { fatalError("a stub is only type-checked") }
