// The everyday import. A package of plugins imports PipelineCore alone.
@_exported public import HTTPTypes
@_exported public import PipelineCore
@_exported public import PipelinePlugins
@_exported public import PipelineTransports
