#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "design.hpp"
#include "native.hpp"
#include "progress.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/model/json.hpp"
#include "takt/shaping/overshoot.hpp"
#include "takt/shaping/placement.hpp"
#include "takt/shaping/servers.hpp"
#include "takt/simulation/simulate.hpp"
#include "takt/statistics/lower_line.hpp"
#include "traces.hpp"

namespace nb = nanobind;

namespace takt::native {

namespace {

using nlohmann::json;
using Times = std::vector<std::int64_t>;

/// The most latencies of a chain that are kept; most chains have fewer.
constexpr std::size_t most_latencies = statistics::Distribution::max_kept;

std::vector<Duration> durations(const Times& times) {
  std::vector<Duration> result;
  result.reserve(times.size());
  for (const std::int64_t time : times) result.emplace_back(time);
  return result;
}

Times times(const std::vector<Duration>& durations) {
  Times result;
  result.reserve(durations.size());
  for (const Duration duration : durations) result.push_back(duration.count());
  return result;
}

/// The latencies in the order in which they came. If there are too many, a sample of them and the
/// extremes.
Times latencies_of(const statistics::Distribution& distribution) {
  if (distribution.count() == 0) return {};
  std::vector<Duration> kept = distribution.samples(most_latencies);
  if (kept.size() < distribution.count()) {
    kept.push_back(distribution.min());
    kept.push_back(distribution.max());
  }
  return times(kept);
}

std::map<std::string, Times> simulated_latencies(const std::string& text, const std::string& source,
                                                 const std::string& options_text,
                                                 const std::optional<PythonProgress>& progress) {
  const model::ParsedModel parsed = unwrap(model::parse(text, source));
  const simulation::Options options = unwrap(simulation::parse_options(options_text, "options"));
  const auto total = static_cast<std::uint64_t>(options.duration.count());
  ProgressGate gate(progress);
  const auto simulated = unwrap(simulation::simulate(parsed.model, options, [&](Duration now) {
    gate(static_cast<std::uint64_t>(now.count()), total);
  }));
  std::map<std::string, Times> found;
  for (const auto& chain : simulated.chains) found[chain.id] = latencies_of(chain.latency);
  return found;
}

std::map<std::string, Times> measured_latencies(const std::vector<std::string>& paths,
                                                const std::string& text, const std::string& source,
                                                const std::optional<PythonProgress>& progress) {
  const auto parsed = unwrap(model::parse(text, source));
  const auto stream = open_traces(paths);
  flow::Measurer measurer(parsed.model);
  execution::Interpreter interpreter(stream->threads());
  interpreter.add(measurer);
  ProgressGate gate(progress);
  execution::run(*stream, interpreter, std::ref(gate));
  const flow::Measurement measurement = measurer.measurement();
  std::map<std::string, Times> found;
  for (std::size_t i = 0; i < parsed.model.chains.size(); ++i) {
    found[parsed.model.chains[i].id] = latencies_of(measurement.chains[i].latency);
  }
  return found;
}

/// The values of a JSON object of options. Each is taken once, so the remaining ones are unknown.
class Values {
 public:
  explicit Values(const std::string& text) : json_(json::parse(text, nullptr, false)) {
    if (!json_.is_object()) throw InputError("options: not a JSON object");
  }

  template <typename T>
  std::optional<T> take(const char* name) {
    const auto found = json_.find(name);
    if (found == json_.end()) return std::nullopt;
    std::optional<T> value;
    try {
      if (!found->is_null()) value = found->get<T>();
    } catch (const json::exception&) {
      throw InputError(fmt::format("options.{}: of another type", name));
    }
    json_.erase(found);
    return value;
  }

  std::optional<Duration> take_time(const char* name) {
    const auto time = take<std::int64_t>(name);
    return time ? std::optional(Duration(*time)) : std::nullopt;
  }

  void check_all_taken() const {
    if (!json_.empty()) {
      throw InputError(fmt::format("options.{}: not known", json_.begin().key()));
    }
  }

 private:
  json json_;
};

json to_json(const shaping::Slot& slot) {
  return {{"start", slot.start.count()}, {"end", slot.end.count()}};
}

json to_json(const std::vector<shaping::Slot>& slots) {
  json result = json::array();
  for (const shaping::Slot& slot : slots) result.push_back(to_json(slot));
  return result;
}

std::string place(const Times& latencies, const std::string& options_text) {
  Values values(options_text);
  const auto take = [&](const char* name, auto& field) {
    if (const auto time = values.take_time(name)) field = *time;
  };
  shaping::PlacementOptions options;
  take("cycle", options.cycle);
  take("grid", options.grid);
  take("slot_length", options.slot_length);
  take("slack", options.slack);
  options.bands = values.take<std::size_t>("bands").value_or(options.bands);
  options.freshness = values.take_time("freshness");
  options.publish_time = values.take_time("publish_time");
  options.tail = values.take<double>("tail").value_or(options.tail);
  options.confidence = values.take<double>("confidence");
  options.earliest = values.take_time("earliest");
  const auto seed = values.take<std::uint64_t>("swarm_seed");
  values.check_all_taken();
  const auto profile = unwrap(shaping::Profile::of(durations(latencies)));
  const shaping::Placement placement = unwrap(
      seed ? shaping::place_by_swarm(profile, options, *seed) : shaping::place(profile, options));
  json bands = json::array();
  for (const shaping::Band& band : placement.bands) {
    json entry = to_json(band.slot);
    entry["latency"] = band.latency.count();
    entry["share"] = band.share;
    bands.push_back(std::move(entry));
  }
  return json{{"bands", std::move(bands)},
              {"cost", placement.cost},
              {"unseen", shaping::share_beyond(profile.count(), 0.95)}}
      .dump();
}

shaping::Overshoot parse_overshoot(const std::string& name) {
  const auto found = shaping::overshoot_names.find(name);
  if (found) return *found;
  throw InputError(
      fmt::format("overshoot \"{}\" is not one of {}", name, shaping::overshoot_names.list()));
}

nb::dict deliver(const Times& latencies,
                 const std::vector<std::pair<std::int64_t, std::int64_t>>& slots,
                 std::int64_t cycle, std::int64_t publish_time, std::int64_t shortest,
                 const std::string& overshoot) {
  std::vector<shaping::Slot> table;
  for (const auto& [start, end] : slots) table.push_back({Duration(start), Duration(end)});
  if (table.empty() || Duration(cycle) < table.back().end) {
    throw InputError("a gate needs slots, and they end with its cycle at the latest");
  }
  const shaping::Gate gate(std::move(table), Duration(cycle), Duration(publish_time),
                           Duration(shortest), parse_overshoot(overshoot));
  const shaping::Delivery delivery =
      shaping::deliver(gate, durations(latencies), Duration(cycle), Duration(publish_time));
  nb::dict result;
  result["latencies"] = times(delivery.latencies);
  result["dropped"] = delivery.dropped;
  result["late"] = delivery.late;
  result["longest_gap"] = delivery.longest_gap.count();
  return result;
}

nb::dict joint_table(const std::vector<std::string>& ids, const Times& periods,
                     const std::vector<Times>& latencies, std::int64_t grid, std::int64_t slack) {
  std::vector<shaping::Demand> demands;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    demands.push_back({.id = ids[i],
                       .period = Duration(periods.at(i)),
                       .alone = unwrap(shaping::Profile::of(durations(latencies.at(i))))});
  }
  if (demands.empty()) throw InputError("a joint table needs a chain");
  const shaping::JointTable table =
      unwrap(shaping::joint_table(demands, Duration(grid), Duration(slack)));
  json slots = json::array();
  std::vector<Times> within;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::vector<shaping::Slot> all;
    for (const shaping::Job& job : table.jobs[i]) {
      all.insert(all.end(), job.slots.begin(), job.slots.end());
    }
    slots.push_back(to_json(all));
    within.push_back(times(table.latencies[i].latencies()));
  }
  nb::dict result;
  result["cycle"] = table.cycle.count();
  result["slots"] = slots.dump();
  result["latencies"] = within;
  return result;
}

std::vector<std::pair<std::int64_t, std::int64_t>> callback_servers(
    const std::vector<std::string>& ids, const std::vector<std::size_t>& cores,
    const Times& lengths, const std::vector<std::vector<std::size_t>>& after, std::int64_t cycle) {
  std::vector<shaping::Step> steps;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (const std::size_t other : after.at(i)) {
      if (other >= i) throw InputError("a step comes after what it waits for");
    }
    if (cores.at(i) >= 1024) throw InputError("at most 1024 cores");
    steps.push_back(
        {.id = ids[i], .core = cores[i], .length = Duration(lengths.at(i)), .after = after[i]});
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const auto& slot : unwrap(shaping::callback_servers(steps, Duration(cycle)))) {
    result.emplace_back(slot.start.count(), slot.end.count());
  }
  return result;
}

std::optional<std::tuple<double, double, double>> lower_line(
    const std::vector<std::pair<double, double>>& points) {
  std::vector<statistics::Point> all;
  for (const auto& [x, y] : points) all.push_back({x, y});
  const auto line = statistics::lower_line(std::move(all));
  if (!line) return std::nullopt;
  return std::tuple(line->at.x, line->at.y, line->slope);
}

}  // namespace

void bind_shaping(nb::module_& module) {
  using namespace nb::literals;
  module.attr("MOST_RELEASES") = shaping::most_releases;
  module.def("simulated_latencies", &simulated_latencies, "text"_a, "source"_a, "options"_a,
             "progress"_a = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
             "The latencies of each chain in a simulation, in ns, in the order in which they\n"
             "came, by the chain's id; at most 16386 of each. Arguments as of simulate().");
  module.def("measured_latencies", &measured_latencies, "paths"_a, "model_text"_a, "source"_a,
             "progress"_a = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
             "The same of the chains of a model in traces. Arguments as of measure().");
  module.def("place_slots", &place, "latencies"_a, "options"_a,
             nb::call_guard<nb::gil_scoped_release>(),
             "The slots of least cost for these latencies (ns); `options` is a JSON object of the\n"
             "names in takt/shaping/placement.hpp, and swarm_seed for the particle swarm in the\n"
             "place of the exact solver. Returns bands, cost (ns) and unseen, the share of\n"
             "executions that may be longer than all of these, with 95 % confidence. Raises\n"
             "InputError.");
  module.def(
      "deliver", &deliver, "latencies"_a, "slots"_a, "cycle"_a, "publish_time"_a, "shortest"_a,
      "overshoot"_a,
      "What a consumer sees of executions of these latencies behind a gate with these slots\n"
      "(pairs of start and end): latencies, dropped, late, longest_gap. Raises InputError.");
  module.def("joint_table", &joint_table, "ids"_a, "periods"_a, "latencies"_a, "grid"_a, "slack"_a,
             "One table for chains that share a core, by their periods and their latencies alone:\n"
             "cycle, slots (JSON, by chain) and the latencies within it. Raises InputError.");
  module.def(
      "callback_servers", &callback_servers, "ids"_a, "cores"_a, "lengths"_a, "after"_a, "cycle"_a,
      "A slot (start, end) for each callback, one after the other on its core, when those at\n"
      "the positions `after` it waits for have ended. Raises InputError.");
  module.def("lower_line", &lower_line, "points"_a,
             "The straight line below all points (x, y) that is nearest to them: x and y of a\n"
             "point on it, and its slope. None without points.");
}

}  // namespace takt::native
