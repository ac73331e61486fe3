// Types of the C library of Apple platforms whose members differ from those of Linux. A module of its own, because a
// type and a function of the same name, such as `stat`, cannot be declared in one.
//
// Apple has no pages for them. They follow the headers of XNU that the comments name, and the manual pages:
// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/
@_exported public import Foundation

// sys/types.h
public typealias dev_t = Int32
public typealias ino_t = UInt64
public typealias mode_t = UInt16
public typealias nlink_t = UInt16
public typealias off_t = Int64
public typealias sa_family_t = UInt8
// sys/poll.h
public typealias nfds_t = UInt32

// sys/stat.h, stat(2)
public struct stat {
    public var st_dev: dev_t
    public var st_mode: mode_t
    public var st_nlink: nlink_t
    public var st_ino: ino_t
    public var st_uid: uid_t
    public var st_gid: gid_t
    public var st_rdev: dev_t
    public var st_atimespec: timespec
    public var st_mtimespec: timespec
    public var st_ctimespec: timespec
    public var st_birthtimespec: timespec
    public var st_size: off_t
    public var st_blocks: Int64
    public var st_blksize: Int32
    public var st_flags: UInt32
    public var st_gen: UInt32

    public init() { never() }
}
// sys/socket.h
public struct sockaddr {
    public var sa_len: UInt8
    public var sa_family: sa_family_t
    public var sa_data:
        (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)

    public init() { never() }
}

// netinet/in.h
public struct sockaddr_in {
    public var sin_len: UInt8
    public var sin_family: sa_family_t
    public var sin_port: in_port_t
    public var sin_addr: in_addr
    public var sin_zero: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)

    public init() { never() }
}

// ifaddrs.h, getifaddrs(3)
public struct ifaddrs {
    public var ifa_next: UnsafeMutablePointer<ifaddrs>!
    public var ifa_name: UnsafeMutablePointer<CChar>!
    public var ifa_flags: UInt32
    public var ifa_addr: UnsafeMutablePointer<sockaddr>!
    public var ifa_netmask: UnsafeMutablePointer<sockaddr>!
    public var ifa_dstaddr: UnsafeMutablePointer<sockaddr>!
    public var ifa_data: UnsafeMutableRawPointer!

    public init() { never() }
}

/// The body of every stub: nothing runs.
func never() -> Never { fatalError("a stub is only type-checked") }
