import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PluginConformance: exchange", .tags(.concurrent), .watched)
struct PluginCheckExchangeTests {
    @Test("exchange: plugins that drain bodies or leak a credential fail, and one that does neither passes")
    func exchange() async {
        let draining = await PluginConformanceTests.failed {
            PluginStack.exchange { request, _, send in
                var response = try await send(request)
                response.body = .bytes(try await response.body.collect(upTo: 4 << 20))
                return response
            }
        }
        #expect(draining.contains("exchange"))
        for isCareful in [true, false] {
            let signing = await PluginConformanceTests.failed {
                PluginStack.exchange { request, context, send in
                    guard !isCareful || !context.hasLeftOrigin else { return try await send(request) }
                    var request = request
                    try request.setHeader("t", for: .authorization, isSecret: true)
                    return try await send(request)
                }
            }
            #expect(signing == (isCareful ? [] : ["exchange"]))
        }
    }

    @Test("resending: a plugin that sends again beside an open body fails, and one that discards it passes")
    func resending() async {
        for discards in [true, false] {
            let exchange = await PluginConformanceTests.failed {
                PluginStack.exchange { request, context, send in
                    var response = try await send(request)
                    guard response.statusCode == 503 else { return response }
                    if discards { await response.discardBody(context) }
                    let second = try await send(request)
                    withExtendedLifetime(response) {}
                    return second
                }
            }
            #expect(exchange == (discards ? [] : ["resending"]))
        }
    }
}
