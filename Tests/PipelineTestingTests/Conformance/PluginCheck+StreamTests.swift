import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PluginConformance: stream", .tags(.concurrent), .watched)
struct PluginCheckStreamTests {
    @Test("stream: a plugin that collects the body first fails")
    func collects() async {
        let failed = await PluginConformanceTests.failed {
            PluginStack.intercept { request, context, next in
                var response = try await next(request)
                response.body = .bytes(try await response.body.collect(upTo: context.limits.bufferedBodyByteCount))
                return response
            }
        }
        #expect(failed == ["stream"])
    }

    @Test("stream: a plugin that consumes part of the body fails")
    func usesUp() async {
        let failed = await PluginConformanceTests.failed {
            PluginStack.process { result, _ in
                guard let body = (try? result.get())?.body, body.bytes == nil else { return }
                var pieces = body.chunks().makeAsyncIterator()
                _ = try? await pieces.next()
            }
        }
        #expect(failed == ["stream"])
    }

    @Test("stream: a plugin that drops pieces fails")
    func dropsPieces() async {
        let failed = await PluginConformanceTests.failed {
            PluginStack.process { result, _ in
                guard var response = try? result.get(), response.body.bytes == nil else { return }
                response.body = .stream(response.body.chunks().filter { $0.count != 4_100 })
                result = .success(response)
            }
        }
        #expect(failed == ["stream"])
    }
}
