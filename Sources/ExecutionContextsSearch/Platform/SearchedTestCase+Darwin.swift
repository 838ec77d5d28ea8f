#if canImport(ObjectiveC)
internal import Foundation
public import XCTest

/// Test classes of XCTest whose tests are searched on Linux. On Apple platforms each test runs
/// once, and says so.
open class SearchedTestCase: XCTestCase {
    /// How the tests of the class are searched.
    open class var search: SearchSettings { SearchSettings() }

    /// Runs the test once.
    open override func invokeTest() {
        let text = "'\(name)' runs once and is not searched: XCTest's tests are searched on Linux."
        if SearchSettings.mustSearch {
            XCTFail(text)
        } else {
            FileHandle.standardError.write(Data((text + "\n").utf8))
        }
        super.invokeTest()
    }
}
#endif
