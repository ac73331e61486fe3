import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

extension PluginCheck {
    /// Checks what a plugin that declares `retries`, `sharesResponses` or `caches` tells other plugins.
    static let retries = of(.retries) { await late($0) + replayed($0) }
    static let sharing = of(.sharesResponses) { await shared($0) + foreign($0, isStored: false) }
    static let storing = of(.caches) { await foreign($0, isStored: true) + unverified($0) }

    private static func of(
        _ capability: PluginCapability,
        _ check: @escaping @Sendable (PluginBench) async -> [String]
    ) -> @Sendable (PluginBench) async -> [String] {
        { bench in
            let plugins = PluginStack([bench.plugin]).plugins
            let declares = plugins.contains {
                ($0 as? any CapabilityDeclaring)?.capabilities.contains(capability) ?? false
            }
            return declares ? await check(bench) : []
        }
    }

    // MARK: Retries

    /// Finds a plugin that begins a wait that ends after the deadline.
    private static func late(_ bench: PluginBench) async -> [String] {
        let limit = Duration.milliseconds(1)
        let deadline = PluginStack.prepare(name: "deadline") { _, context in
            context.setDeadline(context.start.advanced(by: limit))
        }
        let start = bench.clock.now
        _ = await bench.outcome(of: PluginProbe(), .status(503, headers: [.retryAfter: "10"]), with: [deadline])
        let duration = start.duration(to: bench.clock.now)
        return duration > limit ? ["it waited for a retry until after context.latestDeadline"] : []
    }

    /// Finds a plugin that waits for a server whose responses are replayed.
    private static func replayed(_ bench: PluginBench) async -> [String] {
        let transport = ScriptedTransport(
            always: .answer { request, context in
                context.report(.replayed(true))
                return PipelineResponse(request: request, statusCode: 503, headers: [.retryAfter: "10"])
            }
        )
        let provider = bench.provider(transport)
        let start = bench.clock.now
        _ = await ObservedCall { try await provider.request(PluginProbe()) }
            .end(moving: bench.clock, patience: bench.patience)
        return bench.clock.now > start ? ["it waited for a retry although context.isReplayed was true"] : []
    }

    // MARK: Sharing

    /// Finds a plugin that gives two calls one response without saying so.
    private static func shared(_ bench: PluginBench) async -> [String] {
        let contexts = Mutex<[PipelineContext]>([])
        let outer = PluginStack.intercept(name: "outer") { request, context, next in
            contexts.withLock { $0.append(context) }
            return try await next(request)
        }
        let transport = ScriptedTransport(always: .delayed(.seconds(1), .status(503)))
        let provider = bench.provider(transport, with: [outer])
        let calls = (0..<2).map { _ in ObservedCall { try await provider.request(PluginProbe()) } }
        await Patience.wait(bench.patience, moving: bench.clock) { calls.allSatisfy(\.hasEnded) }
        guard transport.sent.count == 1 else { return [] }
        let (first, second) = contexts.withLock { ($0.first, $0.last) }
        var found: [String] = []
        if first?.isJoined != true, second?.isJoined != true {
            found.append("no call that shares is marked as isJoined")
        }
        if first?.sharedOutcome == nil || first?.sharedOutcome !== second?.sharedOutcome {
            found.append("calls that share have no common sharedOutcome, so each decides separately about a retry")
        }
        return found
    }

    /// Finds a plugin that gives one account the response of another.
    private static func foreign(_ bench: PluginBench, isStored: Bool) async -> [String] {
        var found: [String] = []
        let number = Mutex(0)
        for isInside in [false, true] {
            let name = HTTPField.Name.authorization
            let identity = PluginStack.prepare(name: "identity") { _, context in
                if !isInside { context.addIdentity("account \(context.callID)") }
            }
            let transport = ScriptedTransport(
                always: .answer { request, context in
                    try await context.clock.sleep(for: .seconds(1))
                    var sent = request
                    if isInside {
                        let count = number.withLock { number in
                            number += 1
                            return number
                        }
                        sent.headers[name] = "Bearer \(count)"
                        sent.secretFields.insert(name)
                    }
                    let fields: HTTPFields = [.cacheControl: "max-age=60"]
                    return PipelineResponse(request: sent, statusCode: 200, headers: fields, data: Data("ok".utf8))
                }
            )
            let provider = bench.provider(transport, with: [identity])
            let probe = PluginProbe(number: isInside ? 1 : 0)
            let calls = (0..<2).map { _ in ObservedCall { try await provider.request(probe) } }
            await Patience.wait(bench.patience, moving: bench.clock) { calls.allSatisfy(\.hasEnded) }
            if isStored {
                _ = await ObservedCall { try await provider.request(probe) }
                    .end(moving: bench.clock, patience: bench.patience)
            }
            guard transport.sent.count < (isStored ? 3 : 2) else { continue }
            found.append(
                isInside
                    ? "a response to a request that got a credential inside the plugin reached another call"
                    : "a call with another identity got the same response"
            )
        }
        return found
    }

    // MARK: Storing

    /// Finds a plugin that stores a response whose content the transport could not verify.
    private static func unverified(_ bench: PluginBench) async -> [String] {
        let transport = ScriptedTransport(
            always: .answer { request, context in
                context.report(.unverifiedContent)
                let fields: HTTPFields = [.cacheControl: "max-age=60"]
                return PipelineResponse(request: request, statusCode: 200, headers: fields, data: Data("half".utf8))
            }
        )
        let provider = bench.provider(transport)
        for _ in 0..<2 {
            _ = await ObservedCall { try await provider.request(PluginProbe(number: 2)) }
                .end(moving: bench.clock, patience: bench.patience)
        }
        return transport.sent.count < 2 ? ["it stored a response although context.hasUnverifiedContent was true"] : []
    }
}
