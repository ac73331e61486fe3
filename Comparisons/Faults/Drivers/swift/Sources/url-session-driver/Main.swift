import Driving
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The driver of URLSession, with an ephemeral configuration, because the default one shares its cookies and its cache.
@main
struct Main {
    static func main() async throws {
        var features = [
            "http1", "proxy-environment", "cookies", "decode", "timeout", "cancel", "concurrency", "limit",
            "fields", "redirects",
        ]
        if SystemAuthorities.areReplaceable { features += ["tls", "http2"] }
        let version = "URLSession (Foundation of Swift \(Driver.swiftVersion))"
        try await Driver(version: version, features: features) { example in
            SystemAuthorities.replace(for: example)
            let configuration = URLSessionConfiguration.ephemeral
            if let count = example.client.connections { configuration.httpMaximumConnectionsPerHost = count }
            if let deadline = example.steps.joined().compactMap(\.deadline).max() {
                configuration.timeoutIntervalForResource = Double(deadline) / 1000
            }
            return SessionClient(session: URLSession(configuration: configuration))
        }.run()
    }
}

struct SessionClient: Client {
    let session: URLSession

    func perform(_ call: Call) async throws -> Value {
        guard let url = URL(string: call.url) else { throw Refused("\(call.url) is no URL") }
        var request = URLRequest(url: url)
        request.httpMethod = call.method
        request.httpBody = call.data
        for field in call.fields { request.addValue(field[1], forHTTPHeaderField: field[0]) }
        if let deadline = call.deadline { request.timeoutInterval = Double(deadline) / 1000 }
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw Refused("\(response) is no HTTPURLResponse") }
        return Value(status: response.statusCode, body: data, of: call) { response.value(forHTTPHeaderField: $0) }
    }

    func close() async {
        session.finishTasksAndInvalidate()
    }
}
