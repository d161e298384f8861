#include "ctf_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "layout.hpp"
#include "mapped_file.hpp"
#include "takt/base/try.hpp"

namespace takt::events::ctf {
namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const std::uint8_t>;

// LTTng's format of index files, version 1: a head of four integers of 32 bits, then entries that
// begin with those of 64 bits named below. All are big endian.
constexpr std::uint64_t index_magic = 0xc1f1dcc1;
constexpr std::size_t head_size = 16;
constexpr std::size_t shortest_entry = 56;
constexpr std::size_t at_offset = 0;    // of the packet within the stream file, bytes
constexpr std::size_t at_size = 8;      // of the packet, bits
constexpr std::size_t at_content = 16;  // size of what is in the packet, bits
// No packet is larger, and no file: an index that says so is damaged.
constexpr std::uint64_t largest_packet = std::uint64_t{1} << 40;  // bits
constexpr std::uint64_t longest_file = std::uint64_t{1} << 60;

std::uint64_t integer(Bytes bytes, std::size_t place, std::size_t size) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes.subspan(place, size)) value = value << 8 | byte;
  return value;
}

struct Missing {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  /// What the index lists cannot be.
  bool is_damaged = false;
};

Missing listed_from(Bytes index, std::uint64_t end) {
  Missing missing;
  if (index.size() < head_size || integer(index, 0, 4) != index_magic ||
      integer(index, 4, 4) != 1) {
    return missing;
  }
  const auto entry_size = static_cast<std::size_t>(integer(index, 12, 4));
  if (entry_size < shortest_entry) return missing;
  for (Bytes left = index.subspan(head_size); left.size() >= entry_size;
       left = left.subspan(entry_size)) {
    const std::uint64_t offset = integer(left, at_offset, 8);
    const std::uint64_t content = integer(left, at_content, 8);
    const std::uint64_t size = integer(left, at_size, 8);
    if (content > size || size > largest_packet || offset > longest_file) {
      return {.packets = 0, .bytes = 0, .is_damaged = true};
    }
    if (offset < end) continue;
    ++missing.packets;
    missing.bytes += content / 8;
  }
  return missing;
}

}  // namespace

Result<StreamLosses> listed_beyond_end(const fs::path& directory) {
  std::vector<fs::path> indexes;
  std::error_code code;
  for (fs::directory_iterator entry(directory / "index", code);
       !code && entry != fs::directory_iterator(); entry.increment(code)) {
    std::error_code unreadable;
    if (entry->path().extension() == ".idx" && entry->is_regular_file(unreadable)) {
      indexes.push_back(entry->path());
    } else if (unreadable && !is_absent(unreadable)) {
      return error("{}: cannot be read: {}", entry->path().string(), unreadable.message());
    }
  }
  if (code && !is_absent(code)) {
    return error("{}: cannot be read: {}", (directory / "index").string(), code.message());
  }
  std::ranges::sort(indexes);
  StreamLosses losses;
  for (const fs::path& path : indexes) {
    const auto index = TAKT_TRY(MappedFile::open(path));
    std::error_code absent;
    const std::uintmax_t size = fs::file_size(directory / path.stem(), absent);
    if (absent && !is_absent(absent)) {
      return error("{}: cannot be read: {}", path.stem().string(), absent.message());
    }
    const Missing missing = listed_from(index.bytes(), absent ? 0 : size);
    if (missing.packets == 0 && !missing.is_damaged) continue;
    StreamLosses fault;
    if (missing.is_damaged) {
      fault.faults.push_back(
          fmt::format("{}: its index is damaged: whether packets are missing is not known",
                      path.stem().string()));
      losses += fault;
      continue;
    }
    fault.unreadable_bytes = missing.bytes;
    fault.faults.push_back(fmt::format(
        "{}: its index lists {} {} with {} bytes that are not there: the file {}",
        path.stem().string(), missing.packets, missing.packets == 1 ? "packet" : "packets",
        missing.bytes, absent ? "is missing" : "ends before them"));
    losses += fault;
  }
  return losses;
}

}  // namespace takt::events::ctf
