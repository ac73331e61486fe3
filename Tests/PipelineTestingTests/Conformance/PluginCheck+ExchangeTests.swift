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
}
