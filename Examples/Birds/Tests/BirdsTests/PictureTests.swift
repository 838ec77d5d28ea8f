import Foundation
import Testing

@testable import Birds

/// Pictures as bytes.
struct PictureTests {
    @Test(arguments: BirdSite().names)
    func `A picture that is written and read again is the same`(_ name: String) throws {
        let picture = BirdSite.picture(of: name)
        #expect(try Picture(pgm: picture.pgm) == picture)
    }

    @Test func `A shade that is also the code of a blank is read as a shade`() throws {
        let picture = Picture(width: 2, height: 2) { _, _ in 0x20 }
        #expect(try Picture(pgm: picture.pgm) == picture)
    }

    @Test(arguments: [
        "", "P5", "P6 1 1 255\nx", "P5 1 1 15\nx", "P5 0 0 255\n", "P5 -1 -1 255\nx",
        "P5 2 2 255\nx",
        "P5 1 1 255\nxx", "P5 1001 1 255\nx", "P5 one 1 255\nx",
    ])
    func `Malformed data is refused`(_ text: String) {
        #expect(throws: BirdError.unreadable("a picture")) { try Picture(pgm: Data(text.utf8)) }
    }

    @Test func `Birds differ, and the same bird always looks the same`() {
        let pictures = BirdSite().names.map(BirdSite.picture)
        #expect(Set(pictures).count == pictures.count)
        #expect(pictures == BirdSite().names.map(BirdSite.picture))
    }
}
