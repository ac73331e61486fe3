import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// What a plugin omits that other plugins need.
private enum Omission: Sendable {
    case nothing
    case deadline
    case replay
    case outcome
    case identities
    case credentials
    case unverified
}

/// A plugin that retries a 503 after the time that the server asks for.
private struct Retrying: Stage.Intercept, CapabilityDeclaring {
    let omission: Omission
    let capabilities: Set<PluginCapability> = [.retries]

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        var response = try await next(request)
        guard response.statusCode == 503, let wait = response.retryAfter(now: context.clock.date) else {
            return response
        }
        let moment = context.clock.now.advanced(by: wait)
        if omission != .deadline, let deadline = context.latestDeadline, moment >= deadline { return response }
        await response.discardBody(context)
        if omission == .replay || !context.isReplayed { try await context.clock.sleep(until: moment) }
        return try await next(request)
    }
}

/// A plugin that lets calls share an exchange, without more than the checks need.
private final class Sharing: Stage.Intercept, CapabilityDeclaring {
    private struct Ending {
        let result: Result<PipelineResponse, any Error>
        let outcome: Stage.SharedOutcome
        let isPersonal: Bool
    }

    let omission: Omission
    let capabilities: Set<PluginCapability> = [.sharesResponses]
    private let exchanges = Mutex<[[String]: Task<Ending, Never>]>([:])

    init(_ omission: Omission) { self.omission = omission }

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        guard !context.wantsStream else { return try await next(request) }
        let key = [request.url?.absoluteString ?? ""] + (omission == .identities ? [] : context.identities)
        let (exchange, isLeading) = exchanges.withLock { exchanges in
            if let exchange = exchanges[key] { return (exchange, false) }
            let exchange = Task { await outcome(of: request, context, next) }
            exchanges[key] = exchange
            return (exchange, true)
        }
        let ending = await withTaskCancellationHandler {
            await exchange.value
        } onCancel: {
            exchange.cancel()
        }
        exchanges.withLock { if $0[key] == exchange { $0[key] = nil } }
        let isPersonal = ending.isPersonal && omission != .credentials
        if isPersonal, !isLeading { return try await next(request) }
        if omission != .outcome, !isPersonal { context.share(ending.outcome, isJoined: !isLeading) }
        return try ending.result.get()
    }

    private func outcome(
        of request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next
    ) async -> Ending {
        var result: Result<PipelineResponse, any Error>
        do { result = .success(try await next(request)) } catch { result = .failure(error) }
        let isPersonal = context.exchanges.contains { context.mayNameAccount($0.request, otherThan: request) }
        return Ending(result: result, outcome: Stage.SharedOutcome(endedAt: context.clock.now), isPersonal: isPersonal)
    }
}

/// A cache that uses each response for an hour.
private final class Storing: Stage.Exchange, CapabilityDeclaring {
    let omission: Omission
    let capabilities: Set<PluginCapability> = [.caches]
    private let stored = Mutex<[[String]: PipelineResponse]>([:])

    init(_ omission: Omission) { self.omission = omission }

    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        let key = [request.url?.absoluteString ?? ""] + (omission == .identities ? [] : context.identities)
        if let hit = stored.withLock({ $0[key] }) { return hit }
        let response = try await send(request)
        let sent = response.exchanges.last?.request ?? response.request
        let isOfCall = omission != .credentials && context.mayNameAccount(sent, otherThan: request)
        let isWhole = omission == .unverified || !context.hasUnverifiedContent
        if response.statusCode == 200, response.body.bytes != nil, isWhole, !isOfCall {
            stored.withLock { $0[key] = response }
        }
        return response
    }
}

@Suite("PluginConformance: retries, sharing, storing", .tags(.concurrent), .watched)
struct PluginCheckSharingTests {
    private func found(
        by check: String,
        _ plugin: @escaping @Sendable () -> any PluginType
    ) async -> [String] {
        await PluginConformance(makePlugin: plugin).run().filter { $0.check == check }.map(\.message)
    }

    @Test(
        "retries: a plugin that waits after the deadline or for a replayed server fails",
        arguments: [
            (Omission.nothing, []), (.deadline, ["it waited for a retry until after context.latestDeadline"]),
            (.replay, ["it waited for a retry although context.isReplayed was true"]),
        ]
    )
    private func retries(omission: Omission, messages: [String]) async {
        #expect(await found(by: "retries") { Retrying(omission: omission) } == messages)
    }

    @Test(
        "sharing: a plugin that does not say that calls share, or gives one account the response of another, fails",
        arguments: [
            (Omission.nothing, []),
            (
                .outcome,
                [
                    "no call that shares is marked as isJoined",
                    "calls that share have no common sharedOutcome, so each decides separately about a retry",
                ]
            ), (.identities, ["a call with another identity got the same response"]),
            (.credentials, ["a response to a request that got a credential inside the plugin reached another call"]),
        ]
    )
    private func sharing(omission: Omission, messages: [String]) async {
        #expect(await found(by: "sharing") { Sharing(omission) } == messages)
    }

    @Test(
        "storing: a plugin that stores what belongs to one account, or what may be incomplete, fails",
        arguments: [
            (Omission.nothing, []), (.identities, ["a call with another identity got the same response"]),
            (.credentials, ["a response to a request that got a credential inside the plugin reached another call"]),
            (.unverified, ["it stored a response although context.hasUnverifiedContent was true"]),
        ]
    )
    private func storing(omission: Omission, messages: [String]) async {
        let found = await found(by: "storing") { Storing(omission) }
        #expect(found == messages)
    }

    @Test("A plugin without these capabilities is not checked for them")
    func unchecked() async {
        let retrying = PluginStack.intercept { request, context, next in
            try await Retrying(omission: .deadline).intercept(request, context: context, next: next)
        }
        #expect(await found(by: "retries") { retrying } == [])
    }
}
