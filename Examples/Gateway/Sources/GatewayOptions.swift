import Foundation

/// The options of the command line and of the environment.
struct GatewayOptions {
    static let help = """
        usage: gateway [--demo [--load COUNT]]

          --demo        call three servers of its own instead of CATALOG_URL, PRICES_URL and REVIEWS_URL
          --load COUNT  send COUNT requests to the gateway, with an outage in the middle, print the results, and exit

        environment: CATALOG_URL, PRICES_URL, REVIEWS_URL; HOST, by default 127.0.0.1; PORT, by default 0: a free one
        """

    /// The servers to call; `nil` for those of the demo.
    private(set) var upstreams: Upstreams?
    private(set) var host = "127.0.0.1"
    private(set) var port = 0
    private(set) var loadCount: Int?
    private(set) var showsHelp = false

    init(_ arguments: some Sequence<String>, _ environment: [String: String]) throws {
        var isDemo = false
        var rest = arguments.makeIterator()
        while let name = rest.next() {
            switch name {
            case "--demo": isDemo = true
            case "--load": loadCount = try Self.number(rest.next() ?? "", in: 1...100_000, name)
            case "--help", "-h": showsHelp = true
            default: throw Mistake(description: "the option \(name) is unknown; --help lists the options")
            }
        }
        if let name = environment["HOST"] { host = name }
        if let text = environment["PORT"] { port = try Self.number(text, in: 0...65_535, "PORT") }
        if isDemo || showsHelp { return }
        if loadCount != nil { throw Mistake(description: "--load requires --demo, so that it loads no other server") }
        func url(_ name: String) throws -> URL {
            guard let url = URL(string: environment[name] ?? ""), ["http", "https"].contains(url.scheme) else {
                throw Mistake(description: "\(name) must be an http or https URL; or try --demo")
            }
            return url
        }
        upstreams = Upstreams(
            catalog: try url("CATALOG_URL"),
            prices: try url("PRICES_URL"),
            reviews: try url("REVIEWS_URL")
        )
    }

    private static func number(_ text: String, in range: ClosedRange<Int>, _ name: String) throws -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw Mistake(
                description: "\(name) is \(text), not a number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    /// A mistake in the options.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }
}
