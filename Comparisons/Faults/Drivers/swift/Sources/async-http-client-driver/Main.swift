import AsyncHTTPClient
import Driving
import Foundation
import NIOCore
import NIOSSL

/// The driver of AsyncHTTPClient, with the default configuration.
@main
struct Main {
    static func main() async throws {
        let features = [
            "http1", "http2", "tls", "proxy", "decode", "timeout", "cancel", "concurrency", "limit", "fields",
            "redirects",
        ]
        let driver = Driver(
            version: "AsyncHTTPClient \(Driver.version(of: "async-http-client"))",
            features: features
        ) { example in
            var configuration = HTTPClient.Configuration()
            if example.needs("decode") { configuration.decompression = .enabled(limit: .size(maximumByteCount)) }
            if let path = example.authority {
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.trustRoots = .file(path)
                configuration.tlsConfiguration = tls
            }
            if let count = example.client.connections {
                configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = count
            }
            if let proxy = example.client.proxy.flatMap(URLComponents.init(string:)) {
                let (host, port) = (proxy.host ?? "", proxy.port ?? 80)
                configuration.proxy =
                    proxy.user.map { user in
                        .server(
                            host: host,
                            port: port,
                            authorization: .basic(username: user, password: proxy.password ?? "")
                        )
                    } ?? .server(host: host, port: port)
            }
            return DirectClient(client: HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration))
        }
        try await driver.run()
    }
}

/// The most bytes of a body, for which AsyncHTTPClient has no default.
private let maximumByteCount = 100 << 20

struct DirectClient: Client {
    let client: HTTPClient

    func perform(_ call: Call) async throws -> Value {
        var request = HTTPClientRequest(url: call.url)
        request.method = .init(rawValue: call.method)
        for field in call.fields { request.headers.add(name: field[0], value: field[1]) }
        if let data = call.data { request.body = .bytes(data) }
        let timeout = call.deadline.map { TimeAmount.milliseconds(Int64($0)) } ?? .seconds(30)
        let response = try await client.execute(request, timeout: timeout)
        let body = try await response.body.collect(upTo: maximumByteCount)
        return Value(status: Int(response.status.code), body: Data(body.readableBytesView), of: call) { name in
            let values = response.headers[name]
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
    }

    func close() async {
        try? await client.shutdown()
    }
}
