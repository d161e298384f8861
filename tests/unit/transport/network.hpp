#pragma once

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "takt/link/flow_control.hpp"
#include "takt/transport/connection.hpp"

namespace takt::transport {

/// What a network does to datagrams, in shares of them.
struct Faults {
  double loss = 0;
  double duplication = 0;
  double reordering = 0;
  double corruption = 0;
};

/// Datagrams under way between two ends, in simulated time.
class Network {
 public:
  explicit Network(std::uint64_t seed, Faults faults = {}) : random_(seed), faults_(faults) {}

  struct Datagram {
    std::size_t to = 0;
    std::vector<std::byte> bytes{};
  };

  void carry(std::size_t to, std::vector<std::byte> bytes) {
    for (auto& recorded : records) recorded.push_back({to, bytes});
    if (cut || chance(faults_.loss)) return;
    if (chance(faults_.duplication)) put(to, bytes);
    if (chance(faults_.corruption)) {
      bytes[random_() % bytes.size()] ^= static_cast<std::byte>(1U << random_() % 8);
    }
    put(to, std::move(bytes));
  }

  /// Datagrams that come at that time or before.
  [[nodiscard]] std::vector<Datagram> take() {
    std::vector<Datagram> due;
    while (!under_way_.empty() && under_way_.begin()->first <= now) {
      due.push_back(std::move(under_way_.begin()->second));
      under_way_.erase(under_way_.begin());
    }
    return due;
  }

  [[nodiscard]] std::size_t random(std::size_t below) { return random_() % below; }
  void set(Faults faults) { faults_ = faults; }
  [[nodiscard]] std::size_t under_way() const { return under_way_.size(); }

  Instant now{};
  bool cut = false;
  /// Each gets a copy of all that is sent, as somebody on the wire would.
  std::vector<std::vector<Datagram>> records;

 private:
  bool chance(double share) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < share;
  }

  void put(std::size_t to, std::vector<std::byte> bytes) {
    Duration delay = std::chrono::microseconds(50);
    if (chance(faults_.reordering)) delay += std::chrono::microseconds(random(500));
    under_way_.emplace(now + delay, Datagram{to, std::move(bytes)});
  }

  std::mt19937_64 random_;
  Faults faults_;
  std::multimap<Instant, Datagram> under_way_;
};

/// A process at one end: flow control on a connection.
class End final : public Datagrams {
 public:
  End(Network& network, std::size_t place, const Key& key, link::Description description,
      const Settings& settings = {})
      : network_(network), place_(place), connection(key, settings, *this, network.now) {
    const std::array<link::Transport*, 1> peers{&connection};
    flow = std::move(link::FlowControl::create(std::move(description), peers, network.now).value());
    connection.deliver_to(flow->sink({}));
  }

  bool send(std::span<const std::byte> datagrams, std::size_t datagram_bytes) override {
    if (network_.random(50) == 0) return false;  // no room in the socket
    for (std::size_t at = 0; at < datagrams.size(); at += datagram_bytes) {
      const auto part = datagrams.subspan(at, std::min(datagram_bytes, datagrams.size() - at));
      network_.carry(1 - place_, {part.begin(), part.end()});
    }
    return true;
  }

  void step() {
    connection.step(network_.now);
    flow->step(network_.now);
  }

 private:
  Network& network_;
  std::size_t place_;

 public:
  Connection connection;
  std::unique_ptr<link::FlowControl> flow;
};

}  // namespace takt::transport
