// So that each file need not import what all of them use.
@_exported import TestSupport
