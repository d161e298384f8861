#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "queue_pair.hpp"

namespace takt::transport {

/// Simulated devices of one network, which copy within this process. Writes arrive at once.
class PretendedFabric {
 public:
  class Pair final : public QueuePair {
   public:
    Pair(PretendedFabric& fabric, std::span<std::byte> mine, std::span<std::byte> theirs)
        : fabric_(fabric), number_(++fabric.made_), mine_(mine), theirs_(theirs) {
      fabric_.pairs_[number_] = this;
    }
    ~Pair() override { fabric_.pairs_.erase(number_); }

    [[nodiscard]] wire::Memory description() const override {
      return {.mtu = 3, .queue_pair = number_, .packet = 7, .key = number_ + 1, .address = 4096};
    }
    bool connect(const wire::Memory& peer) override {
      peer_ = peer;
      return true;
    }

    bool write(std::size_t offset, std::size_t bytes, std::optional<std::uint32_t> word) override {
      const auto peer = fabric_.pairs_.find(peer_.queue_pair);
      if (peer == fabric_.pairs_.end() || peer_.key != peer_.queue_pair + 1 ||
          peer_.address != 4096 || offset > peer->second->theirs_.size() ||
          bytes > peer->second->theirs_.size() - offset) {
        broken_ = true;
        return true;  // as a device, which tells later
      }
      std::ranges::copy(mine_.subspan(offset, bytes),
                        peer->second->theirs_.begin() + static_cast<std::ptrdiff_t>(offset));
      if (word) peer->second->words.push_back(*word);
      return true;
    }

    std::optional<std::uint32_t> next() override {
      if (words.empty()) return std::nullopt;
      const std::uint32_t word = words.front();
      words.pop_front();
      return word;
    }
    [[nodiscard]] bool broken() const override { return broken_; }
    [[nodiscard]] bool writing() const override { return fabric_.slow; }
    [[nodiscard]] pollfd watched() const override { return Line::nothing; }

    std::deque<std::uint32_t> words;

   private:
    PretendedFabric& fabric_;
    std::uint32_t number_;
    std::span<std::byte> mine_;
    std::span<std::byte> theirs_;
    wire::Memory peer_;
    bool broken_ = false;
  };

  class Device final : public RdmaDevice {
   public:
    explicit Device(PretendedFabric& fabric) : fabric_(fabric) {}
    Result<std::unique_ptr<QueuePair>> make(std::span<std::byte> mine,
                                            std::span<std::byte> theirs) override {
      if (fabric_.refuses) return error("it refuses");
      return std::make_unique<Pair>(fabric_, mine, theirs);
    }

   private:
    PretendedFabric& fabric_;
  };

  /// Whether devices make nothing at the moment.
  bool refuses = false;
  /// Whether writes seem to be under way still.
  bool slow = false;
  [[nodiscard]] std::size_t pairs() const { return pairs_.size(); }
  [[nodiscard]] std::uint32_t made() const { return made_; }

 private:
  std::map<std::uint32_t, Pair*> pairs_;
  std::uint32_t made_ = 0;
};

}  // namespace takt::transport
