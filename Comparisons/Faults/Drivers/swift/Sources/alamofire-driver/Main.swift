import Alamofire
import Driving
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The driver of Alamofire, with an ephemeral configuration, because the default one shares its cookies and its cache.
@main
struct Main {
    static func main() async throws {
        var features = [
            "http1", "proxy-environment", "cookies", "decode", "timeout", "cancel", "retry", "concurrency",
            "limit", "fields", "redirects",
        ]
        if SystemAuthorities.areReplaceable { features += ["tls", "http2"] }
        let version = "Alamofire \(AFInfo.version) (Foundation of Swift \(Driver.swiftVersion))"
        try await Driver(version: version, features: features) { example in
            SystemAuthorities.replace(for: example)
            let configuration = URLSessionConfiguration.af.ephemeral
            if let count = example.client.connections { configuration.httpMaximumConnectionsPerHost = count }
            if let deadline = example.steps.joined().compactMap(\.deadline).max() {
                configuration.timeoutIntervalForResource = Double(deadline) / 1000
            }
            return AlamofireClient(
                session: Session(
                    configuration: configuration,
                    interceptor: example.needs("retry") ? RetryPolicy() : nil
                )
            )
        }.run()
    }
}

struct AlamofireClient: Client {
    let session: Session

    func perform(_ call: Call) async throws -> Value {
        var headers = HTTPHeaders()
        for field in call.fields { headers.add(name: field[0], value: field[1]) }
        var request = try URLRequest(url: call.url, method: HTTPMethod(rawValue: call.method), headers: headers)
        request.httpBody = call.data
        if let deadline = call.deadline { request.timeoutInterval = Double(deadline) / 1000 }
        // An empty body is a value here, not an error.
        let task = session.request(request).serializingData(emptyResponseCodes: Set(100..<600))
        let data = try await task.value
        guard let response = await task.response.response else { throw Refused("there is no response") }
        return Value(status: response.statusCode, body: data, of: call) { response.value(forHTTPHeaderField: $0) }
    }

    func close() async {
        session.session.finishTasksAndInvalidate()
    }
}
