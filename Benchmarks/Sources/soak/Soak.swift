@main
struct Soak {
    static func main() async throws {}
}
