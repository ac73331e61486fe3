import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("httpbin: delays, timeouts and cancellation", .besideHTTPBin, .realTime, .watched)
struct DelayTests {
    private enum Slow: HTTPBinTarget {
        case delay(Double)
        /// Like `delay`, which lasts at most 10 s.
        case silence(seconds: Double)
        case drip(seconds: Double)
        case now

        var path: String {
            switch self {
            case .delay(let seconds): "/delay/\(seconds)"
            case .drip, .silence: "/drip"
            case .now: "/get"
            }
        }

        var task: RequestTask {
            let parameters: RequestParameters
            switch self {
            case .delay, .now: return .requestPlain
            case .silence(let seconds): parameters = ["numbytes": 1, "duration": 0, "delay": seconds]
            case .drip(let seconds): parameters = ["numbytes": 10, "duration": seconds]
            }
            return .requestParameters(parameters: parameters, encoding: URLEncoding.queryString)
        }
    }

    /// A provider with one connection, so that the next call waits until an ended one has released it.
    private func makeProvider(_ plugins: any PluginType...) -> Provider<Slow> {
        Provider(transport: .withOneConnection, plugins: plugins)
    }

    @Test("a call waits for a delayed response")
    func delayed() async throws {
        let start = ContinuousClock.now
        #expect(try await makeProvider().request(.delay(0.5)).statusCode == 200)
        #expect(ContinuousClock.now - start >= .milliseconds(500))
    }

    @Test("an attempt that takes too long times out, before and within the body", arguments: [true, false])
    func attemptTimeout(isBody: Bool) async throws {
        let provider = makeProvider()
        let start = ContinuousClock.now
        let options = RequestOptions { $0.attemptTimeout = .milliseconds(300) }
        let error = try #require(
            await provider.failure(isBody ? .drip(seconds: 40) : .silence(seconds: 40), options: options)
        )
        #expect(error.code == .timeout(.attempt))
        #expect(error.exchanges.map(\.failure) == [.timeout(.attempt)])
        #expect(ContinuousClock.now - start >= .milliseconds(300))
        #expect(try await provider.request(.now).statusCode == 200)
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test("an attempt that ends in time does not time out")
    func inTime() async throws {
        let options = RequestOptions { $0.attemptTimeout = .seconds(20) }
        #expect(try await makeProvider().request(.delay(0.1), options: options).statusCode == 200)
    }

    @Test("URLSession: a call without a byte within timeoutIntervalForRequest fails with timeout.head")
    func idleTimeout() async throws {
        let configuration = URLSessionTransport.makeDefaultConfiguration()
        configuration.timeoutIntervalForRequest = 1
        configuration.httpMaximumConnectionsPerHost = 1
        let provider = Provider<Slow>(transport: URLSessionTransport(configuration: configuration))
        let start = ContinuousClock.now
        #expect(await provider.failure(.silence(seconds: 40))?.code == .timeout(.head))
        // On a busy machine, the next call may take more than a second, too.
        var status: Int?
        for _ in 0..<20 where status == nil { status = try? await provider.request(.now).statusCode }
        #expect(status == 200)
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test("a call that is cancelled while it waits for its response ends at once")
    func cancelledInDelay() async throws {
        let sent = Signal()
        let provider = makeProvider(.willSend { _, _ in sent.send() })
        let start = ContinuousClock.now
        let call = Task { try await provider.request(.silence(seconds: 40)) }
        await sent.wait()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try await provider.request(.now).statusCode == 200)
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test("a stream that is cancelled in mid-body ends at once")
    func cancelledInBody() async throws {
        let provider = makeProvider()
        let begun = Signal()
        let start = ContinuousClock.now
        let reading = Task {
            let streamed = try await provider.stream(.drip(seconds: 40))
            for try await _ in streamed.body { begun.send() }
        }
        await begun.wait()
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(try await provider.request(.now).statusCode == 200)
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test("a handle cancels its call, and the completion handler gets the error")
    func handle() async throws {
        let sent = Signal()
        let provider = makeProvider(.willSend { _, _ in sent.send() })
        let handle = Mutex<Task<Void, Never>?>(nil)
        async let outcome = withCheckedContinuation { continuation in
            let made = provider.request(.silence(seconds: 40)) { continuation.resume(returning: $0) }
            handle.withLock { $0 = made }
            sent.send()
        }
        await sent.wait()
        await sent.wait()
        handle.withLock { $0 }?.cancel()
        guard case .failure(let error) = await outcome else {
            Issue.record("the call has succeeded")
            return
        }
        #expect(error.code == .cancelled)
    }

    @Test("the transport still works after thirty calls are cancelled together")
    func manyCancelled() async throws {
        let provider = Provider<Slow>()
        await withTaskGroup { group in
            for index in 0..<30 {
                group.addTask { _ = try? await provider.request(index.isMultiple(of: 2) ? .delay(3) : .now) }
            }
            _ = await group.next()
            group.cancelAll()
        }
        #expect(try await provider.request(.now).statusCode == 200)
    }
}
