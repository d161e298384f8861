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

  [[nodiscard]] ProcessMemory memory() const {
    const int file = memfd_create("memory", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(file, heap + 0x1000), 0);
    EXPECT_GT(pwrite(file, middleware.data(), middleware.size(), library_start), 0);
    EXPECT_GT(pwrite(file, words_.data(), words_.size() * 8, heap), 0);
    std::istringstream maps(
        "2000-3000 r--p 00000000 00:00 0 /lib/librmw_fastrtps_cpp.so\n"
        "4000-5000 rw-p 00000000 00:00 0 [heap]\n");
    return {Descriptor(file), maps};
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

}  // namespace
}  // namespace takt::capture::ebpf
