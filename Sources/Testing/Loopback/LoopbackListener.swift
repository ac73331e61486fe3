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
    let port: Int
    let board = LoopbackBoard()
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
        board.stop()
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
        while socket.waitUntilReady(to: .read) {
            guard let connection = socket.accept() else { continue }
            board.connectionBegan()
            startThread {
                self.serve(connection)
                connection.close()
                self.board.connectionEnded()
            }
        }
    }

    private func serve(_ connection: LoopbackSocket) {
        for action in greeting where !perform(action, on: connection) { return }
        var reader = LoopbackRequestReader(limit: requestByteCount) { connection.receive() }
        while true {
            switch reader.next() {
            case .request(let request):
                board.record(request)
                for action in handler(request) where !perform(action, on: connection) { return }
            case .refused(let status):
                _ = perform(.respond(status, headers: [("Connection", "close")]), on: connection)
                return
            case .end:
                return
            }
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
            if board.hold(name) { return true }
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
