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
        await bench.outcome(.status(503, headers: [.retryAfter: "10"]), with: [deadline])
        let duration = start.duration(to: bench.clock.now)
        return duration > limit ? ["it waited for a retry until after context.latestDeadline"] : []
    }

    /// Finds a plugin that waits for a server whose responses are replayed.
    private static func replayed(_ bench: PluginBench) async -> [String] {
        let replay = ScriptedTransport.Step.answer { request, context in
            context.report(.replayed(true))
            return PipelineResponse(request: request, statusCode: 503, headers: [.retryAfter: "10"])
        }
        let start = bench.clock.now
        await bench.outcome(replay)
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
        _ = await bench.calls(2, of: bench.provider(transport, with: [outer])) { _ in PluginProbe() }
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
        if await isShared(bench, isStored: isStored, isInside: false) {
            found.append("a call with another identity got the same response")
        }
        if await isShared(bench, isStored: isStored, isInside: true) {
            found.append("a response to a request that got a credential inside the plugin reached another call")
        }
        return found
    }

    /// Returns whether a call got the response of another account, whose credential is set outside or inside.
    private static func isShared(_ bench: PluginBench, isStored: Bool, isInside: Bool) async -> Bool {
        let identity = PluginStack.prepare(name: "identity") { _, context in
            if !isInside { context.addIdentity("account \(context.callID)") }
        }
        let transport = ScriptedTransport(
            always: .answer { request, context in
                try await context.clock.sleep(for: .seconds(1))
                var sent = request
                if isInside {
                    sent.headers[.authorization] = "Bearer \(context.callID)"
                    sent.secretFields.insert(.authorization)
                }
                let fields: HTTPFields = [.cacheControl: "max-age=60"]
                return PipelineResponse(request: sent, statusCode: 200, headers: fields, data: Data("ok".utf8))
            }
        )
        let provider = bench.provider(transport, with: [identity])
        let probe = PluginProbe(number: isInside ? 1 : 0)
        _ = await bench.calls(2, of: provider) { _ in probe }
        if isStored { await bench.outcome { try await provider.request(probe) } }
        return transport.sent.count < (isStored ? 3 : 2)
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
            await bench.outcome { try await provider.request(PluginProbe(number: 2)) }
        }
        return transport.sent.count < 2 ? ["it stored a response although context.hasUnverifiedContent was true"] : []
    }
}
