#if canImport(SwiftUI)
import Pipeline
import PipelineAuth
import SwiftUI

@main
struct PhotosApp: App {
    @State private var session: UserSession
    @State private var library: PhotoLibrary

    init() {
        let transport = URLSessionTransport()
        let session = UserSession(
            transport: transport,
            store: KeychainCredentialStore(service: "com.example.photos")
        )
        _session = State(initialValue: session)
        _library = State(initialValue: PhotoLibrary(transport: transport, session: session))
        Task { await session.follow() }  // once, not once for each window
    }

    var body: some Scene {
        WindowGroup {
            PhotoListView(library: library, session: session)
        }
    }
}

#Preview {
    let session = UserSession(transport: StubTransport(), store: MemoryCredentialStore())
    PhotoListView(library: PhotoLibrary(transport: StubTransport(), session: session), session: session)
        .task { await session.tokens.setCredential(Login(accessToken: "t", refreshToken: "r", expiry: nil)) }
        .task { await session.follow() }
}
#endif
