#include "check_options.hpp"

#include <algorithm>
#include <span>

#include "takt/base/try.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::simulation {

namespace {

using curves::longest_time;

/// Of SCHED_FIFO.
constexpr std::int64_t least_priority = 1;
constexpr std::int64_t most_priority = 99;

template <typename Objects>
bool has(const Objects& objects, const std::string& id) {
  return std::ranges::any_of(objects, [&](const auto& object) { return object.id == id; });
}

bool in_range(Duration time) { return time >= Duration{0} && time <= longest_time; }

Result<void> check_times(std::span<const Duration> times, const std::string& path, bool ascending) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!in_range(times[i])) {
      return error("{}[{}]: {} ns is not between 0 and {} ns", path, i, times[i].count(),
                   longest_time.count());
    }
    if (ascending && i > 0 && times[i] < times[i - 1]) {
      return error("{}[{}]: {} ns is before the {} ns that precede it", path, i, times[i].count(),
                   times[i - 1].count());
    }
  }
  return {};
}

Result<void> check_callbacks(const model::Model& model, const Options& options) {
  for (const auto& [id, offset] : options.offsets) {
    if (!has(model.callbacks, id)) return error("offsets: there is no callback \"{}\"", id);
    if (!in_range(offset)) {
      return error("offsets[\"{}\"]: {} ns is not between 0 and {} ns", id, offset.count(),
                   longest_time.count());
    }
  }
  for (const auto& [id, times] : options.release_times) {
    if (!has(model.callbacks, id)) return error("release_times: there is no callback \"{}\"", id);
    TAKT_TRY(check_times(times, fmt::format("release_times[\"{}\"]", id), true));
  }
  for (const auto& [id, times] : options.execution_times) {
    if (!has(model.callbacks, id)) {
      return error("execution_times: there is no callback \"{}\"", id);
    }
    const std::string path = fmt::format("execution_times[\"{}\"]", id);
    if (times.empty()) return error("{}: needs at least one time", path);
    TAKT_TRY(check_times(times, path, false));
  }
  return {};
}

Result<void> check_threads(const model::Model& model, const Options& options) {
  for (const auto& [id, threads] : options.threads) {
    const auto executor = std::ranges::find(model.executors, id, &model::Executor::id);
    if (executor == model.executors.end()) {
      return error("threads: there is no executor \"{}\"", id);
    }
    if (threads.priority < least_priority || threads.priority > most_priority) {
      return error("threads[\"{}\"].priority: {} is not between {} and {}", id, threads.priority,
                   least_priority, most_priority);
    }
    if (!options.cores)
      return error("threads[\"{}\"]: say how many cores there are: \"cores\"", id);
    if (threads.policy == ThreadPolicy::deadline &&
        !std::holds_alternative<model::ReservationSupply>(executor->supply)) {
      return error(
          "threads[\"{}\"].policy: deadline needs a reservation; give the executor one in the "
          "model",
          id);
    }
  }
  if (!options.cores) return {};
  for (const model::Executor& executor : model.executors) {
    if (std::holds_alternative<model::SlotSupply>(executor.supply)) {
      return error(
          "executor \"{}\" has slots, which are served on a processor of its own only; leave out "
          "\"cores\"",
          executor.id);
    }
    const auto given = options.threads.find(executor.id);
    const bool own = given != options.threads.end() && given->second.cpu;
    const std::optional<std::int64_t> cpu = own ? given->second.cpu : executor.cpu;
    if (cpu && (*cpu < 0 || *cpu >= *options.cores)) {
      return error("executor \"{}\": cpu {} does not exist on {} cores; they count from 0",
                   executor.id, *cpu, *options.cores);
    }
  }
  return {};
}

}  // namespace

Result<void> check_options(const model::Model& model, const Options& options) {
  if (options.duration <= Duration{0} || options.duration > longest_time) {
    return error("duration: {} ns is not between 1 and {} ns", options.duration.count(),
                 longest_time.count());
  }
  if (!(options.shortest >= 0 && options.shortest <= 1)) {
    return error("shortest: {} is not between 0 and 1", options.shortest);
  }
  if (options.cores && (*options.cores < 1 || *options.cores > most_cores)) {
    return error("cores: {} is not between 1 and {}", *options.cores, most_cores);
  }
  if (options.executor && has(*options.executor, model::ExecutorTrait::outside_ros)) {
    return error("executor: event_source is no kind to choose; it is what a source's thread is");
  }
  TAKT_TRY(check_callbacks(model, options));
  return check_threads(model, options);
}

}  // namespace takt::simulation
