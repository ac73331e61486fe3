"""Functions shared by the scripts that compile files against an existing build."""
import subprocess
import sys


def compiler_arguments(root, scratch):
    """Returns the arguments of swiftc that find the modules of the build, and the C modules that they import."""
    arguments = ["-I", scratch / "debug/Modules"]
    if sys.platform == "darwin":
        arguments += ["-sdk", subprocess.check_output(["xcrun", "--show-sdk-path"], text=True).strip()]
    maps = [*scratch.glob("debug/*.build/module.modulemap"), *root.glob("Sources/C*/module.modulemap")]
    maps += [path for path in scratch.glob("checkouts/*/**/include/module.modulemap") if "/Tests/" not in str(path)]
    for path in maps:
        arguments += ["-I", path.parent] if path.is_relative_to(root / "Sources") else ["-Xcc", f"-fmodule-map-file={path}"]
    return arguments
