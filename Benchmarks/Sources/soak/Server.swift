import Foundation
import Synchronization

/// The server of a run, with a thread for each connection: `soak serve --seed N`.
///
/// It writes its port on the first line, and then the number of open connections for every line that it reads. It ends
/// when its input ends.
final class Server: Sendable {
    private let seed: UInt64
    private let payload: Payload
    private let descriptor: CInt
    private let openCount = Atomic(0)

    static func run(seed: UInt64) throws -> Never {
        signal(SIGPIPE, SIG_IGN)
        let (descriptor, port) = try Socket.listen()
        let server = Server(seed: seed, descriptor: descriptor)
        startThread { server.accept() }
        write("\(port)")
        while readLine() != nil { write("\(server.openCount.load(ordering: .acquiring))") }
        exit(0)
    }

    private init(seed: UInt64, descriptor: CInt) {
        self.seed = seed
        self.descriptor = descriptor
        payload = Payload(seed: seed)
    }

    private static func write(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread { body() }
        thread.stackSize = 512 << 10
        thread.start()
    }

    private func accept() {
        while true {
            guard let connection = Socket.accept(descriptor) else { continue }
            openCount.add(1, ordering: .acquiringAndReleasing)
            Self.startThread {
                self.serve(connection)
                Socket.close(connection)
                self.openCount.subtract(1, ordering: .acquiringAndReleasing)
            }
        }
    }

    private func serve(_ connection: CInt) {
        var reader = RequestReader { Socket.receive(connection) }
        while let request = reader.next() {
            guard let answer = answer(to: request) else { return }
            for step in answer.steps where !perform(step, connection) { return }
        }
    }

    private func answer(to request: RequestReader.Request) -> Answer? {
        let parts = request.target.split(separator: "/").compactMap { Int($0) }
        guard parts.count == 2 else { return nil }
        return Answer(
            to: Plan(seed: seed, index: parts[0]),
            attempt: request.fields["x-attempt"].flatMap { Int($0) } ?? 1,
            hop: parts[1],
            sent: (request.body, request.fields["content-encoding"]),
            payload: payload
        )
    }

    /// Performs a step and returns whether the connection stays open.
    private func perform(_ step: Answer.Step, _ connection: CInt) -> Bool {
        switch step {
        case .send(let data):
            return Socket.send(connection, data)
        case .pause(let milliseconds):
            usleep(UInt32(milliseconds) * 1_000)
            return true
        case .close:
            return false
        case .reset:
            Socket.resetOnClose(connection)
            return false
        }
    }
}
