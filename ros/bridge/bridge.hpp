#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "inbound.hpp"
#include "outbound.hpp"
#include "takt/bridge/plan.hpp"
#include "takt/executor/guard_condition.hpp"
#include "takt/statistics/distribution.hpp"
#include "takt/transport/key.hpp"
#include "takt/transport/link_thread.hpp"

namespace takt::bridge {

/// Times from when a message was taken until the other bridge had it.
struct Latency {
  statistics::Distribution times{};
  std::uint64_t late = 0;
};

/// The bridge of one host. It has two threads: the link's thread, which serves the link, and the
/// one of run(), which alone uses ROS 2. Messages that arrive wait for the second one in the memory
/// of the link's channels.
///
///     ROS 2 ─► Outbound ─► LinkThread ─► … ─► LinkThread ─► Inbound ─► ROS 2
class Bridge {
 public:
  /// Called with what a user should know while the bridge runs, such as trouble with a topic or a
  /// peer.
  using Tell = std::function<void(const nlohmann::json&)>;

  /// `configuration` outlives the bridge. Error: the network's or ROS 2's reason.
  [[nodiscard]] static Result<std::unique_ptr<Bridge>> create(const Configuration& configuration,
                                                              std::size_t host,
                                                              const transport::Key& key, Tell tell);
  ~Bridge();
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;

  /// Runs the link's thread under SCHED_FIFO.
  [[nodiscard]] Result<void> use_fifo(int priority) { return link_->use_fifo(priority); }

  /// Carries messages until `stop`.
  [[nodiscard]] Result<void> run(const std::atomic<bool>& stop);

  /// Counts of the messages that went through.
  [[nodiscard]] nlohmann::json report();

 private:
  struct Peer {
    /// The number of its process; 0: not known yet.
    std::uint64_t process = 0;
    bool connected = false;
    /// The state that it has sent and run() has not handled yet.
    std::optional<State> said{};
    bool unreadable = false;
  };

  Bridge(const Configuration& configuration, std::size_t host, Tell tell);

  [[nodiscard]] Result<void> check_address() const;
  [[nodiscard]] Result<void> connect(const transport::Key& key);
  [[nodiscard]] Hooks hooks();
  [[nodiscard]] const Topic& topic_of(const Route& route) const;
  [[nodiscard]] const std::string& host_of(link::PeerIndex peer) const;
  void say(const std::string& text);

  [[nodiscard]] Result<void> wait();
  [[nodiscard]] Result<void> look();
  void watch_peers();
  void hear_states();
  void take_state(link::PeerIndex peer, const State& state);
  void tell_state(link::PeerIndex peer);
  [[nodiscard]] Result<void> take_some();
  void publish_some();

  const Configuration& configuration_;
  std::size_t host_;
  Plan plan_;
  Flow flow_;
  Tell tell_;
  std::set<std::string> said_;
  /// Tells this process from those before it.
  std::uint64_t process_ = 0;

  std::shared_ptr<executor::Context> context_;
  raw::NodePointer node_;
  std::unique_ptr<executor::GuardCondition> arrival_;
  const rcl_guard_condition_t* graph_ = nullptr;
  rcl_wait_set_t wait_set_ = rcl_get_zero_initialized_wait_set();
  /// By the routes of the plan.
  std::deque<Outbound> out_;
  std::deque<Inbound> in_;
  std::vector<Peer> peers_;
  bool graph_changed_ = true;
  /// Messages wait for subscriptions to find their publisher.
  bool held_ = false;
  /// Messages may have been left for the next turn.
  bool more_ = false;
  Instant looked_{};
  Instant watched_{};

  /// For what both threads use: the queues of in_, what peers have said, and latencies.
  std::mutex mutex_;
  std::vector<Latency> latencies_;

  /// The last member, so that its thread ends before what it uses.
  std::unique_ptr<transport::LinkThread> link_;
};

}  // namespace takt::bridge
