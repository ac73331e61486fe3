import Foundation

/// The options of a run.
struct Options: Sendable {
    enum TransportKind: String, CaseIterable, Sendable {
        #if Servers
        case asyncHTTPClient
        #endif
        case urlSession, stub

        #if Servers
        static let standard = asyncHTTPClient
        /// The kinds of the short runs, each with a count of calls and the share of those that are cancelled.
        static let quick: [(TransportKind, count: Int, cancelled: Double)] = [
            (.stub, 12_000, 0.1), (.asyncHTTPClient, 4_000, 0), (.asyncHTTPClient, 3_000, 0.5),
            (.urlSession, 2_000, 0), (.urlSession, 2_000, 0.5),
        ]
        #else
        static let standard = stub
        static let quick: [(TransportKind, count: Int, cancelled: Double)] = [(.stub, 12_000, 0.1)]
        #endif
    }

    struct Invalid: Error {
        let text: String
    }

    static let usage = """
        usage: soak [options]

        --transport NAME     asyncHTTPClient (default), urlSession, or stub; without the trait Servers, stub is the default
        --count N            number of calls; default 20,000, or 100,000 with stub
        --minutes M          duration of the run, instead of --count
        --concurrency N      calls in flight; default 128, or 256 with stub
        --cancelled SHARE    share of calls that are cancelled after 0 to 20 ms, from 0 to 1; default 0
        --plugins NAME       standard (default) or none
        --chaos              a plugin delays attempts, fails them, or returns wrong responses
        --seed N             seed of all random choices; default 1
        --quick              short runs of all transports, in less than 50 s; uses only --seed
        --help               print this text
        """

    var transport = TransportKind.standard
    var count: Int?
    var minutes: Double?
    var concurrency: Int?
    var cancelledShare = 0.0
    var hasPlugins = true
    var hasChaos = false
    var seed: UInt64 = 1
    var isQuick = false
    var isHelp = false

    init() {}

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            switch name {
            case "--quick": isQuick = true
            case "--chaos": hasChaos = true
            case "--help": isHelp = true
            case "--transport": transport = try Self.value(of: name, &rest, TransportKind.init(rawValue:))
            case "--count": count = try Self.value(of: name, &rest) { Int($0).flatMap { $0 > 0 ? $0 : nil } }
            case "--minutes": minutes = try Self.value(of: name, &rest) { Double($0).flatMap { $0 > 0 ? $0 : nil } }
            case "--concurrency":
                concurrency = try Self.value(of: name, &rest) { Int($0).flatMap { $0 > 0 ? $0 : nil } }
            case "--cancelled":
                cancelledShare = try Self.value(of: name, &rest) { text in
                    Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
                }
            case "--plugins":
                hasPlugins = try Self.value(of: name, &rest) { ["standard": true, "none": false][$0] }
            case "--seed": seed = try Self.value(of: name, &rest) { UInt64($0) }
            default: throw Invalid(text: "unknown option \(name)")
            }
        }
    }

    private static func value<Value>(
        of name: String,
        _ rest: inout ArraySlice<String>,
        _ parse: (String) -> Value?
    ) throws -> Value {
        guard let text = rest.popFirst(), let value = parse(text) else {
            throw Invalid(text: "the value of \(name) is missing or invalid")
        }
        return value
    }

    /// The number of calls, unless the run has a duration.
    var callCount: Int { count ?? (transport == .stub ? 100_000 : 20_000) }

    /// The number of calls in flight.
    var inFlightCount: Int { concurrency ?? (transport == .stub ? 256 : 128) }

    /// Returns the options of the short runs in CI.
    static func quick(seed: UInt64) -> [Options] {
        TransportKind.quick.map { size in
            var options = Options()
            options.transport = size.0
            options.count = size.count
            options.cancelledShare = size.cancelled
            options.hasChaos = size.0 == .stub
            options.seed = seed
            return options
        }
    }
}
