import Logging

extension LoggingPlugin {
    /// A level of detail.
    ///
    /// Each level adds lines to those of the lower levels.
    public struct Level: Sendable, Hashable, Comparable, CustomStringConvertible {
        private let rank: Int
        /// The name of the level, the same as that of its static member.
        public let description: String
        let logLevel: Logger.Level

        /// Writes nothing at all.
        public static let off = Level(rank: 0, description: "off", logLevel: .critical)
        /// Writes one line for each call that failed.
        public static let error = Level(rank: 1, description: "error", logLevel: .error)
        /// Adds one line for each request sent and one for its response.
        public static let info = Level(rank: 2, description: "info", logLevel: .info)
        /// Adds the header fields of requests and responses.
        public static let debug = Level(rank: 3, description: "debug", logLevel: .debug)
        /// Adds the bodies of requests and responses.
        public static let trace = Level(rank: 4, description: "trace", logLevel: .trace)

        /// Returns whether `lhs` writes less than `rhs`.
        public static func < (lhs: Level, rhs: Level) -> Bool { lhs.rank < rhs.rank }
    }
}

extension LoggingPlugin.Level {
    /// Creates the highest level whose lines pass a logger of the given level.
    init(upTo logLevel: Logger.Level) {
        switch logLevel {
        case .trace: self = .trace
        case .debug: self = .debug
        case .info: self = .info
        case .notice, .warning, .error: self = .error
        case .critical: self = .off
        }
    }
}
