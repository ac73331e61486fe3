import Foundation
import PipelineMoya
import PipelineTesting
import PipelineTransports
import TestSupport
import Testing

@Suite(.realTime, .watched) struct MoyaSessionTests {
    private func endpoint(_ target: Photos) -> Endpoint { MoyaProvider.defaultEndpointMapping(for: target) }

    @Test("A provider sends requests with the transport of its session, also if a subclass overrides the initializer")
    func transport() async {
        let transport = ScriptedTransport(always: .status(200))
        let session = Session(transport: transport)
        let provider = AppProvider<Photos>(session: session)
        let result = await provider.result(of: .upload(Data("jpeg".utf8), album: "pets"))
        #expect(result.text == "200")
        #expect(provider.session === session)
        #expect(transport.sent.map { $0.header("X-Version") } == ["2"])
    }

    @Test("A session of a subclass has a URLSessionTransport with its configuration")
    func configuration() {
        #expect(AppSession.shared.transport is URLSessionTransport)
        #expect(AppSession.shared.sessionConfiguration.timeoutIntervalForRequest == 30)
        #expect(MoyaProvider<Photos>().session.transport is URLSessionTransport)
        #expect(MoyaProvider<Photos>().session.sessionConfiguration.urlCache != nil)
    }

    @Test("A session keeps its configuration if the caller changes it later")
    func copiedConfiguration() {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 7
        let session = Session(configuration: configuration)
        configuration.timeoutIntervalForRequest = 8
        #expect(session.sessionConfiguration.timeoutIntervalForRequest == 7)
    }

    @Test("Plugins see the header fields that the configuration of the session adds")
    func sessionHeaders() {
        let log = CallLog()
        final class HeaderPlugin: PluginType {
            let log: CallLog
            init(_ log: CallLog) { self.log = log }
            func willSend(_ request: any RequestType, target: any TargetType) { log.add("\(request.sessionHeaders)") }
        }
        let stubbed = AppProvider<Photos>(session: AppSession.shared, plugins: [HeaderPlugin(log)])
        _ = stubbed.notifyPluginsOfImpendingStub(
            for: URLRequest(url: exampleURL),
            target: .upload(Data(), album: "pets")
        )
        #expect(log.entries == [#"["X-App": "shop"]"#])
    }

    @Test("Forms with one part each, as in Moya 15.0, are sent as one form")
    func formsOfOnePart() {
        let image = MultipartFormBodyPart(
            provider: .data(Data("jpeg".utf8)),
            name: "image",
            fileName: "a.jpg",
            mimeType: "image/jpeg"
        )
        let album = MultipartFormBodyPart(provider: .data(Data("pets".utf8)), name: "album")
        guard case .uploadMultipart(let parts) = Photos.upload(Data("jpeg".utf8), album: "pets").task,
            case .uploadCompositeMultipart(let others, let query) = Photos.uploadTo(Data("jpeg".utf8), album: "pets")
                .task
        else {
            Issue.record("another task")
            return
        }
        #expect(parts == [image, album])
        #expect(others == [image])
        #expect(query as? [String: String] == ["album": "pets"])
    }

    @Test("A download destination can be a global constant")
    func globalDestination() throws {
        let head = try #require(HTTPURLResponse(url: exampleURL, statusCode: 200, httpVersion: nil, headerFields: nil))
        #expect(cachedPhoto(exampleURL, head).options == .removePreviousFile)
    }
}
