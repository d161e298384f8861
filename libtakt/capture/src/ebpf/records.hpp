#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

struct ring_buffer;

namespace takt::capture::ebpf {

/// The records that probes leave in the kernel's buffers.
class Records {
 public:
  using Take = std::function<void(std::span<const std::byte> record)>;

  explicit Records(Take take) : take_(std::move(take)) {}
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  /// Reads also the buffer of this map, which has room for so many bytes. Returns 0, or a negative
  /// errno.
  [[nodiscard]] int add(int map, std::size_t size);

  /// Hands over what the buffers hold. Of each at most as much as it has room for, so that the call
  /// ends, however fast the probes fill it again.
  void consume();

 private:
  struct Deleter {
    void operator()(ring_buffer* buffer) const;
  };
  // Each for itself: libbpf reads no further buffer when the reading of one is broken off.
  struct Buffer {
    std::unique_ptr<ring_buffer, Deleter> reader;
    std::size_t size = 0;
  };

  Take take_;
  std::vector<Buffer> buffers_;
  std::size_t left_ = 0;  // bytes that are still read of the present buffer
};

}  // namespace takt::capture::ebpf
