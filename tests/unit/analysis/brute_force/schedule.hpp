#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "choices.hpp"
#include "takt/model/model.hpp"

namespace takt::brute_force {

/// The longest response times in one schedule, in ε; 0 if there was no response.
struct Observation {
  std::vector<std::int64_t> callbacks;
  std::vector<std::int64_t> chains;
};

/// A schedule's horizon is looked at in so many parts.
inline constexpr std::size_t stretches = 8;

struct CompiledModel;

/// Whether an instance may leave out a message that it could send.
enum class Sending { at_most_once, always };

/// What the threads of reservations are supplied.
enum class Supplying {
  /// The budget of each period in one piece, somewhere before its deadline.
  budgets,
  /// Anything that keeps to the supply bound in any time in which the thread is ready. A thread
  /// that is free is supplied all the time. One that runs certain callbacks is supplied no more
  /// than it must be, anew after each suspension. On executors with several threads, threads that
  /// have been free longest go first, and callbacks in a certain order. All this is chosen once,
  /// for the whole schedule.
  bounds,
};

/// Runs a model, one ε after the other, as its executors would, with all that is left open decided
/// by choices: an oracle that is slow and plain, for models whose times are a few ε.
class Scheduler {
 public:
  explicit Scheduler(const model::Model& model, Sending sending = Sending::at_most_once,
                     Supplying supplying = Supplying::budgets);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  /// Sources are activated up to `horizon`; the schedule ends when all instances are complete, or
  /// at four times the horizon.
  Observation run(Choices& choices, std::int64_t horizon) const;

  /// How many instances of each callback wait, at the end of each stretch of the schedule.
  std::vector<std::vector<std::int64_t>> waiting(Choices& choices, std::int64_t horizon) const;

  /// The schedule in which nothing is chosen, to begin with.
  [[nodiscard]] Choices no_choices() const;

 private:
  std::unique_ptr<CompiledModel> compiled_;
};

}  // namespace takt::brute_force
