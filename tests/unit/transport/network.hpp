#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "shared_line.hpp"
#include "socket_address.hpp"
#include "takt/base/descriptor.hpp"
#include "takt/link/flow_control.hpp"
#include "takt/transport/connection.hpp"
#include "takt/transport/shared_memory.hpp"
#include "takt/transport/verbs.hpp"

namespace takt::transport {

/// The faults of a network, each as a share of the datagrams.
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

  /// Takes the datagrams that have come by now.
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

/// A process at one end of a connection, in simulated time.
class End {
 public:
  End() = default;
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  virtual ~End() = default;

  virtual void step() = 0;
  /// A datagram that came over the network.
  virtual void receive(std::span<std::byte> datagram) = 0;
  [[nodiscard]] virtual bool connected() const = 0;
  [[nodiscard]] virtual const ConnectionCounts& counts() const = 0;

  std::unique_ptr<link::FlowControl> flow;

 protected:
  /// Makes the flow control on that transport.
  void add_flow(link::Description description, link::Transport& transport, Instant now) {
    const std::array<link::Transport*, 1> peers{&transport};
    flow = std::move(link::FlowControl::create(std::move(description), peers, now).value());
  }
};

/// An end that sends datagrams over the network.
class DatagramEnd final : public End, public Datagrams {
 public:
  DatagramEnd(Network& network, std::size_t place, const Key& key, link::Description description,
              const Settings& settings)
      : network_(network), place_(place), connection_(key, settings, *this, network.now) {
    add_flow(std::move(description), connection_, network.now);
    connection_.deliver_to(flow->sink({}));
  }

  bool send(std::span<const std::byte> datagrams, std::size_t datagram_bytes) override {
    if (network_.random(50) == 0) return false;  // no room in the socket
    for (std::size_t at = 0; at < datagrams.size(); at += datagram_bytes) {
      const auto part = datagrams.subspan(at, std::min(datagram_bytes, datagrams.size() - at));
      network_.carry(1 - place_, {part.begin(), part.end()});
    }
    return true;
  }

  void step() override {
    connection_.step(network_.now);
    flow->step(network_.now);
  }
  void receive(std::span<std::byte> datagram) override {
    connection_.receive(datagram, network_.now);
  }
  [[nodiscard]] bool connected() const override { return connection_.connected(); }
  [[nodiscard]] const ConnectionCounts& counts() const override { return connection_.counts(); }

 private:
  Network& network_;
  std::size_t place_;
  Connection connection_;
};

/// An end that uses only the clock of the network.
class LineEnd final : public End {
 public:
  LineEnd(Network& network, std::unique_ptr<Line> line, link::Description description)
      : network_(network), line_(std::move(line)) {
    add_flow(std::move(description), *line_, network.now);
    line_->deliver_to(flow->sink({}));
  }

  void step() override {
    line_->receive(network_.now);
    line_->step(network_.now);
    flow->step(network_.now);
  }
  void receive(std::span<std::byte> /*datagram*/) override {}
  [[nodiscard]] bool connected() const override { return line_->reachable(); }
  [[nodiscard]] const ConnectionCounts& counts() const override { return line_->counts(); }

 private:
  Network& network_;
  std::unique_ptr<Line> line_;
};

/// The medium that a connection goes through.
enum class Medium : std::uint8_t { datagrams, shared_memory, rdma };

/// For the names of tests.
inline std::string name_of(const testing::TestParamInfo<Medium>& medium) {
  switch (medium.param) {
    case Medium::datagrams:
      return "Datagrams";
    case Medium::shared_memory:
      return "SharedMemory";
    case Medium::rdma:
      return "Rdma";
  }
  return {};
}

/// Names of the two ends that no other test uses.
inline std::array<SharedMemoryOptions, 2> new_names() {
  static int made = 0;
  const std::string common = fmt::format("test {} {}", getpid(), ++made);
  const std::array ends{common + " a", common + " b"};
  return {SharedMemoryOptions{ends[0], ends[1]}, SharedMemoryOptions{ends[1], ends[0]}};
}

/// Two ports that are free for datagrams (SOCK_DGRAM) or connections (SOCK_STREAM).
inline std::array<std::uint16_t, 2> free_ports(int type) {
  const std::array<Descriptor, 2> made{Descriptor(socket(AF_INET, type | SOCK_CLOEXEC, 0)),
                                       Descriptor(socket(AF_INET, type | SOCK_CLOEXEC, 0))};
  std::array<std::uint16_t, 2> ports{};
  for (std::size_t i = 0; i < made.size(); ++i) {
    SocketAddress address = resolve({"127.0.0.1", 0}, false).value();
    EXPECT_EQ(bind(made[i].get(), address.get(), address.length), 0);
    getsockname(made[i].get(), reinterpret_cast<sockaddr*>(&address.address), &address.length);
    ports[i] = address.port();
  }
  return ports;
}

/// Addresses on the loopback interface of the two ends; the first one waits to be called.
inline std::array<VerbsOptions, 2> new_addresses() {
  const auto ports = free_ports(SOCK_STREAM);
  std::array<Address, 2> ends{Address{"127.0.0.1", ports[0]}, Address{"127.0.0.1", ports[1]}};
  if (ends[1].port < ends[0].port) std::swap(ends[0], ends[1]);
  return {VerbsOptions{.local = ends[0], .remote = ends[1]},
          VerbsOptions{.local = ends[1], .remote = ends[0]}};
}

}  // namespace takt::transport
