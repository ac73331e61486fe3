@main
struct Quickstart {
    static func main() async {}
}
