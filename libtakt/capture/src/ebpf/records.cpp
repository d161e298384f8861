#include "records.hpp"

#include <bpf/libbpf.h>

#include <cerrno>

namespace takt::capture::ebpf {

void Records::Deleter::operator()(ring_buffer* buffer) const { ring_buffer__free(buffer); }

int Records::add(int map, std::size_t size) {
  const auto take = [](void* self, void* data, std::size_t length) {
    auto* records = static_cast<Records*>(self);
    records->take_({static_cast<const std::byte*>(data), length});
    if (length >= records->left_) {
      return -ECANCELED;  // libbpf gives the record back to the kernel, and reads no further one
    }
    records->left_ -= length;
    return 0;
  };
  buffers_.push_back({{}, size});
  buffers_.back().reader.reset(ring_buffer__new(map, take, this, nullptr));
  return buffers_.back().reader ? 0 : -errno;
}

void Records::consume() {
  for (const Buffer& buffer : buffers_) {
    left_ = buffer.size;
    ring_buffer__consume(buffer.reader.get());
  }
}

}  // namespace takt::capture::ebpf
