#include "process_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace takt::capture::ebpf {

namespace {

constexpr std::size_t piece = std::size_t{1} << 20;
constexpr std::size_t beyond = 256;  // bytes of the next piece that are visible in a piece
constexpr std::uint64_t limit = std::uint64_t{1} << 30;
// Larger regions are address space reserved by a sanitizer or a garbage collector.
constexpr std::uint64_t region_limit = std::uint64_t{1} << 29;

}  // namespace

ProcessMemory::ProcessMemory(pid_t process) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  *this = ProcessMemory(
      Descriptor(open(fmt::format("/proc/{}/mem", process).c_str(), O_RDONLY | O_CLOEXEC)), maps);
}

ProcessMemory::ProcessMemory(Descriptor memory, std::istream& maps) : memory_(std::move(memory)) {
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    char dash = 0;
    std::string rights;
    std::istringstream fields(line);
    if (!(fields >> std::hex >> begin >> dash >> end >> rights) || rights.size() < 4 ||
        rights[0] != 'r') {
      continue;
    }
    const auto slash = line.rfind('/');
    const bool private_memory = rights[1] == 'w' && rights[3] == 'p';
    regions_.push_back(
        {begin, end, private_memory, slash == std::string::npos ? "" : line.substr(slash + 1)});
  }
}

bool ProcessMemory::read(std::uint64_t address, std::span<std::byte> target) const {
  return pread(memory_.get(), target.data(), target.size(), static_cast<off_t>(address)) ==
         static_cast<ssize_t>(target.size());
}

std::optional<std::uint64_t> ProcessMemory::word(std::uint64_t address) const {
  std::uint64_t value = 0;
  return read(address, std::as_writable_bytes(std::span(&value, 1))) ? std::optional(value)
                                                                     : std::nullopt;
}

std::optional<std::string> ProcessMemory::text(std::uint64_t address) const {
  std::array<char, 512> bytes{};
  const ssize_t size =
      pread(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address));
  const std::string_view all(bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const auto end = all.find('\0');
  if (end == std::string_view::npos ||
      !std::all_of(all.begin(), all.begin() + end, [](char c) { return c >= ' ' && c <= '~'; })) {
    return std::nullopt;
  }
  return std::string(all.substr(0, end));
}

void ProcessMemory::search(const Look& look) const {
  std::vector<std::uint64_t> words((piece + beyond) / 8);
  std::uint64_t searched = 0;
  for (const auto& region : regions_) {
    if (!region.writable || region.end - region.begin > region_limit) {
      continue;
    }
    for (auto begin = region.begin; begin < region.end && searched < limit; begin += piece) {
      const auto own = std::min<std::uint64_t>(piece, region.end - begin);
      const auto wanted = std::min<std::uint64_t>(piece + beyond, region.end - begin);
      const ssize_t size = pread(memory_.get(), words.data(), wanted, static_cast<off_t>(begin));
      if (size > 0) {
        const auto count = static_cast<std::size_t>(size) / 8;
        look(begin, std::span(words).first(count), std::min<std::size_t>(own / 8, count));
      }
      searched += own;
    }
  }
}

std::vector<std::uint64_t> ProcessMemory::constants(std::string_view library,
                                                    std::string_view text) const {
  std::vector<std::uint64_t> found;
  std::string wanted(text);
  wanted.push_back('\0');
  for (const auto& region : regions_) {
    if (region.writable || !region.file.starts_with(library)) {
      continue;
    }
    std::string bytes(std::min<std::uint64_t>(region.end - region.begin, 64 * piece), '\0');
    if (!read(region.begin, std::as_writable_bytes(std::span(bytes)))) {
      continue;
    }
    for (auto at = bytes.find(wanted); at != std::string::npos; at = bytes.find(wanted, at + 1)) {
      found.push_back(region.begin + at);
    }
  }
  return found;
}

std::vector<std::string> ProcessMemory::libraries(std::string_view name) const {
  std::set<std::string> found;
  for (const auto& region : regions_) {
    if (region.file.starts_with(name)) {
      found.insert(region.file);
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace takt::capture::ebpf
