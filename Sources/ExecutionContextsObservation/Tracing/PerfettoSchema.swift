/// The numbers of the fields that a trace uses, by message, from Perfetto's schema.
enum PerfettoSchema {
    enum Trace {
        static let packet: UInt64 = 1
    }

    enum Packet {
        static let clockSnapshot: UInt64 = 6
        static let timestamp: UInt64 = 8
        static let trustedPacketSequenceID: UInt64 = 10
        static let trackEvent: UInt64 = 11
        static let internedData: UInt64 = 12
        static let sequenceFlags: UInt64 = 13
        static let tracePacketDefaults: UInt64 = 59
        static let trackDescriptor: UInt64 = 60
    }

    enum Snapshot {
        static let clocks: UInt64 = 1
    }

    enum Clock {
        static let id: UInt64 = 1
        static let timestamp: UInt64 = 2
        static let isIncremental: UInt64 = 3
    }

    enum Defaults {
        static let timestampClockID: UInt64 = 58
    }

    enum Interned {
        static let eventNames: UInt64 = 2
        static let debugAnnotationNames: UInt64 = 3
    }

    /// A name and its number, of an event or an annotation.
    enum Name {
        static let number: UInt64 = 1
        static let text: UInt64 = 2
    }

    enum Track {
        static let uuid: UInt64 = 1
        static let name: UInt64 = 2
        static let process: UInt64 = 3
        static let thread: UInt64 = 4
        static let parentUUID: UInt64 = 5
        static let counter: UInt64 = 8
    }

    enum Process {
        static let pid: UInt64 = 1
        static let name: UInt64 = 6
    }

    enum Thread {
        static let pid: UInt64 = 1
        static let tid: UInt64 = 2
        static let name: UInt64 = 5
    }

    enum Counter {
        static let unitName: UInt64 = 6
    }

    enum Event {
        static let debugAnnotations: UInt64 = 4
        static let type: UInt64 = 9
        static let nameNumber: UInt64 = 10
        static let trackUUID: UInt64 = 11
        static let counterValue: UInt64 = 30
        static let flows: UInt64 = 47
        static let terminatingFlows: UInt64 = 48
    }

    /// Values of `Event.type`.
    enum EventType {
        static let sliceBegin: UInt64 = 1
        static let sliceEnd: UInt64 = 2
        static let counter: UInt64 = 4
    }

    enum Annotation {
        static let nameNumber: UInt64 = 1
        static let unsigned: UInt64 = 3
    }
}
