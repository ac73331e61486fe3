#if canImport(SwiftUI)
import SwiftUI

struct PhotoListView: View {
    @Bindable var library: PhotoLibrary
    @State private var attempt = 0
    @State private var token = ""

    var body: some View {
        NavigationStack {
            List(library.photos) { photo in
                NavigationLink(photo.title, value: photo)
            }
            .overlay { if library.isLoading, library.photos.isEmpty { ProgressView() } }
            .safeAreaInset(edge: .bottom) {
                if let failure = library.failure { ErrorBanner(text: failure) { attempt += 1 } }
            }
            .navigationTitle("Photos")
            .navigationDestination(for: Photo.self) { PhotoView(photo: $0, library: library) }
            .refreshable { await library.load() }
            // Runs when the list appears and when `attempt` changes. It is cancelled when the list disappears.
            .task(id: attempt) { await library.load() }
            .alert("Access token", isPresented: $library.needsToken) {
                SecureField("Token", text: $token)
                Button("Save") { signIn() }
                Button("Cancel", role: .cancel) {}
            }
        }
    }

    private func signIn() {
        Task { [token] in await library.signIn(with: token) }
        token = ""
    }
}

struct ErrorBanner: View {
    let text: String
    let retry: @MainActor () -> Void

    var body: some View {
        HStack {
            Text(text)
            Spacer()
            Button("Retry", action: retry)
        }
        .padding()
        .background(.bar)
    }
}
#endif
