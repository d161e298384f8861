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

  /// A part of the memory that the process can write. Its own words are those in [first, last);
  /// the words around them are there, too, if there is memory: as many as a structure of ROS 2 has.
  struct Piece {
    std::uint64_t begin;  // address of words[0]
    std::span<const std::uint64_t> words;
    std::size_t first;
    std::size_t last;

    [[nodiscard]] std::uint64_t address(std::size_t word) const { return begin + word * 8; }
  };
  /// Goes through the memory that the process can write and has touched, up to a gibibyte: each
  /// word is one piece's own. What is gone by now is zeros. False: something of it is there and was
  /// not seen.
  using Look = std::function<void(const Piece&)>;
  [[nodiscard]] bool search(const Look& look) const;
  /// Whether the address is in what a file has brought and nobody can write: where classes have
  /// their tables of functions.
  [[nodiscard]] bool is_constant(std::uint64_t address) const;

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

  /// Memory without a gap.
  struct Area {
    std::uint64_t begin;
    std::uint64_t end;
  };
  /// What is a piece's own, and the area in which it lies.
  struct Part {
    std::uint64_t begin;
    std::uint64_t end;
    Area area;
  };

  ProcessMemory(Descriptor memory, Descriptor pages, std::istream& maps);
  [[nodiscard]] std::vector<Area> writable_areas();
  void find_parts(const Area& area);
  [[nodiscard]] bool is_touched(std::uint64_t begin, std::uint64_t end) const;
  bool read_what_is_there(std::uint64_t address, std::span<std::byte> target) const;

  Descriptor memory_;
  Descriptor pages_;  // says of each page whether it is there; empty: nothing says it
  std::vector<Region> regions_;
  std::vector<Part> parts_;
  std::uint64_t size_ = 0;  // of the parts
  bool is_all_in_parts_ = true;
};

}  // namespace takt::capture::ebpf
