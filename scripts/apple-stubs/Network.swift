// Network, as far as the sources observe paths.
//
// unsure: the interface of the framework may declare NWPathMonitor as Sendable. Here, it is not.
public import Dispatch

// https://developer.apple.com/documentation/network/nwpath
public struct NWPath: Equatable, Sendable {
    // https://developer.apple.com/documentation/network/nwpath/status-swift.enum
    public enum Status: Equatable, Hashable, Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public let status: NWPath.Status
}

// https://developer.apple.com/documentation/network/nwinterface/interfacetype
public struct NWInterface: Sendable {
    public enum InterfaceType: Sendable {
        case other
        case wifi
        case cellular
        case wiredEthernet
        case loopback
    }
}

// https://developer.apple.com/documentation/network/nwpathmonitor
public final class NWPathMonitor {
    public init() {}
    // https://developer.apple.com/documentation/network/nwpathmonitor/init(prohibitedinterfacetypes:)
    public init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {}

    // https://developer.apple.com/documentation/network/nwpathmonitor/pathupdatehandler
    @preconcurrency public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)?
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
