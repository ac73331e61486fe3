import Foundation
import HTTPTypes
import PipelineCore

/// A check of ``TransportConformance``, which throws if the transport violates it.
struct ConformanceCheck: Sendable {
    typealias Run = @Sendable (ConformanceBench) async throws -> Void

    let name: String
    let needsNetwork: Bool
    let run: Run

    init(_ name: String, _ run: @escaping Run) {
        (self.name, self.run, needsNetwork) = (name, run, false)
    }

    init(network name: String, _ run: @escaping Run) {
        (self.name, self.run, needsNetwork) = (name, run, true)
    }

    static let all = messages + bodies + failures + framing

    /// The failure of a check.
    struct Failure: Error {
        let message: String
    }

    static func require(_ isTrue: Bool, _ message: @autoclosure () -> String) throws {
        guard !isTrue else { return }
        throw Failure(message: message())
    }

    static func require<Value: Equatable>(_ value: Value, is expected: Value, _ what: String) throws {
        try require(value == expected, "\(what) is \(excerpt(value)), not \(excerpt(expected))")
    }

    /// Requires that a call fails with a code.
    static func require(
        _ expected: PipelineError.Code,
        _ what: String = "the code",
        of call: () async throws -> Void
    ) async throws {
        do {
            try await call()
        } catch let error as PipelineError {
            return try require(error.code, is: expected, what)
        }
        throw Failure(message: "it did not fail")
    }

    /// Requires that a call fails with a code if the server sends a text and then waits, closes or resets the
    /// connection, and that the next call does not fail.
    ///
    /// Uses POST so that no transport retries.
    static func require(
        _ expected: PipelineError.Code,
        _ bench: ConformanceBench,
        after text: String = "",
        then end: LoopbackServer.Action...
    ) async throws {
        let target = bench.target(.init(path: "/fault", method: .post, script: [.send(text)] + end))
        let what = "the code after \(text.prefix(100).debugDescription)"
        try await require(expected, what) { _ = try await bench.response(to: target) }
        try await requireNext(bench)
    }

    /// Requires that another call gets its own response.
    static func requireNext(_ bench: ConformanceBench) async throws {
        let next = try await bench.response(to: .init(path: "/next", body: Data("next".utf8)))
        try require(next.data, is: Data("next".utf8), "the response of the next call")
        guard bench.kind.sendsBytes else { return }
        try require(next.headers.count, is: 1, "the number of its header fields")
    }

    private static func excerpt(_ value: some Any) -> String {
        let text = "\(value)"
        return text.count > 200 ? text.prefix(200) + "…" : text
    }
}
