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

struct CompiledModel;

/// Whether an instance may leave out a message that it could send.
enum class Sending { at_most_once, always };

/// Runs a model, one ε after the other, as its executors would, with all that is left open decided
/// by choices: an oracle that is slow and plain, for models whose times are a few ε.
class Scheduler {
 public:
  explicit Scheduler(const model::Model& model, Sending sending = Sending::at_most_once);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  /// Sources are activated up to `horizon`; the schedule ends when all instances are complete, or
  /// at four times the horizon.
  Observation run(Choices& choices, std::int64_t horizon) const;

  /// The schedule in which nothing is chosen, to begin with.
  [[nodiscard]] Choices no_choices() const;

 private:
  std::unique_ptr<CompiledModel> compiled_;
};

}  // namespace takt::brute_force
