#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "takt/base/descriptor.hpp"

struct bpf_link;
struct bpf_program;

namespace takt::capture::ebpf {

/// A function to be watched, and the number that the probe gets when the function is called.
struct Function {
  std::uint64_t offset;  // in the library's file
  std::uint64_t cookie;
};

/// Probes at functions of programs. The kernel removes them with the last file descriptor to them,
/// so even a killed recorder leaves none.
class ProbeSet {
 public:
  ProbeSet();
  ~ProbeSet();
  ProbeSet(const ProbeSet&) = delete;
  ProbeSet& operator=(const ProbeSet&) = delete;

  /// Makes a program, not loaded yet, ready for attach(). From Linux 6.6 on all functions of a
  /// library share one probe, which is attached in a moment; before, each function has a probe of
  /// its own.
  void prepare(bpf_program* program) const;
  /// Watches functions of a library. Zero, or the kernel's reason to refuse as a negative number.
  [[nodiscard]] int attach(const bpf_program* program, const std::filesystem::path& library,
                           const std::vector<Function>& functions);
  void detach();

 private:
  struct Deleter {
    void operator()(bpf_link* link) const;
  };

  int attach_at_once(const bpf_program* program, const std::filesystem::path& library,
                     const std::vector<Function>& functions);
  int attach_one_by_one(const bpf_program* program, const std::filesystem::path& library,
                        const std::vector<Function>& functions);

  bool at_once_;
  std::vector<Descriptor> sets_;
  std::vector<std::unique_ptr<bpf_link, Deleter>> links_;
};

}  // namespace takt::capture::ebpf
