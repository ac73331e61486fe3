import Foundation
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

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
    let state = Watched(State())
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
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw LoopbackSocket.lastError }
        wakeReader = ends[0]
        wakeWriter = Mutex(ends[1])
        do {
            (socket, port) = try LoopbackSocket.listening(
                wakeReader: ends[0],
                receiveBufferByteCount: receiveBufferByteCount
            )
        } catch {
            close(ends[0])
            close(ends[1])
            throw error
        }
        startThread { self.acceptConnections() }
    }

    func stop() {
        let writer = wakeWriter.withLock { $0.take() }
        guard let writer else { return }
        state.update { $0.isStopped = true }
        close(writer)
        threads.wait()
        socket.close()
        close(wakeReader)
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
        guard greeting.allSatisfy({ perform($0, on: connection) }) else { return }
        var reader = LoopbackRequestReader(limit: requestByteCount) { connection.receive() }
        do {
            while true {
                let request = try reader.next()
                state.update { state in
                    state.requests.append(request)
                    state.activity.requestCount += 1
                }
                guard handler(request).allSatisfy({ perform($0, on: connection) }) else { return }
            }
        } catch {
            guard case .refused(let status) = error else { return }
            _ = perform(.respond(status, headers: [("Connection", "close")]), on: connection)
        }
    }

    /// Returns whether the connection stays open.
    private func perform(_ action: LoopbackServer.Action, on connection: LoopbackSocket) -> Bool {
        switch action.kind {
        case .send(let bytes):
            return connection.send(bytes)
        case .receive:
            return connection.receive()?.isEmpty == false
        case .hold(let name):
            state.update { $0.activity.holdCount += 1 }
            // Longer than the wait of a test, which can explain more.
            if state.block(within: 180, until: { $0.isStopped || $0.released.contains(name) }) { return true }
            let sentence = "LoopbackServer: no test released “\(name)” in three minutes, so the connection is closed\n"
            FileHandle.standardError.write(Data(sentence.utf8))
            return false
        case .wait(let duration):
            return connection.pause(for: duration)
        case .close:
            return false
        case .reset:
            connection.resetOnClose()
            return false
        case .stall:
            while let bytes = connection.receive(), !bytes.isEmpty {}
            return false
        }
    }
}
