#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/descriptor.hpp"

namespace takt::capture::ebpf {

/// The memory of a running process. The process goes on while its memory is read: what is found may
/// have changed a moment later, so callers must check that it makes sense. Needs the right to trace
/// the process.
class ProcessMemory {
 public:
  explicit ProcessMemory(pid_t process);
  /// A file that holds the memory, each byte at its address, and what /proc/PID/maps says of it.
  ProcessMemory(Descriptor memory, std::istream& maps);

  /// Whether it can be read.
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(memory_); }

  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t address) const;
  [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> target) const;
  /// A NUL-terminated text of printable characters; none if there is none there.
  [[nodiscard]] std::optional<std::string> text(std::uint64_t address) const;

  /// Goes through the memory that the process can write, up to a gibibyte, in pieces. Calls `look`
  /// with the address of a piece's first word, with its words and some of the words behind it, and
  /// with the number of its own words.
  using Look = std::function<void(std::uint64_t, std::span<const std::uint64_t>, std::size_t)>;
  void search(const Look& look) const;

  /// Addresses of a NUL-terminated text in the constants of libraries whose names begin with
  /// `library`.
  [[nodiscard]] std::vector<std::uint64_t> constants(std::string_view library,
                                                     std::string_view text) const;
  /// Names of the files of libraries whose names begin with `name`: "librmw_fastrtps_cpp.so".
  [[nodiscard]] std::vector<std::string> libraries(std::string_view name) const;

 private:
  struct Region {
    std::uint64_t begin;
    std::uint64_t end;
    bool writable;
    std::string file;  // its name without directories; empty without a file
  };

  Descriptor memory_;
  std::vector<Region> regions_;
};

}  // namespace takt::capture::ebpf
