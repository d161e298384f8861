#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "takt/link/transport.hpp"

namespace takt::transport {

/// A sink that accepts every chunk and notes it.
class Notes final : public link::Sink {
 public:
  explicit Notes(std::size_t bytes) : memory(bytes) {}

  Placement place(const link::Chunk& chunk) override {
    if (chunk.bytes > memory.size()) return {};
    return {.kind = Placement::Kind::accepted, .memory = std::span(memory).first(chunk.bytes)};
  }
  void arrived(const link::Chunk& chunk, Instant /*now*/) override { chunks.push_back(chunk); }
  void restarted() override { ++restarts; }

  std::vector<std::byte> memory;
  std::vector<link::Chunk> chunks;
  int restarts = 0;
};

}  // namespace takt::transport
