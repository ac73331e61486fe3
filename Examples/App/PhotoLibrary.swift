import Foundation
import Observation
import Pipeline

/// The photos that were loaded, and the state of loading, for the views.
@MainActor
@Observable
final class PhotoLibrary {
    private(set) var photos: [Photo] = []
    private(set) var isLoading = false
    private(set) var failure: String?

    private let provider: Provider<PhotosAPI>

    init(provider: Provider<PhotosAPI>) {
        self.provider = provider
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
        } catch let error as PipelineError where error.code == .sessionEnded {
            clear()  // the session shows its sign-in
        } catch {
            failure = error.localizedDescription
        }
    }

    /// Removes what belongs to a user after signing out.
    func clear() {
        photos = []
        failure = nil
    }

    func imageResponse(for photo: Photo) async throws -> PipelineResponse {
        try await provider.request(.image(photo)).filterSuccessfulStatusCodes()
    }
}
