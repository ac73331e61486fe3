import Foundation
import Synchronization

/// The last requests and totals, for the page.
final class RequestLog: Sendable {
    /// A request as the page shows it.
    struct Entry: Encodable {
        let method: String
        /// The path, shortened, without the values of the query, which may be secret.
        let path: String
        let status: Int
        /// The value of Cache-Status that the cache added; empty without one.
        let cacheStatus: String
        let milliseconds: Double
    }

    /// What the page reads: newest entries first.
    struct Snapshot: Encodable {
        let demo: [String]
        let totals: [String: Int]
        let entries: [Entry]
    }

    private struct State {
        var entries: [Entry] = []
        var totals: [String: Int] = [:]
    }

    private static let entryLimit = 100
    private static let pathLimit = 120

    private let demo: [String]
    private let state = Mutex(State())

    /// Makes a log; `demo` lists the paths that the page offers to request.
    init(demo: [String]) { self.demo = demo }

    var snapshot: Snapshot {
        state.withLock { Snapshot(demo: demo, totals: $0.totals, entries: $0.entries.reversed()) }
    }

    func add(method: String, path: String, status: Int, cacheStatus: String, duration: Duration) {
        let entry = Entry(
            method: String(method.prefix(20)),
            path: Self.shortened(path),
            status: status,
            cacheStatus: cacheStatus,
            milliseconds: Double(duration / .microseconds(10)) / 100
        )
        let kind = Self.kind(of: cacheStatus)
        state.withLock { state in
            if state.entries.count == Self.entryLimit { state.entries.removeFirst() }
            state.entries.append(entry)
            state.totals[kind, default: 0] += 1
        }
    }

    private static func shortened(_ path: String) -> String {
        let end = path.firstIndex(of: "?") ?? path.endIndex
        let text = end == path.endIndex ? path : path[..<end] + "?…"
        return text.count > pathLimit ? text.prefix(pathLimit) + "…" : text
    }

    /// Returns the total that a request counts for.
    ///
    /// It is `hit`, `revalidated` for a stored response that the origin has confirmed, `forwarded` for any other
    /// response that the cache got from the origin, or `other` for a response that did not pass the cache.
    private static func kind(of cacheStatus: String) -> String {
        let parameters = cacheStatus.split(separator: ";").map { $0.drop { $0 == " " } }
        if parameters.isEmpty { return "other" }
        if parameters.contains("hit") { return "hit" }
        return parameters.contains("fwd-status=304") ? "revalidated" : "forwarded"
    }
}
