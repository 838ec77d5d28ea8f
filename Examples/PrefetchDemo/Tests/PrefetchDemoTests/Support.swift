// Re-exported, so that the files of this target need not import it.
@_exported import TestSupport
