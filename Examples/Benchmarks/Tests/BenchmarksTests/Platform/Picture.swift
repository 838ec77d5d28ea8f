import Foundation

// On Apple platforms the parser is part of Foundation.
#if canImport(FoundationXML)
import FoundationXML
#endif

/// The elements of a chart, read back from its SVG.
final class Picture: NSObject, XMLParserDelegate {
    var rectangles: [[String: String]] = []
    var goals: [[String: String]] = []
    var texts: [String] = []
    private var text = ""

    init(_ svg: String) throws {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        #if canImport(FoundationXML)
        parser.delegate = self
        #else
        // Apple's parser keeps no reference to its delegate, which outlives the parsing.
        unsafe parser.delegate = self
        #endif
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        text = ""
        if name == "rect" { rectangles.append(attributes) }
        if name == "line", attributes["class"] == "goal" { goals.append(attributes) }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        if name == "text" { texts.append(text) }
    }
}
