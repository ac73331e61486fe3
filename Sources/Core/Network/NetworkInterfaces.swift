#if canImport(Darwin)
package import Darwin
#elseif canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Android)
package import Android
#endif

/// The network interfaces of the machine.
package enum NetworkInterfaces {
    /// Returns whether an interface other than loopback is up, has a carrier and has an IP address.
    ///
    /// Also returns `true` if the system cannot list its interfaces.
    package static func hasNetwork() -> Bool {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return true }
        defer { freeifaddrs(first) }
        var next = first
        while let interface = next?.pointee {
            if isNetwork(flags: UInt32(interface.ifa_flags), family: interface.ifa_addr?.pointee.sa_family) {
                return true
            }
            next = interface.ifa_next
        }
        return false
    }

    /// Whether an interface with these flags and an address of this family leads to a network.
    package static func isNetwork(flags: UInt32, family: sa_family_t?) -> Bool {
        guard let family, family == sa_family_t(AF_INET) || family == sa_family_t(AF_INET6) else { return false }
        #if canImport(Android)
        let (isUp, isRunning) = (UInt32(IFF_UP.rawValue), UInt32(IFF_RUNNING.rawValue))
        let isLoopback = UInt32(IFF_LOOPBACK.rawValue)
        #else
        let (isUp, isRunning, isLoopback) = (UInt32(IFF_UP), UInt32(IFF_RUNNING), UInt32(IFF_LOOPBACK))
        #endif
        return flags & isLoopback == 0 && flags & (isUp | isRunning) == isUp | isRunning
    }
}
