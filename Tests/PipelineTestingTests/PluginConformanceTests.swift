import Foundation
import HTTPTypes
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import PipelineTesting

@Suite("PluginConformance", .tags(.concurrent))
struct PluginConformanceTests {
    /// The names of the checks that a plugin does not pass.
    private func failed(
        patience: Duration = .seconds(500),
        _ makePlugin: @escaping @Sendable () -> any PluginType
    ) async -> Set<String> {
        Set(await PluginConformance(patience: patience, makePlugin: makePlugin).run().map(\.check))
    }

    private static func never() async {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    // MARK: Plugins that conform

    @Test("A plugin that does nothing conforms")
    func nothing() async {
        #expect(await PluginConformance { PreparePlugin.prepare { _, _ in } }.run() == [])
    }

    @Test("A plugin that waits before it sends conforms")
    func delay() async {
        let violations = await PluginConformance {
            PreparePlugin.prepare { _, context in try await context.clock.sleep(for: .seconds(3_600)) }
        }.run()
        #expect(violations == [])
    }

    @Test("A plugin that sends again after a pause conforms")
    func retry() async {
        let violations = await PluginConformance {
            InterceptPlugin.intercept { request, context, next in
                for _ in 0..<3 {
                    if let response = try? await next(request), response.statusCode < 500 { return response }
                    try await context.clock.sleep(for: .seconds(60))
                }
                return try await next(request)
            }
        }.run()
        #expect(violations == [])
    }

    @Test("A plugin that limits the time of a call conforms")
    func timeout() async {
        let violations = await PluginConformance {
            InterceptPlugin.intercept { request, context, next in
                try await withThrowingTaskGroup(of: PipelineResponse.self) { group in
                    group.addTask { try await next(request) }
                    group.addTask {
                        try await context.clock.sleep(for: .seconds(30))
                        throw PipelineError(.timeout(.attempt), "too slow")
                    }
                    defer { group.cancelAll() }
                    guard let first = try await group.next() else { throw CancellationError() }
                    return first
                }
            }
        }.run()
        #expect(violations == [])
    }

    @Test("A plugin that answers by itself or turns failures into responses conforms")
    func fallback() async {
        let violations = await PluginConformance {
            ProcessPlugin.process { result, _ in
                guard case .failure(let error) = result, error.code != .cancelled, let request = error.request else {
                    return
                }
                result = .success(PipelineResponse(request: request, statusCode: 200))
            }
        }.run()
        #expect(violations == [])
    }

    @Test("A plugin that only sees how calls end conforms")
    func observer() async {
        #expect(await PluginConformance { DidFinishPlugin.didFinish { _, _ in } }.run() == [])
    }

    // MARK: Each check can fail

    private struct NoStage: PluginType {}

    @Test("The names of the checks are those that can be violated")
    func checkNames() {
        #expect(
            PluginConformance { NoStage() }.checkNames == [
                "stages", "name", "success", "failure", "serverError", "cancellation", "stream", "download", "finish",
                "pairs", "exchange", "concurrency", "secrets",
            ]
        )
    }

    @Test("stages: a plugin without a stage")
    func stages() async {
        #expect(await failed { NoStage() } == ["stages"])
    }

    @Test("name: a blank name", arguments: ["", " \n"])
    func name(name: String) async {
        #expect(await failed { PreparePlugin.prepare(name: name) { _, _ in } } == ["name"])
    }

    @Test("success: a plugin that fails a call which was answered")
    func success() async {
        let failed = await failed { PreparePlugin.prepare { _, _ in throw PipelineError(.offline, "no") } }
        #expect(failed.isSuperset(of: ["success", "concurrency", "stream"]))
        #expect(failed.isDisjoint(with: ["failure", "serverError", "pairs", "secrets"]))
    }

    @Test("success, failure, serverError: a plugin that says cancelled where nobody cancelled")
    func saysCancelled() async {
        let failed = await failed { PreparePlugin.prepare { _, _ in throw CancellationError() } }
        #expect(failed.isSuperset(of: ["success", "failure", "serverError"]))
    }

    @Test("failure, serverError, finish: a plugin that never ends a call which was not answered with 200")
    func hangs() async {
        let failed = await failed(patience: .milliseconds(50)) {
            ProcessPlugin.process { result, _ in
                if (try? result.get())?.statusCode != 200 { await Self.never() }
            }
        }
        #expect(failed.isSuperset(of: ["failure", "serverError", "finish"]))
    }

    @Test("success, cancellation, stream, concurrency: a plugin that never ends any call")
    func alwaysHangs() async {
        let failed = await failed(patience: .milliseconds(50)) { PreparePlugin.prepare { _, _ in await Self.never() } }
        #expect(failed.isSuperset(of: ["success", "cancellation", "stream", "concurrency"]))
    }

    @Test("download: a plugin that loses the body of a file")
    func losesFile() async {
        let failed = await failed {
            ProcessPlugin.process { result, _ in
                guard case .success(var response) = result, response.body.fileURL != nil else { return }
                response.body = .none
                result = .success(response)
            }
        }
        #expect(failed == ["download"])
    }

    @Test("Patience comes to an end with those who sleep again and again")
    func sleepsForEver() async {
        let clock = ManualClock()
        let sleeper = Task {
            while true { try await clock.sleep(for: .seconds(1)) }
        }
        await Patience.wait(.milliseconds(50), moving: clock, maximumMoveCount: 3) { clock.now.offset > .seconds(20) }
        #expect(clock.now.offset <= .seconds(3))
        sleeper.cancel()
    }

    @Test("cancellation: a plugin that answers a cancelled call")
    func answersCancelled() async {
        let failed = await failed {
            InterceptPlugin.intercept { request, _, next in
                guard let response = try? await next(request) else {
                    return PipelineResponse(request: request, statusCode: 200)
                }
                return response
            }
        }
        #expect(failed == ["cancellation"])
    }

    @Test("cancellation: a plugin that makes another failure of it")
    func renamesCancelled() async {
        let failed = await failed {
            ProcessPlugin.process { result, _ in
                if case .failure = result { result = .failure(PipelineError(.offline, "no")) }
            }
        }
        #expect(failed == ["cancellation"])
    }

    @Test("cancellation: a plugin that goes on waiting")
    func ignoresCancelled() async {
        let failed = await failed(patience: .milliseconds(500)) {
            InterceptPlugin.intercept { request, _, next in try await Task { try await next(request) }.value }
        }
        #expect(failed.contains("cancellation"))
    }

    /// Lets one call in at a time, and forgets to let the next one in when a call fails.
    private final class Turnstile: Stage.Intercept {
        let isBusy = Mutex(false)

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Next
        ) async throws -> PipelineResponse {
            while isBusy.withLock({ $0 }) { try await context.clock.sleep(for: .seconds(1)) }
            isBusy.withLock { $0 = true }
            let response = try await next(request)
            isBusy.withLock { $0 = false }
            return response
        }
    }

    @Test("cancellation: a plugin that is stuck after a cancelled call")
    func stuckAfterCancelled() async {
        let violations = await PluginConformance(patience: .milliseconds(500)) { Turnstile() }.run()
        #expect(violations.contains { $0.description == "cancellation: the call after a cancelled one did not end" })
    }

    @Test("stream: a plugin that collects the body first")
    func collects() async {
        let failed = await failed {
            InterceptPlugin.intercept { request, context, next in
                var response = try await next(request)
                response.body = .bytes(try await response.body.collect(upTo: context.limits.bufferedBodyByteCount))
                return response
            }
        }
        #expect(failed == ["stream"])
    }

    @Test("stream: a plugin that uses up some of the body")
    func usesUp() async {
        let failed = await failed {
            ProcessPlugin.process { result, _ in
                guard let body = (try? result.get())?.body, body.bytes == nil else { return }
                var pieces = body.chunks().makeAsyncIterator()
                _ = try? await pieces.next()
            }
        }
        #expect(failed == ["stream"])
    }

    @Test("stream: a plugin that drops pieces")
    func dropsPieces() async {
        let failed = await failed {
            ProcessPlugin.process { result, _ in
                guard var response = try? result.get(), response.body.bytes == nil else { return }
                response.body = .stream(response.body.chunks().filter { $0.count != 4_100 })
                result = .success(response)
            }
        }
        #expect(failed == ["stream"])
    }

    /// Answers by itself as soon as the request is on its way, which it leaves to itself.
    private final class Deserter: Stage.Intercept, Stage.WillSend {
        let hasSent = Mutex(false)

        func willSend(_ request: PipelineRequest, context: PipelineContext) {
            hasSent.withLock { $0 = true }
        }

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Next
        ) async throws -> PipelineResponse {
            Task { try await next(request) }
            await eventually { hasSent.withLock { $0 } }
            return PipelineResponse(request: request, statusCode: 200)
        }
    }

    @Test("pairs: a plugin that leaves an exchange behind")
    func leavesBehind() async {
        #expect(await failed { Deserter() }.contains("pairs"))
    }

    @Test("exchange: a plugin that reads bodies to their end, one that leaks a credential, and one that does neither")
    func exchange() async {
        let draining = await failed {
            ExchangePlugin.exchange { request, _, send in
                var response = try await send(request)
                response.body = .bytes(try await response.body.collect(upTo: 4 << 20))
                return response
            }
        }
        #expect(draining.contains("exchange"))
        for isCareful in [true, false] {
            let signing = await failed {
                ExchangePlugin.exchange { request, context, send in
                    guard !isCareful || !context.hasLeftOrigin else { return try await send(request) }
                    var request = request
                    try request.setHeader("t", for: .authorization, isSecret: true)
                    return try await send(request)
                }
            }
            #expect(signing == (isCareful ? [] : ["exchange"]))
        }
    }

    @Test("concurrency: a plugin that gives one call the answer of another")
    func mixesUp() async {
        let failed = await failed {
            let first = FirstAnswer()
            return InterceptPlugin.intercept { request, _, next in first.keep(try await next(request)) }
        }
        #expect(failed.contains("concurrency"))
    }

    private final class FirstAnswer: Sendable {
        let response = Mutex<PipelineResponse?>(nil)

        func keep(_ own: PipelineResponse) -> PipelineResponse {
            response.withLock { first in
                if first == nil { first = own }
                return first ?? own
            }
        }
    }

    private static func part(_ place: String, of error: PipelineError) -> String {
        switch place {
        case "the query": error.request?.query ?? ""
        case "a header field of the request": "\(error.request?.headers ?? [:])"
        case "Authorization": error.request?.headers[.authorization] ?? ""
        case "the body of the request": String(decoding: error.request?.body.bytes ?? Data(), as: UTF8.self)
        case "a header field of the response": "\(error.response?.headers ?? [:])"
        default: String(decoding: error.response?.data ?? Data(), as: UTF8.self)
        }
    }

    @Test(
        "secrets: a plugin that puts something of the messages into an error",
        arguments: [
            "the query", "a header field of the request", "Authorization", "the body of the request",
            "a header field of the response", "the body of the response",
        ]
    )
    func leaks(place: String) async {
        let violations = await PluginConformance {
            ProcessPlugin.process { result, _ in
                if case .success(let response) = result, response.statusCode == 500 {
                    result = .failure(PipelineError(.offline, "no", response: response))
                }
                guard case .failure(var error) = result, error.code != .cancelled else { return }
                error.reason = Self.part(place, of: error)
                result = .failure(error)
            }
        }.run()
        #expect(violations.contains { $0.description == "secrets: an error shows \(place)" })
        #expect(violations.allSatisfy { $0.check == "secrets" })
    }
}
