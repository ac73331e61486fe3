// Re-exported: importing Pipeline makes the redactor available.
@_exported public import PipelineRedaction
