import Dispatch
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("AsyncHTTPClientSendWindow", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientSendWindowTests {
    /// An event loop that is blocked until it is released.
    private final class StuckEventLoop: Sendable {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        private let signal = DispatchSemaphore(value: 0)

        init() { group.next().execute { [signal] in signal.waitForSignal() } }

        func goOn() { signal.signal() }
    }

    @Test("At most 16 retained pieces are made while the event loop is blocked")
    func held() async throws {
        let eventLoop = StuckEventLoop()
        let made = Tally()
        let goneOn = Tally()
        let making = Task {
            var window = AsyncHTTPClientSendWindow(eventLoop.group)
            var buffers: [ByteBuffer] = []
            for number in 0..<17 {
                buffers.append(ByteBuffer(integer: number))
                await window.add(buffers[number])
                made.add()
            }
            #expect(buffers.count == 17)
            return goneOn.count
        }
        await eventually { made.count >= 16 }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(made.count == 16)
        goneOn.add()
        eventLoop.goOn()
        #expect(await making.value == 1)
        try await eventLoop.group.shutdownGracefully()
    }

    @Test("Released pieces are not counted")
    func released() async throws {
        let eventLoop = StuckEventLoop()
        var window = AsyncHTTPClientSendWindow(eventLoop.group)
        for number in 0..<1_000 { await window.add(ByteBuffer(integer: number)) }
        eventLoop.goOn()
        try await eventLoop.group.shutdownGracefully()
    }
}
