import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Foundation
import TestSupport
import Testing

@testable import PrefetchDemo

/// Requests share work.
@Suite(.patient)
struct PipelineTests {
    private let rig = Rig()

    @Test func `Law 31: sixty-four requests for the same image get it, loaded once`() {
        let images = (0..<64).map { _ in rig.pipeline.image(ImageRequest(path: "1", width: 4)) }
        rig.runAll()
        #expect(images.allSatisfy { (try? $0.outcome?.get()) == image(1, width: 4) })
        #expect(rig.reads.value == ["1"])
        #expect(rig.pipeline.liveCount + rig.loader.liveCount == 0)
    }

    @Test func `Law 31: two sizes of an image share its file`() {
        let small = rig.pipeline.image(ImageRequest(path: "1", width: 2))
        let large = rig.pipeline.image(ImageRequest(path: "1", width: 4))
        rig.runAll()
        #expect(try! small.outcome?.get() == image(1, width: 2))
        #expect(try! large.outcome?.get() == image(1, width: 4))
        #expect(rig.reads.value == ["1"])
    }

    @Test
    func
        `Law 31: two pipelines share a file of one loader, and one that leaves does not cancel it`()
    {
        let second = ImagePipeline(
            on: rig.context, loader: rig.loader, memory: MemoryCache(limit: 1 << 20),
            disk: rig.disk,
            decodingOn: rig.queue)
        let request = ImageRequest(path: "5", width: 4)
        let left = rig.pipeline.load(request) { _ in
            Issue.record("a cancelled request received an end")
        }
        let stays = second.image(request)
        // Until both pipelines need the file.
        rig.context.runReady()
        rig.background.runReady()
        rig.context.runReady()
        #expect(rig.loader.liveCount == 1)
        left.cancel()
        rig.runAll()
        #expect(try! stays.outcome?.get() == image(5, width: 4))
        #expect(rig.reads.value == ["5"])
        #expect(rig.pipeline.liveCount + second.liveCount + rig.loader.liveCount == 0)
    }

    @Test func `A missing file and a broken one are errors that name the file`() {
        rig.files.withValue {
            $0["text"] = Array("wren".utf8)
            $0["short"] = Array(Image(width: 8, height: 8, number: 1).encoded.dropLast(10))
            $0["huge"] = Array("P6\n8 99999999999999999999\n255\n".utf8)
        }
        let words = ["nowhere", "text", "short", "huge"].map { path in
            let image = rig.pipeline.image(ImageRequest(path: path, width: 4))
            rig.runAll()
            if case .failure(let error)? = image.outcome { return "\(error)" }
            return "no error"
        }
        #expect(
            words == [
                "There is no file 'nowhere', or it cannot be read.",
                "The file 'text' cannot be decoded: it is no binary portable pixmap.",
                "The file 'short' cannot be decoded: it has 182 of 192 bytes.",
                "The file 'huge' cannot be decoded: its size is none.",
            ])
        #expect(rig.pipeline.liveCount + rig.loader.liveCount == 0)
        // A failure is not kept: the file may exist next time.
        rig.files.withValue { $0["nowhere"] = $0["1"] }
        let image = rig.pipeline.image(ImageRequest(path: "nowhere", width: 4))
        rig.runAll()
        #expect(try! image.outcome?.get().width == 4)
    }

    @Test func `A file that does not exist on disk is an error that names the file`() {
        #expect(throws: ImageError.missing("/no/such/file")) { try bytes(ofFile: "/no/such/file") }
    }

    @Test func `A smaller image has the mean of the original pixels`() throws {
        let picture = Image(width: 4, height: 4, number: 7)
        #expect(try Image(decoding: picture.encoded, from: "here") == picture)
        let small = picture.resized(toWidth: 2)
        #expect(small.width == 2 && small.height == 2)
        let corner = [(0, 0), (1, 0), (0, 1), (1, 1)].reduce(0) {
            $0 + Int(picture.pixels[($1.1 * 4 + $1.0) * 3])
        }
        #expect(Int(small.pixels[0]) == corner / 4)
        #expect(picture.resized(toWidth: 8) == picture)
    }
}
