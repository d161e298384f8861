#pragma once

#include <string>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::analysis {

/// For each executor, why it cannot count on the supply that the model gives it, in one line: it
/// shares its `cpu` with others in a way that this analysis does not bound, or they need more than
/// there is. Empty if it can.
///
/// Reservations on one processor are scheduled earliest deadline first: they get their budgets if
/// and only if their demand never exceeds the time there is (Baruah, Rosier, Howell, 1990); with
/// deadlines equal to periods that is a total bandwidth of at most 1. If a limited number of steps
/// does not decide it, none of them can count on its budget. They come before threads without a
/// reservation. Slots get theirs if they do not overlap. Threads at fixed priorities get what more
/// urgent ones and reservations leave (rivals_of()), if each executor has one thread; threads that
/// say nothing come after them.
[[nodiscard]] std::vector<std::string> cpu_contention(const model::Model& model);

/// What takes time of a processor before an executor at a fixed priority.
struct Rivals {
  /// Executors on its cpu with a larger priority, and with the same.
  std::vector<model::ExecutorIndex> higher{};
  std::vector<model::ExecutorIndex> equal{};
  /// `budget` in every `period` at most: the reservations on its cpu, one for each thread, and what
  /// the kernel withholds.
  struct Server {
    Duration budget{};
    Duration period{};
  };
  std::vector<Server> servers{};

  [[nodiscard]] bool none() const { return higher.empty() && equal.empty() && servers.empty(); }
};

/// None of an executor with another supply.
[[nodiscard]] Rivals rivals_of(const model::Model& model, model::ExecutorIndex executor);

}  // namespace takt::analysis
