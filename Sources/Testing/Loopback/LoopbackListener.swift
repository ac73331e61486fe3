import Foundation
import Synchronization

/// Accepts connections on its own thread and serves each of them on another.
///
/// Every wait includes the read end of a pipe; closing the write end permanently wakes all threads.
final class LoopbackListener: Sendable {
    struct State {
        var activity = LoopbackServer.Activity()
        var requests: [LoopbackServer.Request] = []
        /// The names of holds that were released.
        var released: Set<String> = []
        var isStopped = false
    }

    let port: Int
    let state = WaitableValue(State())
    private let requestByteCount: Int
    private let greeting: [LoopbackServer.Action]
    private let handler: LoopbackServer.Handler
    private let socket: LoopbackSocket
    private let wakeReader: CInt
    private let wakeWriter: Mutex<CInt?>
    private let threads = DispatchGroup()

    init(
        requestByteCount: Int,
        receiveBufferByteCount: Int?,
        greeting: [LoopbackServer.Action],
        handler: @escaping LoopbackServer.Handler
    ) throws {
        self.requestByteCount = requestByteCount
        self.greeting = greeting
        self.handler = handler
        let (reader, writer) = try LoopbackSocket.makePipe()
        wakeReader = reader
        wakeWriter = Mutex(writer)
        do {
            (socket, port) = try LoopbackSocket.listening(
                wakeReader: reader,
                receiveBufferByteCount: receiveBufferByteCount
            )
        } catch {
            for end in [reader, writer] { closeDescriptor(end) }
            throw error
        }
        startThread { self.acceptConnections() }
    }

    func stop() {
        let writer = wakeWriter.withLock { $0.take() }
        guard let writer else { return }
        state.update { $0.isStopped = true }
        closeDescriptor(writer)
        threads.wait()
        socket.close()
        closeDescriptor(wakeReader)
    }

    private func startThread(_ body: @escaping @Sendable () -> Void) {
        threads.enter()
        let thread = Thread { [threads] in
            body()
            threads.leave()
        }
        thread.stackSize = 512 << 10
        thread.start()
    }

    private func acceptConnections() {
        while socket.waitUntilReady(for: LoopbackSocket.readable) {
            guard let connection = socket.accept() else { continue }
            state.update { state in
                state.activity.connectionCount += 1
                state.activity.openConnectionCount += 1
            }
            startThread {
                self.serve(connection)
                connection.close()
                self.state.update { $0.activity.openConnectionCount -= 1 }
            }
        }
    }

    private func serve(_ connection: LoopbackSocket) {
        guard greeting.allSatisfy({ $0.perform(connection, state) }) else { return }
        var reader = LoopbackRequestReader(limit: requestByteCount) { connection.receive() }
        do {
            while true {
                let request = try reader.next()
                state.update { state in
                    state.requests.append(request)
                    state.activity.requestCount += 1
                }
                guard handler(request).allSatisfy({ $0.perform(connection, state) }) else { return }
            }
        } catch {
            guard case .refused(let status) = error else { return }
            _ = LoopbackServer.Action.respond(status, headers: [("Connection", "close")]).perform(connection, state)
        }
    }
}
