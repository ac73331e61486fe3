import Foundation
import Pipeline
import Synchronization

/// A plugin of another package that lets a fixed number of exchanges run at the same time.
final class StrangersLimiter: Stage.Exchange, OptionHandling {
    private struct Line {
        var permitCount: Int
        var lastNumber = 0
        var waiting: [(number: Int, priority: TrafficPriority, turn: AsyncStream<Never>.Continuation)] = []
    }

    private let line: Mutex<Line>

    var handledOptions: [RequestOptions.PluginOption] { [.priority] }

    init(maximumCount: Int) {
        line = Mutex(Line(permitCount: maximumCount))
    }

    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        try await enter(context)
        do {
            var response = try await send(request)
            if response.body.bytes != nil {
                leave()
            } else {
                let permit = Permit { [self] in leave() }
                let chunks = PermittedChunks(upstream: response.body.chunks(), permit: permit)
                response.body = .stream(chunks, byteCount: response.body.byteCount)
            }
            return response
        } catch {
            leave()
            throw error
        }
    }

    private func enter(_ context: PipelineContext) async throws {
        let (turns, turn) = AsyncStream<Never>.makeStream()
        let number = line.withLock { line -> Int? in
            guard line.permitCount == 0 else {
                line.permitCount -= 1
                return nil
            }
            line.lastNumber += 1
            line.waiting.append((line.lastNumber, context.options.priority, turn))
            return line.lastNumber
        }
        guard let number else { return }
        let start = context.clock.now
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in turns {} }
            group.addTask { await Self.waitForDeadline(context) }
            await group.next()
            group.cancelAll()
        }
        let isRefused = line.withLock { line -> Bool in
            guard let index = line.waiting.firstIndex(where: { $0.number == number }) else { return false }
            line.waiting.remove(at: index)
            return true
        }
        if Task.isCancelled {
            if !isRefused { leave() }
            throw CancellationError()
        }
        context.annotate(isRefused ? "refused" : "waited", by: self, duration: start.duration(to: context.clock.now))
        guard isRefused else { return }
        let cause = context.exchanges.last.map {
            PipelineError.RefusalCause(code: $0.failure ?? .unacceptableStatus, statusCode: $0.statusCode)
        }
        let code = PipelineError.Code(rawValue: "timeout.queue")
        throw PipelineError.refused(code, "no permit was free in time, nothing was sent", cause: cause)
    }

    /// Waits until no call needs the exchange any more; calls that join it may extend the wait.
    private static func waitForDeadline(_ context: PipelineContext) async {
        while let deadline = context.latestDeadline, !Task.isCancelled {
            if deadline <= context.clock.now { return }
            try? await context.clock.sleep(until: deadline)
        }
        let (never, continuation) = AsyncStream<Never>.makeStream()
        for await _ in never {}
        withExtendedLifetime(continuation) {}
    }

    /// Passes a permit on to the call with the highest priority that has waited longest.
    private func leave() {
        let turn = line.withLock { line -> AsyncStream<Never>.Continuation? in
            let best = line.waiting.indices.min { one, other in
                let (one, other) = (line.waiting[one], line.waiting[other])
                return (other.priority, one.number) < (one.priority, other.number)
            }
            guard let best else {
                line.permitCount += 1
                return nil
            }
            return line.waiting.remove(at: best).turn
        }
        turn?.finish()
    }
}

/// A permit, which is given back when nothing holds it.
private final class Permit: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { end() }
}

/// A body that holds a permit until it has been read or released.
private struct PermittedChunks: AsyncSequence, Sendable {
    let upstream: PipelineBody.Chunks
    let permit: Permit

    func makeAsyncIterator() -> Iterator { Iterator(upstream: upstream.makeAsyncIterator(), permit: permit) }

    struct Iterator: AsyncIteratorProtocol {
        var upstream: PipelineBody.Chunks.AsyncIterator
        let permit: Permit

        mutating func next() async throws -> Data? { try await upstream.next() }
    }
}
