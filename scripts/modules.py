"""The modules of the package, and how to compile files against an existing build."""
import json
import pathlib
import subprocess
import sys

# Folder of a module: its name, and which of our modules it may import. The longest folder that holds a file is its module's.
MODULES = {
    "Hashes": ("PipelineHashes", set()),
    "Files": ("PipelineFiles", set()),
    "Redaction": ("PipelineRedaction", set()),
    "Redis": ("PipelineRedis", {"PipelineRedaction"}),
    "Core": ("PipelineCore", {"PipelineRedaction", "PipelineHashes"}),
    "ContentCoding": ("PipelineContentCoding", {"PipelineCore"}),
    "Plugins/Standard": ("PipelinePlugins", {"PipelineCore", "PipelineContentCoding"}),
    "Plugins/Resilience": ("PipelineResilience", {"PipelineCore", "PipelinePlugins", "PipelineHashes", "PipelineRedis"}),
    "Plugins/Caching": ("PipelineCaching", {"PipelineCore", "PipelineHashes", "PipelineFiles", "PipelineRedis"}),
    "Plugins/Auth": ("PipelineAuth", {"PipelineCore", "PipelinePlugins", "PipelineHashes", "PipelineFiles"}),
    "Plugins/Signing": ("PipelineSigning", {"PipelineCore", "PipelineHashes"}),
    "Plugins/Telemetry": ("PipelineTelemetry", {"PipelineCore"}),
    "Transports": ("PipelineTransports", {"PipelineCore", "PipelineHashes"}),
    "Pipeline": ("Pipeline", {"PipelineCore", "PipelinePlugins", "PipelineTransports"}),
    "Recording": ("PipelineRecording", {"PipelineCore", "PipelineContentCoding", "PipelineHashes"}),
    "Inspector": ("PipelineInspector", {"PipelineCore", "PipelineRedaction", "PipelineHashes", "PipelineRecording"}),
    "ReplayTesting": ("PipelineReplayTesting", {"PipelineCore", "PipelineRecording", "PipelineTransports"}),
    "Command": ("har", {"PipelineCore", "PipelineRecording", "PipelineInspector"}),
    "Testing": ("PipelineTesting", {"PipelineCore"}),
    "StoreTesting": ("PipelineStoreTesting", {"PipelineCore", "PipelineTesting", "PipelineResilience", "PipelineCaching", "PipelineAuth"}),
    "Allocations": ("PipelineAllocations", {"PipelineCore"}),
    "API": ("PipelineAPI", {"PipelineCore"}),
    "Combine": ("PipelineCombine", {"PipelineCore", "PipelineAPI"}),
    "Moya": ("PipelineMoya", {"Pipeline", "PipelineCore", "PipelinePlugins", "PipelineAuth", "PipelineTransports"}),
}


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


def plugin_arguments():
    """Returns the arguments of swiftc that find the macros of the toolchain."""
    target = json.loads(subprocess.check_output(["swiftc", "-print-target-info"], text=True))
    plugins = pathlib.Path(target["paths"]["runtimeResourcePath"]) / "host/plugins"
    return ["-plugin-path", plugins, "-plugin-path", plugins / "testing"]
