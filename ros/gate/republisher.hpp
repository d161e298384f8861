#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "external_phase.hpp"
#include "settings.hpp"
#include "takt/executor/traced_callback.hpp"
#include "takt/raw/endpoints.hpp"
#include "takt/shaping/adaptation.hpp"
#include "takt/shaping/overshoot.hpp"
#include "takt/shaping/phase.hpp"
#include "takt/statistics/distribution.hpp"

namespace takt::gate {

/// Counts and times of the outputs that went through a gate.
struct Counts {
  std::int64_t received = 0;
  std::int64_t released = 0;
  std::int64_t late = 0;
  std::int64_t dropped = 0;
  /// Let out at once because the phase was not known yet.
  std::int64_t unphased = 0;
  /// Times from the beginning of the cycle, for outputs that kept their slots: until they came, and
  /// until they had left.
  statistics::Distribution ready{};
  statistics::Distribution left{};
  /// Times from when they were to leave until they had left.
  statistics::Distribution delay{};
  /// How often slots were chosen anew.
  std::int64_t adaptations = 0;
  /// How many beginnings of cycles were told, and how many of them were refused as impossible.
  std::int64_t told = 0;
  std::int64_t refused = 0;
  /// Messages and lines of a loop outside of ROS 2 that told no beginning.
  std::int64_t unreadable = 0;
};

/// Takes serialised messages and publishes each when its gate lets it out
/// (performance-engineering 3.5 and 6.3, the time-gated republisher). One thread: it waits for
/// messages, sleeps to the absolute start of the slot, and publishes.
class Republisher {
 public:
  /// Waits for publishers of the input, and of the phase's topic, or until `stop`.
  [[nodiscard]] static Result<std::unique_ptr<Republisher>> create(const Settings& settings,
                                                                   const std::atomic<bool>& stop);
  ~Republisher();
  Republisher(const Republisher&) = delete;
  Republisher& operator=(const Republisher&) = delete;

  /// Runs until `stop`. Then all waiting outputs are let out at once.
  [[nodiscard]] Result<void> run(const std::atomic<bool>& stop);

  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// None: cycles are not told.
  [[nodiscard]] const std::optional<shaping::PhaseTracker>& phase() const { return tracker_; }
  /// The present slots.
  [[nodiscard]] const std::vector<shaping::Slot>& slots() const { return settings_.slots; }

 private:
  struct Waiting {
    std::unique_ptr<raw::Bytes> bytes;
    Instant release;
    /// When its cycle began; none: it is late.
    std::optional<Instant> begin;
  };

  /// A topic that the gate hears, as all of its publishers so far can be heard.
  struct Heard {
    std::string topic;
    raw::Offer offer;
    std::unique_ptr<raw::RawSubscription> subscription;
  };

  explicit Republisher(const Settings& settings);

  [[nodiscard]] Result<void> connect(const std::atomic<bool>& stop);
  /// None: there is no publisher.
  [[nodiscard]] Result<std::optional<raw::Offer>> find_offer(const std::string& topic) const;
  /// None: stopped before there was a publisher.
  [[nodiscard]] Result<std::optional<raw::Offer>> await_offer(const std::string& topic,
                                                              const std::atomic<bool>& stop) const;
  /// Subscribes anew if publishers have come that offer less, which nobody hears who asks for more.
  /// Messages that are published meanwhile are lost.
  [[nodiscard]] Result<void> hear_all_publishers(Heard& heard);
  [[nodiscard]] Result<void> wait(Duration longest);
  [[nodiscard]] Result<void> take_all();
  /// Takes the beginnings that a loop outside of ROS 2 has told by now.
  void hear(Instant now);
  void admit(std::unique_ptr<raw::Bytes> bytes, Instant ready);
  /// Learns from an output that was ready so long after the beginning of a cycle.
  void adapt(Duration ready);
  void announce_input();
  [[nodiscard]] Result<void> release_front();
  /// Lets the oldest out before its slot, because too many wait: it is late.
  [[nodiscard]] Result<void> release_early();
  [[nodiscard]] std::optional<Instant> begin_of_cycle(Instant now) const;

  Settings settings_;
  shaping::Gate gate_;
  std::optional<shaping::Adaptation> adaptation_;
  std::shared_ptr<executor::Context> context_;
  raw::NodePointer node_;
  Heard input_;
  std::optional<Heard> phase_;
  std::unique_ptr<raw::RawPublisher> output_;
  /// Lets a message out; in traces the callback of the input, which has waited since it came.
  std::unique_ptr<executor::TracedCallback<const raw::Bytes&>> release_;
  Result<void> released_;
  rcl_wait_set_t wait_set_ = rcl_get_zero_initialized_wait_set();
  /// Publishers may have come or gone.
  bool graph_changed_ = true;
  std::optional<shaping::PhaseTracker> tracker_;
  std::unique_ptr<ExternalPhase> external_;
  std::vector<Instant> heard_;
  Instant last_heard_ = Instant::min();
  std::deque<Waiting> waiting_;
  /// The memory of messages that have left, for new ones.
  std::vector<std::unique_ptr<raw::Bytes>> free_;
  raw::Bytes phase_bytes_;
  Counts counts_;
};

}  // namespace takt::gate
