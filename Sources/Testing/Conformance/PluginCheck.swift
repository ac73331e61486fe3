import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

/// A check of ``PluginConformance``, which returns the violations it finds.
struct PluginCheck: Sendable {
    let name: String
    let run: @Sendable (PluginBench) async -> [String]

    static let all: [PluginCheck] = [
        PluginCheck(name: "name") { $0.plugin.name.allSatisfy(\.isWhitespace) ? ["it is blank"] : [] },
        PluginCheck(name: "success") { bench in
            await bench.outcome(.status(200, body: "ok")).violations("the call, whose response was 200,")
        },
        PluginCheck(name: "failure") { bench in
            await bench.outcome(.failure(.connectionLost)).violations("the call", mayFail: true)
        },
        PluginCheck(name: "serverError") { bench in
            await bench.outcome(.status(500, body: "no")).violations("the call", mayFail: true)
        },
        PluginCheck(name: "cancellation", run: cancellation),
        PluginCheck(name: "stream", run: stream),
        PluginCheck(name: "download", run: download),
        PluginCheck(name: "finish", run: finish),
        PluginCheck(name: "pairs", run: pairs),
        PluginCheck(name: "exchange", run: exchange),
        PluginCheck(name: "resending", run: resending),
        PluginCheck(name: "concurrency", run: concurrency),
        PluginCheck(name: "retries", run: retries),
        PluginCheck(name: "sharing", run: sharing),
        PluginCheck(name: "storing", run: storing),
        PluginCheck(name: "secrets", run: secrets),
    ]

    /// The ways in which a call may end.
    private static let ends: [(what: String, step: ScriptedTransport.Step)] = [
        ("responded with 200", .status(200)), ("responded with 500", .status(500)),
        ("that failed", .failure(.connectionLost)),
    ]

    private static func cancellation(_ bench: PluginBench) async -> [String] {
        let answers = Mutex(false)
        let transport = ScriptedTransport { _, _ in answers.withLock { $0 } ? .status(200) : .hang }
        let provider = bench.provider(transport)
        var found: [String] = []
        switch await bench.cancelledOutcome(provider, transport) {
        case .cancelled, nil: break
        case .value: found.append("a cancelled call ended in a response")
        case .failure(let error):
            found.append("a cancelled call ended in another error than CancellationError: \(error)")
        case .hung: found.append("a cancelled call did not end at once")
        }
        answers.withLock { $0 = true }
        let next = await bench.outcome { try await provider.request(PluginProbe(number: 1)) }
        return found + next.violations("the call after a cancelled one")
    }

    private static func finish(_ bench: PluginBench) async -> [String] {
        var found: [String] = []
        for (what, step) in ends {
            let counter = CallCounter()
            await bench.outcome(step, with: [counter])
            found += counter.violations(what)
        }
        let cancelled = CallCounter()
        let transport = ScriptedTransport(always: .hang)
        await bench.cancelledOutcome(bench.provider(transport, with: [cancelled]), transport)
        found += cancelled.violations("that was cancelled")
        let released = CallCounter()
        let body = PipelineBody.stream(AsyncStream<Data> { nil })
        let provider = bench.provider(ScriptedTransport(always: .status(200, body: body)), with: [released])
        await bench.outcome { try await provider.stream(PluginProbe()).statusCode }
        return found + released.violations("whose stream was released unread")
    }

    private static func pairs(_ bench: PluginBench) async -> [String] {
        var found: [String] = []
        for (what, step) in ends {
            let counter = CallCounter()
            await bench.outcome(.delayed(.seconds(1), step), with: [counter])
            let count = counter.openCount
            if count > 0 { found.append("after a call \(what) had ended, \(count) exchanges went on") }
        }
        return found
    }

    private static func concurrency(_ bench: PluginBench) async -> [String] {
        let count = 64
        let transport = ScriptedTransport { request, _ in
            let number = request.path.split(separator: "/").last.flatMap { Int($0) } ?? -1
            // Out of order: 7 and 64 have no common factor.
            return .delayed(.milliseconds(number * 7 & 63), .status(200, body: "answer \(number)"))
        }
        let outcomes = await bench.calls(count, of: bench.provider(transport)) { PluginProbe(number: $0) }
        var violations: [String: Int] = [:]
        for (number, outcome) in outcomes.enumerated() {
            switch outcome {
            case .value(let response) where response.data == Data("answer \(number)".utf8): break
            case .value: violations["got the response of another call", default: 0] += 1
            case .failure, .cancelled: violations["failed", default: 0] += 1
            case .hung: violations["did not end", default: 0] += 1
            }
        }
        return violations.map { "of \(count) calls at once \($1) \($0)" }.sorted()
    }

    private static func secrets(_ bench: PluginBench) async -> [String] {
        let canaries = [
            "canary-in-query": "the query", "canary-in-field": "a header field of the request",
            "canary-in-authorization": "Authorization", "canary-in-body": "the body of the request",
            "canary-in-cookie": "a header field of the response", "canary-in-answer": "the body of the response",
        ]
        let probe = PluginProbe(
            query: "?token=canary-in-query",
            task: .requestData(Data("password=canary-in-body".utf8)),
            headers: [
                "Authorization": "Bearer canary-in-authorization", "X-Api-Key": "canary-in-field",
                "Content-Type": "application/x-www-form-urlencoded",
            ],
            validationType: .successCodes
        )
        let fields: HTTPFields = [.setCookie: "id=canary-in-cookie", .contentType: "text/plain"]
        let steps: [ScriptedTransport.Step] = [
            .status(200, headers: fields, body: "canary-in-answer"),
            .status(500, headers: fields, body: "canary-in-answer"),
            .failure(.connectionLost),
        ]
        var leaks: Set<String> = []
        for step in steps {
            guard case .failure(let error) = await bench.outcome(of: probe, step) else { continue }
            var text = "\(error) \(String(reflecting: error)) \(error.localizedDescription) "
            dump(error, to: &text)
            for (canary, place) in canaries where text.contains(canary) { leaks.insert(place) }
        }
        return leaks.sorted().map { "an error shows \($0)" }
    }
}
