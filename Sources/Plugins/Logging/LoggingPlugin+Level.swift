import Logging

extension LoggingPlugin {
    /// How much is written; each level writes what the lower ones do, and more.
    public struct Level: Sendable, Hashable, Comparable, CustomStringConvertible {
        private let rank: Int
        /// The level's name.
        public let description: String
        let logLevel: Logger.Level

        /// Nothing.
        public static let off = Level(rank: 0, description: "off", logLevel: .critical)
        /// One line for each call that failed.
        public static let error = Level(rank: 1, description: "error", logLevel: .error)
        /// One line for each request sent and one for its answer.
        public static let info = Level(rank: 2, description: "info", logLevel: .info)
        /// The header fields.
        public static let debug = Level(rank: 3, description: "debug", logLevel: .debug)
        /// The bodies.
        public static let trace = Level(rank: 4, description: "trace", logLevel: .trace)

        /// Whether the first writes less.
        public static func < (lhs: Level, rhs: Level) -> Bool { lhs.rank < rhs.rank }
    }
}

extension LoggingPlugin.Level {
    /// The highest level whose lines a logger lets pass.
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
