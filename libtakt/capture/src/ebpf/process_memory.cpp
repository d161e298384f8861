#include "process_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <set>
#include <sstream>
#include <utility>

#include "../kernel_file.hpp"

namespace takt::capture::ebpf {

namespace {

constexpr std::uint64_t page_size = 4096;
constexpr std::size_t piece_size = std::size_t{1} << 20;
constexpr std::size_t around = 2048;  // bytes before and behind a piece that are visible in it
constexpr std::uint64_t limit = std::uint64_t{1} << 30;
// Larger regions are address space reserved by a sanitizer.
constexpr std::uint64_t region_limit = std::uint64_t{1} << 36;

std::istringstream maps_of(pid_t process) {
  return std::istringstream(read_kernel_file(fmt::format("/proc/{}/maps", process)));
}

Descriptor open_file_of(pid_t process, std::string_view name) {
  return Descriptor(open(fmt::format("/proc/{}/{}", process, name).c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

ProcessMemory::ProcessMemory(pid_t process) {
  auto maps = maps_of(process);
  *this = ProcessMemory(open_file_of(process, "mem"), open_file_of(process, "pagemap"), maps);
}

ProcessMemory::ProcessMemory(Descriptor memory, std::istream& maps)
    : ProcessMemory(std::move(memory), {}, maps) {}

ProcessMemory::ProcessMemory(Descriptor memory, Descriptor pages, std::istream& maps)
    : memory_(std::move(memory)), pages_(std::move(pages)) {
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
  for (const auto& area : writable_areas()) find_parts(area);
}

/// The kernel may have cut memory without a gap into several regions: a structure may lie in two.
std::vector<ProcessMemory::Area> ProcessMemory::writable_areas() {
  std::vector<Area> areas;
  for (const auto& region : regions_) {
    if (!region.writable) continue;
    if (region.end - region.begin > region_limit) {
      is_all_in_parts_ = false;
    } else if (!areas.empty() && areas.back().end == region.begin) {
      areas.back().end = region.end;
    } else {
      areas.push_back({region.begin, region.end});
    }
  }
  return areas;
}

void ProcessMemory::find_parts(const Area& area) {
  for (auto begin = area.begin; begin < area.end; begin += piece_size) {
    const auto end = std::min<std::uint64_t>(begin + piece_size, area.end);
    if (!is_touched(begin, end)) continue;
    if (size_ + (end - begin) > limit) {
      is_all_in_parts_ = false;
      return;
    }
    size_ += end - begin;
    parts_.push_back({begin, end, area});
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

/// Whether some page of this memory may hold something else than zeros.
bool ProcessMemory::is_touched(std::uint64_t begin, std::uint64_t end) const {
  constexpr std::uint64_t present_or_swapped = std::uint64_t{3} << 62;  // pagemap(5)
  std::array<std::uint64_t, piece_size / page_size> entries{};
  const std::size_t count = std::min<std::uint64_t>((end - begin) / page_size, entries.size());
  const auto bytes = static_cast<ssize_t>(count * 8);
  if (!pages_ || pread(pages_.get(), entries.data(), count * 8,
                       static_cast<off_t>(begin / page_size * 8)) != bytes) {
    return true;
  }
  return std::any_of(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count),
                     [](std::uint64_t entry) { return (entry & present_or_swapped) != 0; });
}

/// Reads what is there; the rest becomes zeros. False: something is there and cannot be read.
bool ProcessMemory::read_what_is_there(std::uint64_t address, std::span<std::byte> target) const {
  bool whole = true;
  while (!target.empty()) {
    const ssize_t size =
        pread(memory_.get(), target.data(), target.size(), static_cast<off_t>(address));
    auto done = static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    if (size <= 0) {
      const bool is_at_end = size == 0;  // the process has ended
      const auto next = address / page_size * page_size + page_size;
      done = is_at_end ? target.size() : std::min<std::size_t>(next - address, target.size());
      std::ranges::fill(target.first(done), std::byte{0});
      whole = whole && !is_at_end && !is_touched(next - page_size, next);
    }
    address += done;
    target = target.subspan(done);
  }
  return whole;
}

bool ProcessMemory::search(const Look& look) const {
  std::vector<std::uint64_t> words((piece_size + 2 * around) / 8);
  bool whole = is_all_in_parts_;
  for (const auto& [begin, end, area] : parts_) {
    const auto from = std::max(area.begin, begin - std::min(begin, std::uint64_t{around}));
    const auto to = std::min(area.end, end + around);
    const auto all = std::span(words).first((to - from) / 8);
    whole = read_what_is_there(from, std::as_writable_bytes(all)) && whole;
    look({from, all, (begin - from) / 8, (end - from) / 8});
  }
  return whole;
}

bool ProcessMemory::is_constant(std::uint64_t address) const {
  return std::ranges::any_of(regions_, [address](const Region& region) {
    return !region.writable && !region.file.empty() && region.begin <= address &&
           address < region.end;
  });
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
    std::string bytes(std::min<std::uint64_t>(region.end - region.begin, 64 * piece_size), '\0');
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
