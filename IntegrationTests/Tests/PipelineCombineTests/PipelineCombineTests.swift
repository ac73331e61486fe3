// Imports neither Pipeline nor PipelineAPI, because PipelineCombine exports both.
import PipelineCombine
import TestSupport
import Testing

@Suite("import PipelineCombine", .watched)
struct PipelineCombineTests {
    private struct Local: Transport {
        let decodesContent = false

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            PipelineResponse(request: request, statusCode: 200)
        }
    }

    @Test("Source that imports only PipelineCombine makes providers and API clients, and has their publishers")
    func onlyImport() async throws {
        let provider = Provider<MultiTarget>(transport: Local())
        let target = URLTarget("https://api.example.com/books")
        #expect(try await provider.request(target).statusCode == 200)
        _ = provider.requestPublisher(target)
        let request = APIRequest<IgnoredBody>("books")
        let api = APIClient(provider, server: ServerURL(base: "https://api.example.com"))
        #expect(try await api.send(request.withResponse).response.statusCode == 200)
        _ = api.requestPublisher(request)
    }
}
