import Foundation
import Pipeline
import PipelineAPI
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("NetworkInterfaces", .tags(.concurrent), .watched)
struct NetworkInterfacesTests {
    @Test("B3 An interface leads to a network if it is up, has a carrier and an address, and is not loopback")
    func interfaces() {
        let (up, running, loopback) = (UInt32(IFF_UP), UInt32(IFF_RUNNING), UInt32(IFF_LOOPBACK))
        let (inet, inet6) = (sa_family_t(AF_INET), sa_family_t(AF_INET6))
        #expect(NetworkInterfaces.isNetwork(flags: up | running, family: inet))
        #expect(NetworkInterfaces.isNetwork(flags: up | running, family: inet6))
        #expect(!NetworkInterfaces.isNetwork(flags: up | running | loopback, family: inet))
        #expect(!NetworkInterfaces.isNetwork(flags: up, family: inet))
        #expect(!NetworkInterfaces.isNetwork(flags: running, family: inet))
        #expect(!NetworkInterfaces.isNetwork(flags: up | running, family: nil))
        #expect(!NetworkInterfaces.isNetwork(flags: up | running, family: sa_family_t(AF_UNIX)))
    }
}
