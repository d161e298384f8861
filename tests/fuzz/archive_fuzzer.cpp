#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>

#include "archive.hpp"
#include "choices.hpp"
#include "takt/events/event_stream.hpp"
#include "temporary_directory.hpp"

/// An archive of any bytes is unpacked below its target or refused, and what was unpacked is a
/// trace that is read to its end or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace takt::events;
  using takt::fuzz::require;
  namespace fs = std::filesystem;
  const auto directory = TemporaryDirectory::create();
  require(directory.has_value());
  const int file = memfd_create("archive", MFD_CLOEXEC);
  require(write(file, data, size) == static_cast<ssize_t>(size));
  const fs::path target = directory->path() / "target";
  fs::create_directory(target);
  const auto done =
      unpack_into("/proc/self/fd/" + std::to_string(file), target, std::uint64_t{1} << 20);
  close(file);
  require(std::distance(fs::directory_iterator(directory->path()), {}) == 1);
  if (!done) {
    return 0;
  }
  const auto source = open(std::array{target}, {.decoder = Decoder::own});
  if (source) {
    Batch batch;
    takt::Instant last = takt::Instant::min();
    while ((*source)->read(batch)) {
      for (const Event& event : batch.events) {
        require(event.time >= last);
        last = event.time;
      }
    }
  }
  return 0;
}
