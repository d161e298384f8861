#include "takt/ctf/storage.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace takt::ctf {
namespace {

constexpr std::size_t size = 100;  // bytes of whatever is stored here

/// Stores a file of some trace.
void store(Newest& storage, const std::string& file, Kept kept) {
  EXPECT_TRUE(storage.append(file, std::vector<std::byte>(size), kept));
}

/// The metadata of a trace and an object.
void begin(Newest& storage, const std::string& trace) {
  store(storage, trace + "/metadata", Kept::with_their_trace);
  store(storage, trace + "/objects", Kept::while_room);
}

/// How often each file was stored, of all that is kept.
std::map<std::string, std::size_t> kept(const Newest& storage) {
  std::string name = std::filesystem::temp_directory_path() / "takt-XXXXXX";
  const std::filesystem::path root = mkdtemp(name.data());
  EXPECT_TRUE(storage.write(root));
  std::map<std::string, std::size_t> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) {
      files[entry.path().lexically_relative(root)] = entry.file_size() / size;
    }
  }
  std::filesystem::remove_all(root);
  return files;
}

using Files = std::map<std::string, std::size_t>;

TEST(Newest, KeepsTheMetadataOfEveryTraceWhateverElseThereIs) {
  Newest storage(2 * size, 2 * size);
  for (const char* trace : {"a", "b", "c"}) begin(storage, trace);
  for (int i = 0; i < 3; ++i) store(storage, "c/thread_1", Kept::among_newest);
  // The first trace has all the room that there is.
  EXPECT_EQ(kept(storage), (Files{{"a/metadata", 1},
                                  {"a/objects", 1},
                                  {"b/metadata", 1},
                                  {"c/metadata", 1},
                                  {"c/thread_1", 2}}));
  EXPECT_EQ(storage.lost_packets(), 2U) << "the objects of b and c";
}

TEST(Newest, KeepsACompleteTraceAsLongAsWhatIsAsOld) {
  Newest storage(2 * size);
  begin(storage, "ended");
  begin(storage, "running");
  store(storage, "ended/thread_1", Kept::among_newest);
  storage.complete("ended");
  store(storage, "running/thread_2", Kept::among_newest);
  EXPECT_EQ(kept(storage), (Files{{"ended/metadata", 1},
                                  {"ended/objects", 1},
                                  {"ended/thread_1", 1},
                                  {"running/metadata", 1},
                                  {"running/objects", 1},
                                  {"running/thread_2", 1}}));
  for (int i = 0; i < 2; ++i) store(storage, "running/thread_2", Kept::among_newest);
  EXPECT_EQ(kept(storage),
            (Files{{"running/metadata", 1}, {"running/objects", 1}, {"running/thread_2", 2}}));
  EXPECT_EQ(storage.lost_packets(), 0U);
}

// A snapshot recording runs for months beside something that starts a process a minute.
TEST(Newest, CompleteTracesNeedNoMoreThanTheirRoom) {
  Newest storage(2 * size, 4 * size);
  begin(storage, "running");
  for (const char* trace : {"1", "2", "3", "4"}) {
    begin(storage, trace);
    storage.complete(trace);
  }
  EXPECT_EQ(kept(storage), (Files{{"3/metadata", 1},
                                  {"3/objects", 1},
                                  {"4/metadata", 1},
                                  {"4/objects", 1},
                                  {"running/metadata", 1},
                                  {"running/objects", 1}}));
  EXPECT_EQ(storage.lost_packets(), 2U);
}

}  // namespace
}  // namespace takt::ctf
