import Foundation
package import HTTPTypes
package import Pipeline
import PipelineCaching
import Synchronization

/// Suspension points of plugins, one of which may block until the call is cancelled.
package final class Checkpoints: Sendable {
    private struct State {
        var count = 0
        var isBlocked = false
    }

    private let state = Mutex(State())
    private let blocked: Int?

    /// - Parameter blocked: the number of the point that blocks, from 0; `nil` for none.
    package init(blocking blocked: Int? = nil) { self.blocked = blocked }

    /// How many points were reached.
    package var count: Int { state.withLock { $0.count } }

    /// Whether a call is blocked.
    package var isBlocked: Bool { state.withLock { $0.isBlocked } }

    package func pass() async throws {
        let isBlocking = state.withLock { state in
            defer { state.count += 1 }
            if state.count == blocked { state.isBlocked = true }
            return state.count == blocked
        }
        guard isBlocking else { return try Task.checkCancellation() }
        let never = AsyncStream<Never> { _ in }
        for await _ in never {}
        throw CancellationError()
    }
}

/// Exchange plugins that a typical HTTP client uses, as their authors would write them.
///
/// They are tested with the responses of `answer(to:after:)`.
package struct ExchangeUsers: Sendable {
    package static let signature = HTTPField.Name("X-Signature") ?? .userAgent

    package let jar: CookieJar
    package let limiter: Limiter
    package let plugins: [any PluginType]

    /// - Parameters:
    ///   - order: the order of the six plugins, as numbers from 0 to 5.
    ///   - checkpoints: where the plugins await.
    package init(order: [Int], _ checkpoints: Checkpoints = Checkpoints()) {
        jar = CookieJar(checkpoints)
        limiter = Limiter(checkpoints)
        let all: [any PluginType] = [
            jar, Cache(checkpoints: checkpoints), Signer(checkpoints: checkpoints), limiter,
            HopRetry(checkpoints: checkpoints), Offline(checkpoints: checkpoints),
        ]
        plugins = order.map { all[$0] }
    }

    /// Returns the server's response: `/start` sets a cookie and redirects to `/hop`, which fails once and then
    /// redirects to `/cached`.
    ///
    /// - Parameters:
    ///   - path: the path of the request.
    ///   - count: how many requests for the path came before.
    /// - Returns: the status, the fields and the body.
    package static func answer(to path: String, after count: Int) -> (status: Int, fields: HTTPFields, body: String) {
        switch path {
        case "/start": (302, [.location: "/hop", .setCookie: "s=1; Path=/"], "moved")
        case "/hop" where count == 0: (503, [:], "busy")
        case "/hop": (307, [.location: "/cached"], "moved")
        default: (200, [:], "from the server")
        }
    }

    /// Returns all permutations of `count` elements.
    package static func orders(of count: Int) -> [[Int]] {
        guard count > 0 else { return [[]] }
        return orders(of: count - 1).flatMap { order in
            (0...order.count).map { index in
                var order = order
                order.insert(count - 1, at: index)
                return order
            }
        }
    }
}

extension ExchangeUsers {
    /// Stores cookies by host.
    package final class CookieJar: Stage.Exchange {
        private let cookies = Mutex<[String: String]>([:])
        private let checkpoints: Checkpoints

        package var name: String { "CookieJar" }

        init(_ checkpoints: Checkpoints) { self.checkpoints = checkpoints }

        package func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            var request = request
            let host = request.head.authority ?? ""
            if let cookie = cookies.withLock({ $0[host] }) {
                let own = request.headers[.cookie].map { "\($0); \(cookie)" } ?? cookie
                try request.setHeader(own, for: .cookie, isSecret: true)
            }
            try await checkpoints.pass()
            let response = try await send(request)
            if let field = response.headers[.setCookie] {
                cookies.withLock { $0[host] = String(field.prefix { $0 != ";" }) }
            }
            try await checkpoints.pass()
            return response
        }
    }

    /// Responds to `/cached` from memory.
    package struct Cache: Stage.Exchange {
        let checkpoints: Checkpoints

        package var name: String { "Cache" }

        package func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            try await checkpoints.pass()
            guard request.path == "/cached" else { return try await send(request) }
            var response = PipelineResponse(request: request, statusCode: 200, data: Data("cached".utf8))
            response.source = .cache
            return response
        }
    }

    /// Signs requests to the call's first origin.
    package struct Signer: Stage.Exchange {
        let checkpoints: Checkpoints

        package var name: String { "Signer" }

        package func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            var request = request
            try await checkpoints.pass()
            if !context.hasLeftOrigin, request.origin == context.hopOrigin {
                let text = "\(request.method) \(request.path)"
                try request.setHeader(text, for: ExchangeUsers.signature, isSecret: true)
            }
            return try await send(request)
        }
    }

    /// Counts concurrent exchanges.
    package final class Limiter: Stage.Exchange {
        private let active = Mutex((now: 0, most: 0))
        private let checkpoints: Checkpoints

        package var name: String { "Limiter" }

        /// How many exchanges are running, and the most that ran concurrently.
        package var counts: (now: Int, most: Int) { active.withLock { $0 } }

        init(_ checkpoints: Checkpoints) { self.checkpoints = checkpoints }

        package func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            active.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            defer { active.withLock { $0.now -= 1 } }
            try await checkpoints.pass()
            let response = try await send(request)
            try await checkpoints.pass()
            return response
        }
    }

    /// Retries a 503 immediately.
    package struct HopRetry: Stage.Exchange {
        let checkpoints: Checkpoints

        package var name: String { "HopRetry" }

        package func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            var response = try await send(request)
            try await checkpoints.pass()
            guard response.statusCode == 503, request.body.isReplayable else { return response }
            await response.discardBody(context)
            return try await send(request)
        }
    }

    /// Responds with a fallback if the connection fails.
    package struct Offline: Stage.Exchange {
        let checkpoints: Checkpoints

        package var name: String { "Offline" }

        package func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            try await checkpoints.pass()
            do {
                return try await send(request)
            } catch let error as PipelineError where error.code.isKind(of: .connect) {
                try await checkpoints.pass()
                var response = PipelineResponse(request: request, statusCode: 200, data: Data("offline".utf8))
                response.source = .fallback
                return response
            }
        }
    }
}
