import Foundation

/// The path of a page that an example writes. Its folder exists when this returns.
///
/// The folder has the name of the example. It is in the `.build` of the current directory if there
/// is one, else in the temporary folder.
package func pagePath(_ name: String, of example: String) throws -> String {
    let here = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
    let build = here.appendingPathComponent(".build")
    let isPackage = FileManager.default.fileExists(atPath: build.path)
    let folder = (isPackage ? build : FileManager.default.temporaryDirectory)
        .appendingPathComponent(example)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder.appendingPathComponent(name).path
}
