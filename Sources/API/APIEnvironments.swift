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
/// **Effects**: all holders see the same current environment. An ``APIClient`` reads it once, when a call begins, so a call and
/// a chain keep theirs. Switching is safe at any time. Nothing is stored on disk. Log the user out before switching, or the
/// token is sent to the other server.
///
/// **Defaults**: the current one is ``detected``.
///
/// **Errors**: `unknownEnvironment` for a name without a server; the current environment stays.
public final class APIEnvironments: Sendable {
    /// The name of an environment.
    public struct Name: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral,
        CustomStringConvertible
    {
        /// The name.
        public let rawValue: String
        /// Creates a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Creates a name.
        public init(stringLiteral value: String) { rawValue = value }
        /// The environment of development builds.
        public static let dev = Name(rawValue: "dev")
        /// The environment of builds for testers.
        public static let testFlight = Name(rawValue: "testFlight")
        /// The environment of released builds.
        public static let appStore = Name(rawValue: "appStore")
        /// The name.
        public var description: String { rawValue }
    }

    private let servers: [Name: ServerURL]
    private let currentName: Mutex<Name>

    /// Creates the three environments of an app and others, of which ``detected`` is current.
    ///
    /// - Parameters:
    ///   - dev: for debug builds.
    ///   - testFlight: for builds with a sandbox receipt.
    ///   - appStore: for all others.
    ///   - others: more servers by name; defaults to none.
    public convenience init(
        dev: ServerURL,
        testFlight: ServerURL,
        appStore: ServerURL,
        others: [Name: ServerURL] = [:]
    ) {
        let servers = others.merging([.dev: dev, .testFlight: testFlight, .appStore: appStore]) { _, own in own }
        self.init(servers: servers, current: Self.detected)
    }

    /// Creates environments with any names.
    ///
    /// - Parameters:
    ///   - servers: the servers by name.
    ///   - current: the name of the current environment.
    /// - Throws: `PipelineError` with code `unknownEnvironment` if `current` has no server.
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

    /// The names of all environments, sorted.
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

    /// Switches to the environment in an environment variable, such as a scheme of Xcode sets; does nothing if the variable is
    /// unset or empty.
    ///
    /// - Parameters:
    ///   - variable: the name of the variable; defaults to `env`.
    ///   - variables: all variables; defaults to those of the process.
    /// - Throws: `PipelineError` with code `unknownEnvironment`; the current environment stays.
    public func useVariable(
        _ variable: String = "env",
        of variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        guard let name = variables[variable], !name.isEmpty else { return }
        try use(Name(rawValue: name))
    }

    /// The environment of this build: ``Name/dev`` for a debug build of this package, ``Name/testFlight`` with a sandbox
    /// receipt, else ``Name/appStore``.
    ///
    /// Xcode builds packages for release in a configuration that is not named Debug; such an app calls ``use(_:)``.
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
    /// The name of an environment has no server.
    public static let unknownEnvironment = Self(rawValue: "unknownEnvironment")
}
