#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "takt/estimation/estimator.hpp"

namespace takt::estimation {

/// Brings a nonlinear estimator up from a linear one's belief, perhaps in another thread. The
/// estimator changes hands by one atomic word and is never copied: between begin() and the moment
/// at which ready() is true it belongs to the thread that calls load(), before and after to the
/// other. Samples that arrive meanwhile wait in a ring; nothing is allocated after construction.
///
///     user's thread       begin ── feed ── feed ── ready? no ── feed ── ready? yes ── estimator()
///     loading thread        └──► load: restart, steps of what has been fed ──► loaded
class Loader {
 public:
  /// `capacity`: the most samples that may be fed to one loading. `inline_loading`: begin and feed
  /// do the work themselves, in the caller's thread.
  Loader(std::unique_ptr<Estimator> estimator, const Handoff& handoff, std::size_t capacity,
         bool inline_loading);

  /// Starts the estimator from `belief`. Not while it is being loaded. After stop() it does
  /// nothing.
  void begin(const AnyBelief& belief);
  /// A sample after begin. If the ring is full the sample is lost, and the loading is refused in
  /// the end (samples_lost).
  void feed(const AnyVector& input, const AnyVector& measurement);
  /// Whether the estimator has been loaded and has seen every sample that was fed. If so it is the
  /// caller's.
  [[nodiscard]] bool ready();
  /// Between begin() and ready().
  [[nodiscard]] bool is_busy() const {
    return state_.load(std::memory_order_acquire) != State::idle;
  }
  /// The outcome of the latest loading: its refusal, if there was one.
  [[nodiscard]] Outcome outcome() const { return outcome_; }
  /// Only while it is the caller's: not between begin() and ready().
  [[nodiscard]] Estimator& estimator() { return *estimator_; }

  /// For the loading thread: waits for the next begin() and does its work. False after stop().
  bool load();
  /// Nothing is loaded any more: what has begun never gets ready.
  void stop();

 private:
  enum class State : std::uint32_t { idle, requested, loading, loaded, stopped };

  struct Sample {
    AnyVector input;
    AnyVector measurement;
  };

  void restart();
  void step_what_waits();

  std::unique_ptr<Estimator> estimator_;
  bool inline_loading_;
  std::atomic<State> state_{State::idle};
  std::atomic<bool> stopped_{false};
  AnyBelief start_;
  Outcome outcome_;
  std::vector<Sample> ring_;
  std::atomic<std::size_t> fed_{0};
  std::size_t taken_ = 0;
  /// Whether the ring had no room for a sample. Only the user's thread knows this.
  bool has_lost_samples_ = false;
};

}  // namespace takt::estimation
