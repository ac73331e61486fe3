import Driving
import Foundation
import Pipeline
import Synchronization

/// A provider for the URLs of a case.
struct PipelineClient: Client {
    let provider: Provider<URLTarget>
    let transport: any Transport

    func perform(_ call: Call) async throws -> Value {
        guard let method = HTTPRequest.Method(call.method) else {
            throw Refused("\(call.method) is no HTTPRequest.Method")
        }
        let fields = Dictionary(call.fields.map { ($0[0], $0[1]) }) { _, last in last }
        let task = call.data.map(RequestTask.requestData) ?? .requestPlain
        let target = URLTarget(call.url, method: method, task: task, headers: fields)
        if let count = call.events, let limit = call.for { return try await events(target, count, limit) }
        let options = RequestOptions { options in
            if let deadline = call.deadline { options.totalTimeout = .milliseconds(deadline) }
        }
        let response = try await provider.request(target, options: options)
        return Value(status: response.statusCode, body: response.data, of: call) { response.header($0) }
    }

    /// Returns the data of the events that arrive within a number of milliseconds, at most `count`.
    private func events(_ target: URLTarget, _ count: Int, _ limit: Int) async throws -> Value {
        let received = Mutex<[String]>([])
        let subscription = Task {
            for try await event in provider.serverSentEvents(target) {
                let isLast = received.withLock { events in
                    events.append(event.data)
                    return events.count == count
                }
                if isLast { return }
            }
        }
        let timer = Task {
            try await Task.sleep(for: .milliseconds(limit))
            subscription.cancel()
        }
        defer { timer.cancel() }
        do {
            try await subscription.value
        } catch is CancellationError {}
        return Value(events: received.withLock(\.self))
    }

    func close() async {
        try? await (transport as? AsyncHTTPClientTransport)?.shutdown()
    }
}
