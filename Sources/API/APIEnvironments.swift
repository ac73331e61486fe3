public import Foundation
public import PipelineCore
import Synchronization

/// The servers of an API by environment, one of which is current.
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
/// **Effects**: the current environment is shared by everything that holds this object. An ``APIClient`` reads it once,
/// when a call begins, so a call or a chain keeps its environment. Switching is safe at any time. Nothing is stored on
/// disk: to keep the choice over a restart, save `current.rawValue`, for example in `UserDefaults`, and pass it to
/// ``use(_:)`` at the next start. Log the user out before you switch; otherwise the token is sent to the other server.
///
/// **Defaults**: the current environment is ``detected``.
///
/// **Errors**: `unknownEnvironment` for a name without a server; the current environment does not change.
public final class APIEnvironments: Sendable {
    /// The name of an environment.
    public struct Name: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral,
        CustomStringConvertible
    {
        /// The text of the name, for example `testFlight`.
        public let rawValue: String
        /// Creates a name from a text.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Creates a name from a string literal.
        public init(stringLiteral value: String) { rawValue = value }
        /// The environment of development builds.
        public static let dev = Name(rawValue: "dev")
        /// The environment of builds for testers.
        public static let testFlight = Name(rawValue: "testFlight")
        /// The environment of released builds.
        public static let appStore = Name(rawValue: "appStore")
        /// The text of the name, same as `rawValue`.
        public var description: String { rawValue }
    }

    private let servers: [Name: ServerURL]
    private let currentName: Mutex<Name>

    /// Creates the three usual environments and any others; ``detected`` is current.
    ///
    /// - Parameters:
    ///   - dev: the server for debug builds.
    ///   - testFlight: the server for builds with a sandbox receipt.
    ///   - appStore: the server for all other builds.
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

    /// Creates environments with custom names.
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

    /// The name of the current environment.
    public var current: Name { currentName.withLock { $0 } }

    /// The names of all environments, sorted.
    public var names: [Name] { servers.keys.sorted { $0.rawValue < $1.rawValue } }

    /// The server of the current environment, `nil` if it has none.
    public var server: ServerURL? { servers[current] }

    /// Switches to another environment for calls that begin later.
    ///
    /// - Throws: `PipelineError` with code `unknownEnvironment` if the name has no server; the current environment does
    ///   not change.
    public func use(_ name: Name) throws {
        guard servers[name] != nil else {
            let known = names.map(\.rawValue).joined(separator: ", ")
            throw PipelineError(
                .unknownEnvironment,
                "unknown environment \(name.rawValue.quotedExcerpt), only \(known)"
            )
        }
        currentName.withLock { $0 = name }
    }

    /// Switches to the environment that an environment variable names, such as one set in an Xcode scheme.
    ///
    /// If the variable is unset or empty, nothing changes.
    ///
    /// - Parameters:
    ///   - variable: the name of the variable; defaults to `env`.
    ///   - variables: the variables to look in; defaults to those of the process.
    /// - Throws: `PipelineError` with code `unknownEnvironment` if the value names no environment with a server; the
    ///   current environment does not change.
    public func useVariable(
        _ variable: String = "env",
        of variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        guard let name = variables[variable], !name.isEmpty else { return }
        try use(Name(rawValue: name))
    }

    /// The environment of this build: ``Name/dev`` if this package was built for debugging, ``Name/testFlight`` if
    /// there is a sandbox receipt, else ``Name/appStore``.
    ///
    /// If an app's configuration is not named Debug, Xcode builds packages for release; such an app calls ``use(_:)``.
    public static var detected: Name {
        #if DEBUG
        let isDebug = true
        #else
        let isDebug = false
        #endif
        #if canImport(Darwin)
        // By key: the property is deprecated, and its replacement is asynchronous and contacts the App Store.
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
    /// An environment was named that has no server.
    public static let unknownEnvironment = Self(rawValue: "unknownEnvironment")
}
