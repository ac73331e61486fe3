// Network, as far as the sources observe paths.
//
// unsure: the interface of the framework may declare NWPathMonitor as Sendable. Here, it is not.

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

// https://developer.apple.com/documentation/network/nwpathmonitor
public final class NWPathMonitor {
    public init() {}
    public func cancel() {}
}

// https://developer.apple.com/documentation/network/nwpathmonitor/makeasynciterator(), since macOS 14 and iOS 17
extension NWPathMonitor: AsyncSequence {
    public struct Iterator: AsyncIteratorProtocol {
        public mutating func next() async -> NWPath? { nil }
    }
    public typealias Element = NWPath
    public typealias AsyncIterator = NWPathMonitor.Iterator
    public func makeAsyncIterator() -> NWPathMonitor.Iterator { Iterator() }
}
