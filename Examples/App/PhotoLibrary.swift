import Foundation
import Observation
import Pipeline
import PipelineAuth

/// The photos that were loaded, and the state of loading, for the views.
@MainActor
@Observable
final class PhotoLibrary {
    private(set) var photos: [Photo] = []
    private(set) var isLoading = false
    private(set) var failure: String?
    var needsToken = false

    private let provider: Provider<PhotosAPI>
    private let tokens: any CredentialStore

    init(transport: any Transport, tokens: any CredentialStore) {
        let token = AccessTokenPlugin { _ in
            try await tokens.load("token").map { String(decoding: $0, as: UTF8.self) }
        }
        self.tokens = tokens
        provider = Provider(transport: transport, plugins: [.standard { token }])
    }

    /// Loads the list, and changes nothing if the task is cancelled, for example because its view has disappeared.
    func load() async {
        isLoading = true
        defer { isLoading = false }
        do {
            photos = try await provider.request(.photos, as: [Photo].self)
            failure = nil
        } catch is CancellationError {
            return
        } catch {
            failure = error.localizedDescription
            needsToken = (error as? PipelineError)?.statusCode == 401
        }
    }

    func imageResponse(for photo: Photo) async throws -> PipelineResponse {
        try await provider.request(.image(photo))
    }

    func signIn(with token: String) async {
        do {
            try await tokens.save(Data(token.utf8), for: "token")
            await load()
        } catch {
            failure = error.localizedDescription
        }
    }
}
