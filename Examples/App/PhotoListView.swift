#if canImport(SwiftUI)
import Pipeline
import SwiftUI

struct PhotoListView: View {
    let library: PhotoLibrary
    let session: UserSession
    @State private var attempt = 0

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
            .task(id: attempt) { if session.state == .signedIn { await library.load() } }
            .task(id: session.state) { if session.state == .signedIn { await library.load() } else { library.clear() } }
            .toolbar { Button("Sign Out") { Task { await session.signOut() } } }
            .overlay {
                if session.state == .signedOut || session.state == .expired { SignInView(session: session) }
            }
        }
    }
}

struct SignInView: View {
    let session: UserSession
    @State private var user = ""
    @State private var password = ""
    @State private var failure: String?
    @State private var isSigningIn = false

    var body: some View {
        Form {
            if session.state == .expired { Text("Your session has expired.") }
            TextField("User", text: $user)
            SecureField("Password", text: $password)
            if let failure { Text(failure).foregroundStyle(.red) }
            Button("Sign In") { Task { await signIn() } }.disabled(isSigningIn)
        }
    }

    private func signIn() async {
        isSigningIn = true
        defer { isSigningIn = false }
        do {
            try await session.signIn(user: user, password: password)
            failure = nil
        } catch is CancellationError {
            return
        } catch let error as PipelineError where error.status == .unauthorized {
            failure = "The user name or the password is wrong."
        } catch {
            failure = error.localizedDescription
        }
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
