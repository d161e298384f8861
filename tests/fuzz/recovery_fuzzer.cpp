#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

#include "choices.hpp"
#include "ebpf/recovered_events.hpp"
#include "ebpf/recovery.hpp"
#include "takt/capture/ring/mapping.hpp"

namespace {

using namespace takt::capture;
using namespace takt::capture::ebpf;
using takt::fuzz::Choices;
using takt::fuzz::require;

constexpr std::uint64_t library = 0x2000;
constexpr std::uint64_t heap = 0x4000;
constexpr std::size_t heap_words = 512;
constexpr std::uint64_t end = heap + heap_words * 8;
constexpr std::string_view middleware = "rmw_fastrtps_cpp";

/// The memory of a process that has the middleware's library, and a heap that is a mixture of
/// what the structures of ROS 2 consist of: pointers to one another, sizes, texts.
std::vector<std::uint64_t> heap_of(Choices& choices) {
  static constexpr std::array<const char*, 4> texts{"/", "/topic", "node", "/node/get"};
  std::vector<std::uint64_t> words(heap_words);
  for (std::size_t at = 0; choices.any() && at < words.size(); ++at) {
    switch (choices.below(8)) {
      case 0:
        words[at] = library;
        break;
      case 1:
        words[at] = heap + choices.next<std::uint16_t>() % (heap_words * 8);
        break;
      case 2:
      case 3:
        words[at] = heap + choices.below(256) * 16;
        break;
      case 4:
        words[at] = choices.below(256);
        break;
      case 5:
        std::strncpy(reinterpret_cast<char*>(&words[at]), texts[choices.below(texts.size())], 8);
        break;
      case 6:
        at += choices.below(32);
        break;
      default:
        words[at] = choices.next<std::uint64_t>();
    }
  }
  return words;
}

}  // namespace

/// Whatever the memory of a process looks like: the search ends, and the events that it makes of
/// what it found have their fields.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const auto words = heap_of(choices);
  const int file = memfd_create("memory", MFD_CLOEXEC);
  require(ftruncate(file, end) == 0);
  require(pwrite(file, middleware.data(), middleware.size(), library) > 0);
  require(pwrite(file, words.data(), words.size() * 8, heap) == heap_words * 8);
  std::istringstream maps(
      "2000-3000 r--p 00000000 00:00 0 /lib/librmw_fastrtps_cpp.so\n"
      "4000-5000 rw-p 00000000 00:00 0 [heap]\n"
      "no line of this kind\n");
  const ProcessMemory memory(takt::Descriptor(file), maps);
  const std::size_t gid_size = choices.below(2) == 0 ? 16 : 24;
  for (const auto& [event, fields] : events_of(recover_objects(memory), gid_size)) {
    require(ring::well_formed(static_cast<std::uint8_t>(event), gid_size, fields));
  }
  return 0;
}
