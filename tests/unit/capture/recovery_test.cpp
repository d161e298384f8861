#include "ebpf/recovery.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string_view>
#include <vector>

#include "ebpf/recovered_events.hpp"

namespace takt::capture::ebpf {
namespace {

constexpr std::uint64_t library_start = 0x2000;
constexpr std::uint64_t heap = 0x4000;
constexpr std::string_view middleware = "rmw_fastrtps_cpp";

/// The heap of a process that uses a middleware, laid out by hand.
class Heap {
 public:
  /// A piece of memory as the C library gives it, with its size before it. Gives its address.
  std::uint64_t add(const std::vector<std::uint64_t>& content) {
    const std::uint64_t size = (content.size() * 8 + 8 + 15) / 16 * 16;
    const auto at = words_.size();
    words_.resize(at + size / 8);
    words_[at] = size | 1;  // whether the piece before is in use
    std::copy(content.begin(), content.end(), words_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    return heap + (at + 1) * 8;
  }

  std::uint64_t add(std::string_view text) {
    std::vector<std::uint64_t> content(text.size() / 8 + 1);
    std::memcpy(content.data(), text.data(), text.size());
    return add(content);
  }

  /// The next piece of memory begins so many bytes behind the heap's beginning.
  void fill_to(std::uint64_t offset) {
    ASSERT_GE(offset, words_.size() * 8 + 40);
    add(std::vector<std::uint64_t>(offset / 8 - words_.size() - 2));
  }

  /// `cut`: the kernel shows it as two regions, of which the second begins so far behind the first.
  /// `more`: further lines of the process's maps.
  [[nodiscard]] ProcessMemory memory(std::uint64_t cut = 0, std::string_view more = "") const {
    const int file = memfd_create("memory", MFD_CLOEXEC);
    const std::uint64_t end = heap + (words_.size() * 8 + 0xfff) / 0x1000 * 0x1000;
    EXPECT_EQ(ftruncate(file, static_cast<off_t>(end)), 0);
    EXPECT_GT(pwrite(file, middleware.data(), middleware.size(), library_start), 0);
    EXPECT_GT(pwrite(file, words_.data(), words_.size() * 8, heap), 0);
    std::ostringstream maps;
    maps << std::hex << "2000-3000 r--p 00000000 00:00 0 /lib/librmw_fastrtps_cpp.so\n" << heap;
    if (cut != 0) maps << '-' << heap + cut << " rw-p 00000000 00:00 0 [heap]\n" << heap + cut;
    maps << '-' << end << " rw-p 00000000 00:00 0 [heap]\n" << more;
    std::istringstream read(maps.str());
    return {Descriptor(file), read};
  }

 private:
  // The address behind a size is a multiple of 16.
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(1);
};

/// rmw_qos_profile_t, with all that follows durability as zeros.
std::vector<std::uint64_t> quality(std::uint64_t depth) {
  constexpr std::uint64_t keep_last = 1;
  constexpr std::uint64_t reliable_and_volatile = 1 | std::uint64_t{2} << 32;
  return {keep_last, depth, reliable_and_volatile, 0, 0, 0, 0, 0, 0, 0, 0};
}

/// An endpoint's object of the middleware, whose data hold a gid of an entity of a kind.
std::uint64_t add_endpoint(Heap& memory, std::uint8_t entity_kind) {
  const auto data = memory.add(
      std::vector<std::uint64_t>{0, library_start, 7, std::uint64_t{entity_kind} << 56, 0});
  return memory.add(std::vector<std::uint64_t>{library_start, data, memory.add("/course"), 0});
}

/// What points to an endpoint's object and is no structure of rcl: a wait set, for example.
void add_other_user(Heap& memory, std::uint64_t object) {
  std::vector<std::uint64_t> content(16);
  content.back() = object;
  memory.add(std::vector<std::uint64_t>{memory.add(content)});
}

std::uint64_t add_context(Heap& memory) {
  const auto context = memory.add(std::vector<std::uint64_t>{memory.add("instance"), 0, 0});
  const auto name = memory.add("pilot");
  const auto space = memory.add("/bridge");
  const auto node = memory.add(std::vector<std::uint64_t>{library_start, 1, name, space});
  memory.add(std::vector<std::uint64_t>{context, memory.add(std::vector<std::uint64_t>{0, node})});
  return context;
}

TEST(Recovery, APublishersDepthIsThatOfItsStructureWhateverElsePointsToItsObject) {
  Heap memory;
  const auto context = add_context(memory);
  const auto object = add_endpoint(memory, 0x03);
  add_other_user(memory, object);
  auto content = quality(7);
  content.push_back(context);
  content.push_back(object);
  const auto handle = memory.add(std::vector<std::uint64_t>{memory.add(content)});

  const auto found = recover_objects(memory.memory());

  ASSERT_EQ(found.publishers.size(), 1);
  EXPECT_EQ(found.publishers[0].name, "/course");
  EXPECT_EQ(found.publishers[0].handle, handle);
  EXPECT_EQ(found.publishers[0].depth, 7);
}

TEST(Recovery, ASubscriptionsDepthIsThatOfItsStructureWhateverElsePointsToItsObject) {
  Heap memory;
  add_context(memory);
  const auto object = add_endpoint(memory, 0x04);
  add_other_user(memory, object);
  auto content = quality(5);
  content.push_back(object);
  const auto handle = memory.add(std::vector<std::uint64_t>{memory.add(content)});

  const auto found = recover_objects(memory.memory());

  ASSERT_EQ(found.subscriptions.size(), 1);
  EXPECT_EQ(found.subscriptions[0].handle, handle);
  EXPECT_EQ(found.subscriptions[0].depth, 5);
}

/// A publisher's structure that lies around `place`, of which it begins `before` bytes before.
Objects found_around(std::uint64_t place, std::uint64_t before, std::uint64_t cut = 0) {
  Heap memory;
  const auto context = add_context(memory);
  const auto object = add_endpoint(memory, 0x03);
  auto content = quality(7);
  content.push_back(context);
  content.push_back(object);
  memory.fill_to(place - before);
  const auto structure = memory.add(content);
  EXPECT_EQ(structure, heap + place - before);
  memory.add(std::vector<std::uint64_t>{structure});
  return recover_objects(memory.memory(cut));
}

TEST(Recovery, WhatLiesInTwoPiecesOfTheSearchIsFound) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  for (std::uint64_t before = 0; before < 160; before += 16) {
    const auto found = found_around(piece, before);
    ASSERT_EQ(found.publishers.size(), 1) << before;
    EXPECT_EQ(found.publishers[0].depth, 7) << before;
    EXPECT_TRUE(found.searched_whole);
  }
}

TEST(Recovery, WhatLiesInTwoRegionsWithoutAGapIsFound) {
  constexpr std::uint64_t cut = 0x3000;
  for (std::uint64_t before = 0; before < 160; before += 16) {
    ASSERT_EQ(found_around(cut, before, cut).publishers.size(), 1) << before;
  }
}

TEST(Recovery, WhatLiesBehindMemoryThatWasGivenBackMeanwhileIsSeen) {
  constexpr std::size_t page = 4096;
  constexpr std::uint64_t mark = 0x5ea0c4ed7a99e1b3;
  void* const mapped =
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const auto begin = reinterpret_cast<std::uint64_t>(mapped);
  std::memset(mapped, 1, 3 * page);
  std::memcpy(static_cast<char*>(mapped) + 2 * page, &mark, sizeof mark);
  const ProcessMemory memory(getpid());
  munmap(static_cast<char*>(mapped) + page, page);
  bool seen = false;
  static_cast<void>(memory.search([&](const ProcessMemory::Piece& piece) {
    for (std::size_t i = piece.first; i < piece.last; ++i) {
      seen = seen || (piece.address(i) == begin + 2 * page && piece.words[i] == mark);
    }
  }));
  EXPECT_TRUE(seen);
}

TEST(Recovery, MemoryThatIsNotSearchedIsMentioned) {
  Heap memory;
  add_context(memory);
  const auto object = add_endpoint(memory, 0x04);
  auto content = quality(5);
  content.push_back(object);
  memory.add(std::vector<std::uint64_t>{memory.add(content)});
  constexpr std::string_view far_too_large = "10000000000-30000000000 rw-p 00000000 00:00 0 \n";

  const auto found = recover_objects(memory.memory(0, far_too_large));

  ASSERT_EQ(found.subscriptions.size(), 1);
  EXPECT_EQ(found.subscriptions[0].node, 0);  // there may be a second one
  EXPECT_FALSE(found.searched_whole);
  const auto events = events_of(found, 16);
  const auto& [event, fields] = events.back();
  EXPECT_EQ(event, tracepoints::EventType::objects_recovered);
  const std::string_view text(reinterpret_cast<const char*>(fields.data()), fields.size());
  EXPECT_NE(text.find("could not be searched to the end"), std::string_view::npos);
}

/// A process with two nodes, and a publisher of the second one.
class TwoNodes : public testing::Test {
 protected:
  Heap memory;
  std::uint64_t context = memory.add(std::vector<std::uint64_t>{memory.add("instance"), 0, 0});
  std::uint64_t pilot = add_node("pilot");
  std::uint64_t helm = add_node("helm");
  std::uint64_t object = add_endpoint(memory, 0x03);
  std::uint64_t handle = add_publisher();

  std::uint64_t add_node(std::string_view name) {
    const auto node =
        memory.add(std::vector<std::uint64_t>{library_start, 1, memory.add(name), memory.add("/")});
    return memory.add(
        std::vector<std::uint64_t>{context, memory.add(std::vector<std::uint64_t>{0, node})});
  }
  std::uint64_t add_publisher() {
    auto content = quality(7);
    content.push_back(context);
    content.push_back(object);
    return memory.add(std::vector<std::uint64_t>{memory.add(content)});
  }
  /// What a shared_ptr keeps to delete the publisher: functions, counts, the node, the publisher.
  void add_owner(std::uint64_t node, std::uint64_t functions = library_start + 64) {
    constexpr std::uint64_t one_each = 1 | std::uint64_t{1} << 32;
    memory.add(std::vector<std::uint64_t>{functions, one_each, node, 0x123458, handle});
  }
  /// An entry of the middleware's graph: namespace, name, readers, writers.
  void add_to_graph(std::string_view name) {
    const std::vector<std::uint64_t> gid{7, std::uint64_t{0x03} << 56};
    const auto gids = memory.add(gid);
    memory.add(std::vector<std::uint64_t>{memory.add("/"), 1, 0, 0, memory.add(name), name.size(),
                                          0, 0, 0, 0, 0, gids, gids + 16, gids + 16});
  }
  std::uint64_t node_of_the_publisher() {
    const auto found = recover_objects(memory.memory());
    EXPECT_EQ(found.nodes.size(), 2);
    EXPECT_EQ(found.publishers.size(), 1);
    EXPECT_EQ(found.publishers[0].handle, handle);
    return found.publishers[0].node;
  }
};

TEST_F(TwoNodes, NothingIsSaidOfWhatNothingShows) { EXPECT_EQ(node_of_the_publisher(), 0); }

TEST_F(TwoNodes, TheNodeIsTheOneThatThePublishersOwnerHas) {
  add_owner(helm);
  add_to_graph("pilot");  // a copy that nobody uses any more
  EXPECT_EQ(node_of_the_publisher(), helm);
}

TEST_F(TwoNodes, APieceOfMemoryThatWasGivenBackOwnsNothing) {
  add_owner(pilot, heap + 64);
  EXPECT_EQ(node_of_the_publisher(), 0);
}

TEST_F(TwoNodes, OwnersThatContradictEachOtherSayNothing) {
  add_owner(pilot);
  add_owner(helm);
  EXPECT_EQ(node_of_the_publisher(), 0);
}

TEST_F(TwoNodes, TheGraphIsBelievedIfAllItsCopiesAgree) {
  add_to_graph("helm");
  EXPECT_EQ(node_of_the_publisher(), helm);
  add_to_graph("pilot");
  EXPECT_EQ(node_of_the_publisher(), 0);
}

TEST_F(TwoNodes, TheGraphDoesNotTellNodesOfOneNameApart) {
  add_node("helm");
  add_to_graph("helm");
  const auto found = recover_objects(memory.memory());
  EXPECT_EQ(found.nodes.size(), 3);
  EXPECT_EQ(found.publishers.at(0).node, 0);
}

}  // namespace
}  // namespace takt::capture::ebpf
