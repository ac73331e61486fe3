public import Foundation
public import Pipeline
import Synchronization

/// The servers of an API by environment, of which one is current.
///
/// ```swift
/// let environments = APIEnvironments(
///     dev: ServerURL(base: "https://dev.example.com"),
///     testFlight: ServerURL(base: "https://stage.example.com"),
///     appStore: ServerURL(base: "https://example.com")
/// )
/// try environments.use(.testFlight)
/// ```
///
/// **Effects**: whoever holds it sees the same current environment; an ``APIClient`` asks for it once, as a call begins, so that a call
/// and a chain keep the one that they began with. It is safe to switch at any time. Nothing is kept on disk. Who is logged in is
/// another matter: end the session before switching, or its token goes to the other server.
///
/// **Defaults**: the current one is ``detected``.
///
/// **Errors**: `unknownEnvironment` for one that is not there; the current one stays.
public final class APIEnvironments: Sendable {
    /// The name of an environment.
    public struct Name: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral,
        CustomStringConvertible
    {
        /// The name.
        public let rawValue: String
        /// Makes a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Makes a name.
        public init(stringLiteral value: String) { rawValue = value }
        /// Where the app is being developed.
        public static let dev = Name(rawValue: "dev")
        /// Where it is tested before it is released.
        public static let testFlight = Name(rawValue: "testFlight")
        /// Where everybody is.
        public static let appStore = Name(rawValue: "appStore")
        /// The name.
        public var description: String { rawValue }
    }

    private let servers: [Name: ServerURL]
    private let currentName: Mutex<Name>

    /// Makes the three environments of an app, and others.
    ///
    /// - Parameters:
    ///   - dev: for debug builds.
    ///   - testFlight: for builds with a sandbox receipt.
    ///   - appStore: for all others.
    ///   - others: environments beyond the three, by name.
    public convenience init(
        dev: ServerURL,
        testFlight: ServerURL,
        appStore: ServerURL,
        others: [Name: ServerURL] = [:]
    ) {
        let servers = others.merging([.dev: dev, .testFlight: testFlight, .appStore: appStore]) { _, own in own }
        self.init(servers: servers, current: Self.detected)
    }

    /// Makes environments of any names.
    ///
    /// - Parameters:
    ///   - servers: the servers by name.
    ///   - current: the one to begin with, among those above.
    /// - Throws: `PipelineError` with code `unknownEnvironment` for one that is not there.
    public convenience init(_ servers: [Name: ServerURL], current: Name) throws {
        self.init(servers: servers, current: current)
        try use(current)
    }

    private init(servers: [Name: ServerURL], current: Name) {
        self.servers = servers
        currentName = Mutex(current)
    }

    /// The current environment.
    public var current: Name { currentName.withLock { $0 } }

    /// The names of all, sorted.
    public var names: [Name] { servers.keys.sorted { $0.rawValue < $1.rawValue } }

    /// The server of the current environment.
    public var server: ServerURL? { servers[current] }

    /// Switches to another environment, for calls that begin later.
    ///
    /// - Throws: `PipelineError` with code `unknownEnvironment`; the current one stays.
    public func use(_ name: Name) throws {
        guard servers[name] != nil else {
            let known = names.map(\.rawValue).joined(separator: ", ")
            throw PipelineError(
                .unknownEnvironment,
                "there is no environment \(name.rawValue.quotedExcerpt), only \(known)"
            )
        }
        currentName.withLock { $0 = name }
    }

    /// Switches to the environment that a variable of the process names, as a scheme of Xcode sets it; without it, nothing changes.
    ///
    /// - Parameters:
    ///   - variable: the variable.
    ///   - variables: all variables; by default those of the process.
    /// - Throws: as ``use(_:)``.
    public func useVariable(
        _ variable: String = "env",
        of variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        guard let name = variables[variable], !name.isEmpty else { return }
        try use(Name(rawValue: name))
    }

    /// The environment of this build: ``Name/dev`` for a debug build of this package, ``Name/testFlight`` with a sandbox receipt, else
    /// ``Name/appStore``.
    ///
    /// Xcode builds packages for release under a configuration of another name than Debug; such an app says ``use(_:)``.
    public static var detected: Name {
        #if DEBUG
        let isDebug = true
        #else
        let isDebug = false
        #endif
        #if canImport(Darwin)
        // By its key: the property is deprecated, and what replaces it is asynchronous and asks the App Store.
        return detect(isDebug: isDebug, receipt: Bundle.main.value(forKey: "appStoreReceiptURL") as? URL)
        #else
        return detect(isDebug: isDebug, receipt: nil)
        #endif
    }

    static func detect(isDebug: Bool, receipt: URL?) -> Name {
        if isDebug { return .dev }
        return receipt?.lastPathComponent == "sandboxReceipt" ? .testFlight : .appStore
    }
}

extension PipelineError.Code {
    /// An environment is not one of those that there are.
    public static let unknownEnvironment = Self(rawValue: "unknownEnvironment")
}
