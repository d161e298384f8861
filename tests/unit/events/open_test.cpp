#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "archive.hpp"
#include "ctf_index.hpp"
#include "layout.hpp"
#include "takt/base/capabilities.hpp"
#include "takt/events/event_stream.hpp"
#include "trace_writer.hpp"

/// What users give for a trace, and the one line they get if it is none.
namespace takt::events {
namespace {

using test::Scratch;
using test::TraceWriter;
using testing::HasSubstr;
using testing::StartsWith;

std::string fault_of(const std::filesystem::path& path, const OpenOptions& options = {}) {
  const auto source = open(std::vector{path}, options);
  return source ? "" : source.error().message;
}

void shell(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

class OpenTest : public testing::Test {
 protected:
  Scratch scratch;
  TraceWriter writer;

  OpenTest() {
    writer.declare("ros2:callback_end", "integer { size = 64; align = 8; } _callback;");
  }

  /// An archive of `directory` inside the scratch, by tar with these options.
  std::filesystem::path archive(const std::string& name, const std::string& options) {
    const auto file = scratch.path() / name;
    shell("cd '" + scratch.path().string() + "' && tar " + options + " -cf '" + file.string() +
          "' trace");
    return file;
  }
};

TEST_F(OpenTest, WhatIsNotThere) {
  const auto path = scratch.path() / "gone";
  EXPECT_EQ(fault_of(path), path.string() + ": No such file or directory");
  EXPECT_EQ(open(std::vector<std::filesystem::path>{}).error().message, "no trace given");
}

TEST_F(OpenTest, EmptyFilesAndDirectories) {
  const auto file = scratch.write("empty", "");
  EXPECT_EQ(fault_of(file), file.string() + ": not a trace: the file is empty");
  EXPECT_EQ(fault_of(scratch.path()),
            scratch.path().string() +
                ": not a trace: no file named 'metadata' in it or below; give the directory that "
                "was recorded (an empty recording has none)");
}

TEST_F(OpenTest, OtherFiles) {
  const auto text = scratch.write("notes.txt", "Dear diary, today I recorded a trace.");
  EXPECT_EQ(fault_of(text),
            text.string() + ": not a trace: neither a CTF directory nor a tar archive of one");
  const auto image =
      scratch.write("image.png", std::string("\x89PNG\r\n\x1a\n") + std::string(5000, 'x'));
  EXPECT_THAT(fault_of(image), HasSubstr("not a trace"));
}

TEST_F(OpenTest, BagsOfMessages) {
  const std::string other =
      ": a bag of messages, not a trace: 'takt latency' reads it, given alone";
  const auto empty = scratch.write("empty.mcap", "");
  EXPECT_EQ(fault_of(empty), empty.string() + other);
  const auto database = scratch.write("robot.db3", "SQLite format 3");
  EXPECT_EQ(fault_of(database), database.string() + other);
  scratch.write("bag/metadata.yaml", "rosbag2_bagfile_information:");
  EXPECT_EQ(fault_of(scratch.path() / "bag"), (scratch.path() / "bag").string() + other);
  EXPECT_THAT(fault_of(scratch.path() / "gone.mcap"), HasSubstr("gone.mcap: No such file"));
}

TEST_F(OpenTest, MetadataThatIsNone) {
  scratch.write("trace/metadata", "Hello, I am not metadata, whatever my name says.");
  EXPECT_THAT(fault_of(scratch.path() / "trace"),
              HasSubstr("trace: metadata, line 1: the type 'Hello' is not known"));
  scratch.write("trace/metadata", "");
  EXPECT_THAT(fault_of(scratch.path() / "trace"), HasSubstr("trace: the metadata is empty"));
}

TEST_F(OpenTest, MetadataThatEndsInTheMiddleOfAPacket) {
  // The header of a packet of 4096 bytes (CTF 1.8.3, section 7.1), and too little after it.
  test::Bits header;
  header.add(0x75d11d57, 32).add(0, 64).add(0, 64).add(0, 32).add(8 * 4096, 32).add(8 * 4096, 32);
  header.add(0, 24).add(1, 8).add(8, 8);
  scratch.write("trace/metadata", header.bytes() + "/* CTF 1.8 */");
  for (const Decoder decoder : {Decoder::own, Decoder::babeltrace, Decoder::automatic}) {
    EXPECT_EQ(fault_of(scratch.path() / "trace", {.decoder = decoder}),
              (scratch.path() / "trace").string() +
                  ": metadata is truncated: it ends in the middle of a packet");
  }
}

TEST_F(OpenTest, TracesBelowADirectoryAreOne) {
  writer.write(scratch, {}, "session/ust/uid/0/64-bit");
  writer.write(scratch, {}, "session/ust/uid/1000/64-bit");
  EXPECT_EQ(fault_of(scratch.path() / "session"), "");
}

TEST_F(OpenTest, EventsWithoutMetadataCountAsUnreadable) {
  writer.write(scratch, {}, "session/whole");
  scratch.write("session/broken/ros2_0", TraceWriter::packet({.padding = 0}, test::Bits()));
  scratch.write("session/broken/notes", "no events");
  for (const Decoder decoder : {Decoder::own, Decoder::babeltrace}) {
    const auto source = open(std::vector{scratch.path() / "session"}, {.decoder = decoder});
    ASSERT_TRUE(source) << source.error().message;
    const StreamLosses& losses = (*source)->losses();
    EXPECT_EQ(losses.unreadable_bytes, 84u);
    EXPECT_THAT(losses.faults,
                testing::ElementsAre("broken/ros2_0: 84 bytes of events without metadata"));
  }
}

TEST_F(OpenTest, EmptyMetadataOfOneTraceLeavesTheOthersReadable) {
  writer.write(scratch, {}, "session/whole");
  scratch.write("session/broken/ros2_0", TraceWriter::packet({.padding = 0}, test::Bits()));
  scratch.write("session/broken/metadata", "");
  for (const Decoder decoder : {Decoder::own, Decoder::babeltrace}) {
    const auto source = open(std::vector{scratch.path() / "session"}, {.decoder = decoder});
    ASSERT_TRUE(source) << source.error().message;
    EXPECT_THAT((*source)->losses().faults,
                testing::ElementsAre("broken/ros2_0: 84 bytes of events without metadata"));
  }
}

TEST_F(OpenTest, LinksToTracesAreNotFollowed) {
  writer.write(scratch, {}, "session/ust-1");
  std::filesystem::create_directory_symlink("ust-1", scratch.path() / "session/latest");
  EXPECT_THAT(find_traces(scratch.path() / "session", "session").value(),
              testing::ElementsAre(scratch.path() / "session/ust-1"));
}

/// A directory that its reader may not enter. Root may without its capabilities no longer either,
/// which a thread gives up alone.
TEST_F(OpenTest, WhatCannotBeLookedIntoIsNotEmpty) {
  writer.write(scratch, {}, "session/ust");
  scratch.write("session/ust/index/ros2_0.idx", "no index");
  const std::filesystem::path directory = scratch.path() / "session/ust";
  std::filesystem::permissions(directory, std::filesystem::perms::none);
  std::thread([&] {
    ASSERT_TRUE(keep_only_capabilities(0));
    EXPECT_FALSE(find_traces(scratch.path() / "session", "session"));
    EXPECT_FALSE(stream_files(directory));
    EXPECT_FALSE(without_metadata(scratch.path() / "session"));
    EXPECT_FALSE(ctf::listed_beyond_end(directory));
  }).join();
  std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
  EXPECT_TRUE(find_traces(scratch.path() / "session", "session"));
  EXPECT_TRUE(stream_files(directory));
  EXPECT_TRUE(without_metadata(scratch.path() / "session"));
  EXPECT_TRUE(ctf::listed_beyond_end(directory));
}

class ArchiveTest : public OpenTest, public testing::WithParamInterface<const char*> {};

TEST_P(ArchiveTest, IsReadAndLeavesNothingBehind) {
  test::Bits content;
  writer.header(content, 0, 5);
  TraceWriter::add_context(content, 1, 1, "p");
  content.add(77, 64);
  writer.write(scratch, {TraceWriter::packet({.begin = 5, .end = 5}, content)});
  const auto file = archive("a.tar", GetParam());
  Scratch temporary;
  ASSERT_EQ(setenv("TMPDIR", temporary.path().c_str(), 1), 0);
  for (const Decoder decoder : {Decoder::own, Decoder::babeltrace}) {
    {
      const auto source = open(std::vector{file}, {.decoder = decoder});
      ASSERT_TRUE(source) << source.error().message;
      Batch batch;
      ASSERT_TRUE((*source)->read(batch));
      EXPECT_EQ(batch.events.at(0).values[0], 77u);
    }
    EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
  }
  EXPECT_THAT(fault_of(file, {.unpack_limit = 100}), HasSubstr("unpacks to more than allowed"));
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
  unsetenv("TMPDIR");
}

INSTANTIATE_TEST_SUITE_P(Filters, ArchiveTest, testing::Values("", "-z", "-J", "--zstd"));

std::string fingerprint_by(Decoder decoder, const std::filesystem::path& path) {
  const auto source = open(std::vector{path}, {.decoder = decoder});
  Batch batch;
  while ((*source)->read(batch)) {
  }
  return (*source)->inputs().front().fingerprint;
}

TEST_F(OpenTest, TheFingerprintIsCompleteOnce) {
  writer.write(scratch, {"no packet"});
  const auto source = open(std::vector{scratch.path() / "trace"}, {.decoder = Decoder::own});
  ASSERT_TRUE(source);
  Batch batch;
  EXPECT_FALSE((*source)->read(batch));
  const std::string fingerprint = (*source)->inputs().front().fingerprint;
  EXPECT_FALSE((*source)->read(batch));
  EXPECT_EQ((*source)->inputs().front().fingerprint, fingerprint);
}

TEST_F(OpenTest, ATraceWithAnotherEventHasAnotherFingerprint) {
  std::vector<std::string> fingerprints;
  for (const std::uint64_t callback : {77U, 78U, 77U}) {
    test::Bits content;
    writer.header(content, 0, 5);
    TraceWriter::add_context(content, 1, 1, "p");
    content.add(callback, 64);
    writer.write(scratch, {TraceWriter::packet({.begin = 5, .end = 5}, content)});
    const auto trace = scratch.path() / "trace";
    fingerprints.push_back(fingerprint_by(Decoder::own, trace));
    EXPECT_EQ(fingerprint_by(Decoder::babeltrace, trace), fingerprints.back());
  }
  EXPECT_EQ(fingerprints[0], fingerprints[2]);
  EXPECT_NE(fingerprints[0], fingerprints[1]);
}

TEST_F(OpenTest, AnArchiveOfNothingMuchIsRefusedBeforeItFillsTheDisk) {
  writer.write(scratch, {});
  // More than a gibibyte of zeros becomes little more than a megabyte.
  shell("truncate -s 1100M '" + (scratch.path() / "trace/zeros").string() + "'");
  const auto bomb = archive("bomb.tar.gz", "-z");
  EXPECT_THAT(fault_of(bomb), HasSubstr("unpacks to more than allowed"));
}

TEST_F(OpenTest, GapsInTheFilesOfAnArchiveCount) {
  constexpr std::uint64_t gap = 600 << 10;
  std::filesystem::create_directory(scratch.path() / "trace");
  {
    std::ofstream sparse(scratch.path() / "trace/sparse", std::ios::binary);
    for (std::uint64_t i = 1; i <= 5; ++i) {
      sparse.seekp(static_cast<std::streamoff>(i * gap));
      sparse << 'x';
    }
  }
  const auto file = archive("sparse.tar", "--sparse");
  ASSERT_LT(std::filesystem::file_size(file), gap);
  const auto target = scratch.path() / "target";
  std::filesystem::create_directory(target);
  const auto done = unpack_into(file, target, 2 * gap);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("unpacks to more than allowed"));
  EXPECT_TRUE(unpack_into(file, target, 6 * gap));
}

TEST_F(OpenTest, UnpackingCanBeEndedAtAnyTime) {
  writer.write(scratch, {});
  struct Interrupted {};
  Scratch temporary;
  ASSERT_EQ(setenv("TMPDIR", temporary.path().c_str(), 1), 0);
  OpenOptions options;
  int looks = 0;
  options.waiting = [&looks] {
    if (++looks == 1) {
      throw Interrupted{};
    }
  };
  // A fast machine may have unpacked it before anybody looks; a large one takes its time.
  shell("truncate -s 300M '" + (scratch.path() / "trace/zeros").string() + "'");
  const auto large = archive("large.tar.gz", "--use-compress-program='gzip -1'");
  EXPECT_THROW(static_cast<void>(open(std::vector{large}, options)), Interrupted);
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
  unsetenv("TMPDIR");
}

TEST_F(OpenTest, ArchivesThatReachOutsideAreRefused) {
  writer.write(scratch, {});
  const auto outside = archive("outside.tar", "--transform='s|trace/metadata|../evil|'");
  EXPECT_THAT(fault_of(outside), HasSubstr("refused: its entry '../evil'"));
  const auto absolute = archive("absolute.tar", "-P --transform='s|trace/metadata|/evil|'");
  EXPECT_THAT(fault_of(absolute), HasSubstr("refused: its entry '/evil'"));
  std::filesystem::create_symlink("/etc/passwd", scratch.path() / "trace/link");
  EXPECT_THAT(fault_of(archive("link.tar", "")),
              HasSubstr("refused: its entry 'trace/link' is neither a file nor a directory"));
}

TEST_F(OpenTest, TruncatedArchivesSaySo) {
  std::mt19937 random(1);
  std::string incompressible(100'000, '\0');
  std::generate(incompressible.begin(), incompressible.end(),
                [&random] { return static_cast<char>(random()); });
  writer.write(scratch, {incompressible});
  const auto file = archive("cut.tar.gz", "-z");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_THAT(fault_of(file), StartsWith(file.string() + ": damaged archive"));
}

}  // namespace
}  // namespace takt::events
