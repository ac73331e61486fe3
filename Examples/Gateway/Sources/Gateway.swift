#if Examples
import Hummingbird
import ServiceLifecycle
#endif

@main
enum Gateway {
    static func main() {}
}
