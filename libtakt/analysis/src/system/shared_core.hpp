#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "activation/propagation.hpp"
#include "effort.hpp"
#include "system/cpu_sharing.hpp"
#include "system/system.hpp"
#include "takt/curves/remaining_supply.hpp"

namespace takt::analysis {

/// What a thread at a fixed priority gets of a processor that it shares (ros-llama 2.3.1;
/// docs/analysis-theory.md, "Threads at fixed priorities").
///
/// - From a quiet time: sbf(Δ) = Δ - Σ rbf_x(Δ) over the executors x that go before it, those of
/// the
///   same priority among them; rbf by η^b, as nothing of them waits as the window begins.
/// - In any window: what those of larger priority have left over from before counts, too; it is at
///   most what a window that began earlier leaves, sbf(Δ) = min over z >= Δ of z - Σ rbf_x(z).
///   Those of the same priority count with all instances that may be pending (Lemma 3).
///
/// Reservations, and what the kernel withholds, take at most 2Q + (Δ - 2Q)·Q/P of a window.
///
/// Executors that may let instances wait while their thread rests (tables; edf with callbacks that
/// wait for their chain) count by Lemma 3 in both.
class SharedCore {
 public:
  explicit SharedCore(Rivals rivals);
  SharedCore(const SharedCore&) = delete;
  SharedCore& operator=(const SharedCore&) = delete;
  ~SharedCore() = default;

  /// All must outlive the last use of the supplies.
  void bind(const System& system, const Curves& curves, const std::vector<Duration>& response,
            Effort& effort);
  /// Bounds or curves of rivals have changed.
  void renew();

  [[nodiscard]] std::shared_ptr<const curves::RemainingSupply> in_any_window() const {
    return any_;
  }
  [[nodiscard]] std::shared_ptr<const curves::RemainingSupply> from_quiet() const { return quiet_; }

  /// Why nothing limits what a rival takes: the callback that is activated without limit, or a
  /// rival of which nobody knows what it does; none: all are limited.
  struct Unlimited {
    ExecutorIndex executor;
    std::optional<CallbackIndex> callback{};
  };
  [[nodiscard]] std::optional<Unlimited> unlimited() const;

 private:
  using Line = curves::RemainingSupply::Line;

  class Quiet final : public curves::RemainingSupply {
   public:
    explicit Quiet(const SharedCore& core) : core_(core) {}
    [[nodiscard]] Int128 share() const override { return core_.share(); }
    [[nodiscard]] std::optional<Line> line_below() const override { return core_.line_below(); }

   private:
    [[nodiscard]] Duration taken(Duration window) const;
    [[nodiscard]] Duration left(Duration window) const override;
    [[nodiscard]] Duration next_window(Duration demand, Duration window) const override;
    const SharedCore& core_;
  };
  class Any final : public curves::RemainingSupply {
   public:
    explicit Any(const SharedCore& core) : core_(core) {}
    void renew() override {
      RemainingSupply::renew();
      longest_.reset();
    }
    [[nodiscard]] Int128 share() const override { return core_.share(); }
    /// The linear analysis looks at windows from a quiet time alone.
    [[nodiscard]] std::optional<Line> line_below() const override { return std::nullopt; }

   private:
    [[nodiscard]] Duration left(Duration window) const override;
    [[nodiscard]] Duration next_window(Duration demand, Duration window) const override;
    /// How much work of equal priority, and of executors that rest while work waits, a window that
    /// begins at any time may hold.
    [[nodiscard]] Duration pending(Duration window) const;
    /// Calls use(z, what those of larger priority request within z) for z = window, and for all
    /// longer windows that may leave less.
    template <typename Use>
    void for_each_longer(Duration window, Use use) const;
    /// The longest time for which those of larger priority keep the processor.
    [[nodiscard]] Duration longest() const;
    const SharedCore& core_;
    mutable std::optional<Duration> longest_;
  };

  /// What the instances that executors are told to run within a window cost, with the releases.
  struct Demand {
    Duration time{};
    /// Up to this window it stays the same.
    Duration until = curves::unbounded_time;
  };
  using Executors = std::vector<ExecutorIndex>;
  [[nodiscard]] Demand requested(const Executors& executors, Duration window) const;
  /// What their pending instances cost in any window (Lemma 3).
  [[nodiscard]] Duration pending(const Executors& executors, Duration window) const;
  /// What servers leave of a window; it does not decrease with the window.
  [[nodiscard]] Duration left_by_servers(Duration window) const;
  /// The least window of which servers leave that much.
  [[nodiscard]] Duration beside_servers(Duration demand) const;
  [[nodiscard]] bool always_works(ExecutorIndex executor) const;
  [[nodiscard]] Int128 share() const;
  [[nodiscard]] std::optional<Line> line_below() const;
  [[nodiscard]] bool is_unknown(ExecutorIndex executor) const;

  Rivals rivals_;
  const System* system_ = nullptr;
  const Curves* curves_ = nullptr;
  const std::vector<Duration>* response_ = nullptr;
  Effort* effort_ = nullptr;
  /// Rivals that run whenever something of them waits, by priority, and the others.
  Executors higher_;
  Executors higher_or_equal_;
  Executors equal_;
  Executors resting_;
  std::shared_ptr<Quiet> quiet_;
  std::shared_ptr<Any> any_;
};

}  // namespace takt::analysis
