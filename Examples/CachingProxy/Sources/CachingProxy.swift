import AsyncHTTPClient
import Foundation
import NIOCore
import Pipeline

/// Starts a caching reverse proxy on the loopback address, with a page that shows hits and misses.
@main
struct CachingProxy {
    static func main() async {
        do {
            let options = try ProxyOptions(CommandLine.arguments.dropFirst())
            if options.showsHelp {
                print(ProxyOptions.help)
            } else {
                try await run(options)
            }
        } catch {
            FileHandle.standardError.write(Data("caching-proxy: \(error)\n".utf8))
            exit(1)
        }
    }

    static func run(_ options: ProxyOptions) async throws {
        let server = try await LoopbackServer.start(port: options.port)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let demo = options.origin == nil ? try await LoopbackServer.start(port: 0) : nil
            if let demo { group.addTask { try await demo.run(handler: DemoOrigin().respond) } }
            let origin = options.origin ?? demo?.origin ?? ""
            let proxy = ReverseProxy(origin: origin, transport: makeTransport(), cache: options.makeCachePlugin())
            let log = RequestLog(demo: options.origin == nil ? DemoOrigin.resources : [])
            print("The proxy listens on \(server.origin) and forwards to \(origin).")
            print("Hits and misses: \(server.origin)\(StatusPage.path)")
            // A script that starts the proxy reads these lines through a pipe.
            fflush(nil)
            group.addTask { try await server.run(handler: StatusPage(log: log, proxy: proxy).respond) }
            try await group.next()
        }
    }

    /// Returns a transport that closes idle connections before common servers do, such as Node.js after 5 s.
    ///
    /// A request that is sent while the server closes the connection fails, unless its method is safe.
    private static func makeTransport() -> AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.connectionPool.idleTimeout = .seconds(3)
        return AsyncHTTPClientTransport(configuration: configuration)
    }
}
