// Saves each file the import of what all files use.
@_exported import TestSupport
