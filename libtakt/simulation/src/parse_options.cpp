#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "takt/model/names.hpp"
#include "takt/simulation/options.hpp"

namespace takt::simulation {

namespace {

using Parsed = nlohmann::json;

template <typename Value>
using Names = std::span<const std::pair<std::string_view, Value>>;

constexpr std::array<std::pair<std::string_view, ExecutionModel>, 2> execution_models{{
    {"worst_case", ExecutionModel::worst_case},
    {"random", ExecutionModel::random},
}};
constexpr std::array<std::pair<std::string_view, OrderModel>, 2> order_models{{
    {"registered", OrderModel::registered},
    {"random", OrderModel::random},
}};
constexpr std::array<std::pair<std::string_view, ReleaseModel>, 2> release_models{{
    {"synchronous", ReleaseModel::synchronous},
    {"random", ReleaseModel::random},
}};
constexpr std::array<std::pair<std::string_view, MissedPeriods>, 3> missed_periods{{
    {"kept", MissedPeriods::kept},
    {"skipped", MissedPeriods::skipped},
    {"replacing", MissedPeriods::replacing},
}};
constexpr std::array<std::pair<std::string_view, EdfDeadlines>, 4> edf_deadlines{{
    {"per_instance", EdfDeadlines::per_instance},
    {"frozen_at_completion", EdfDeadlines::frozen_at_completion},
    {"inherited", EdfDeadlines::inherited},
    {"per_callback", EdfDeadlines::per_callback},
}};
constexpr std::array<std::pair<std::string_view, RootOrder>, 3> root_orders{{
    {"priority", RootOrder::priority},
    {"rate_monotonic", RootOrder::rate_monotonic},
    {"edf", RootOrder::edf},
}};
constexpr std::array<std::pair<std::string_view, Publication>, 2> publications{{
    {"at_end", Publication::at_end},
    {"at_start", Publication::at_start},
}};
constexpr std::array<std::pair<std::string_view, ReservationModel>, 3> reservation_models{{
    {"constant_bandwidth", ReservationModel::constant_bandwidth},
    {"latest", ReservationModel::latest},
    {"random", ReservationModel::random},
}};
constexpr std::array<std::pair<std::string_view, ThreadPolicy>, 3> thread_policies{{
    {"deadline", ThreadPolicy::deadline},
    {"fifo", ThreadPolicy::fifo},
    {"other", ThreadPolicy::other},
}};

/// Reads the fields of one object and remembers the first fault.
class Reader {
 public:
  Reader(const Parsed& object, std::string path, std::string& fault)
      : object_(object), path_(std::move(path)), fault_(fault) {
    if (!object.is_object()) say(path_, "must be an object");
  }

  void read(const char* name, Duration& value) {
    if (const Parsed* field = find(name)) value = duration(*field, path(name));
  }

  template <typename Integer>
  void read_integer(const char* name, Integer& value) {
    if (const Parsed* field = find(name)) {
      if (field->is_number_integer()) {
        value = field->get<std::int64_t>();
      } else {
        say(path(name), "must be an integer");
      }
    }
  }

  void read(const char* name, std::uint64_t& value) {
    if (const Parsed* field = find(name)) {
      if (field->is_number_unsigned()) {
        value = field->get<std::uint64_t>();
      } else {
        say(path(name), "must be an integer, not negative");
      }
    }
  }

  void read(const char* name, double& value) {
    if (const Parsed* field = find(name)) {
      if (field->is_number()) {
        value = field->get<double>();
      } else {
        say(path(name), "must be a number");
      }
    }
  }

  void read(const char* name, std::string& value) {
    if (const Parsed* field = find(name)) value = text(*field, path(name));
  }

  template <typename Target, typename Table>
  void read_name(const char* name, Target& value, const Table& names) {
    const Parsed* field = find(name);
    if (field == nullptr) return;
    const std::string given = text(*field, path(name));
    std::string all;
    for (const auto& [known, meaning] : names) {
      if (given == known) {
        value = meaning;
        return;
      }
      all += (all.empty() ? "" : ", ") + std::string(known);
    }
    say(path(name), fmt::format("\"{}\" is none of {}", given, all));
  }

  void read(const char* name, std::optional<model::ExecutorKind>& value) {
    const Parsed* field = find(name);
    if (field == nullptr) return;
    const std::string given = text(*field, path(name));
    value = model::from_string<model::ExecutorKind>(given);
    if (!value) {
      say(path(name),
          fmt::format("\"{}\" is none of {}", given, model::all_names<model::ExecutorKind>()));
    }
  }

  void read(const char* name, std::map<std::string, Duration>& values) {
    for_each(name, [&](const std::string& id, const Parsed& item, const std::string& where) {
      values[id] = duration(item, where);
    });
  }

  void read(const char* name, std::map<std::string, std::vector<Duration>>& values) {
    for_each(name, [&](const std::string& id, const Parsed& item, const std::string& where) {
      if (!item.is_array()) return say(where, "must be a list of times in nanoseconds");
      values[id];  // an empty list says something, too
      for (std::size_t i = 0; i < item.size(); ++i) {
        values[id].push_back(duration(item[i], fmt::format("{}[{}]", where, i)));
      }
    });
  }

  void read(const char* name, std::map<std::string, ThreadOptions>& values) {
    for_each(name, [&](const std::string& id, const Parsed& item, const std::string& where) {
      Reader reader(item, where, fault_);
      ThreadOptions& threads = values[id];
      reader.read_name("policy", threads.policy, thread_policies);
      reader.read_integer("priority", threads.priority);
      reader.read_integer("cpu", threads.cpu);
      reader.refuse_others({"policy", "priority", "cpu"});
    });
  }

  void read(const char* name, std::map<std::string, TableOptions>& values) {
    for_each(name, [&](const std::string& id, const Parsed& item, const std::string& where) {
      Reader reader(item, where, fault_);
      TableOptions& table = values[id];
      reader.read("cycle", table.cycle);
      reader.refuse_others({"cycle", "slots"});
      const Parsed* slots = reader.find("slots");
      if (slots == nullptr || !slots->is_array()) return say(where + ".slots", "must be a list");
      for (std::size_t i = 0; i < slots->size(); ++i) {
        Reader slot((*slots)[i], fmt::format("{}.slots[{}]", where, i), fault_);
        SlotOptions& made = table.slots.emplace_back();
        slot.read("start", made.start);
        slot.read("end", made.end);
        slot.read("callback", made.callback);
        slot.refuse_others({"start", "end", "callback"});
      }
    });
  }

  void refuse_others(std::initializer_list<std::string_view> known) {
    if (!object_.is_object()) return;
    for (const auto& [name, value] : object_.items()) {
      if (std::ranges::find(known, name) != known.end()) continue;
      say(path(name), "is not an option");
    }
  }

 private:
  [[nodiscard]] std::string path(const std::string& name) const {
    return path_.empty() ? name : path_ + "." + name;
  }

  /// Null stands for absent.
  const Parsed* find(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto field = object_.find(name);
    return field == object_.end() || field->is_null() ? nullptr : &*field;
  }

  template <typename Function>
  void for_each(const char* name, const Function& function) {
    const Parsed* field = find(name);
    if (field == nullptr) return;
    if (!field->is_object()) return say(path(name), "must be an object by id");
    for (const auto& [id, item] : field->items()) {
      function(id, item, fmt::format("{}[\"{}\"]", path(name), id));
    }
  }

  Duration duration(const Parsed& json, const std::string& where) {
    if (json.is_number_integer()) return Duration(json.get<std::int64_t>());
    say(where, "must be a time, an integer in nanoseconds");
    return {};
  }

  std::string text(const Parsed& json, const std::string& where) {
    if (json.is_string()) return json.get<std::string>();
    say(where, "must be a string");
    return {};
  }

  void say(const std::string& where, const std::string& what) {
    if (fault_.empty()) fault_ = where.empty() ? what : where + ": " + what;
  }

  const Parsed& object_;
  std::string path_;
  std::string& fault_;
};

}  // namespace

Result<Options> parse_options(std::string_view json, std::string_view source) {
  const Parsed document = Parsed::parse(json, nullptr, false);
  if (document.is_discarded()) return error("{}: not JSON", source);
  std::string fault;
  Options options;
  Reader reader(document, "", fault);
  std::uint64_t timeline = 0;
  reader.read("duration", options.duration);
  reader.read("seed", options.seed);
  reader.read("executor", options.executor);
  reader.read_name("execution", options.execution, execution_models);
  reader.read("shortest", options.shortest);
  reader.read_name("releases", options.releases, release_models);
  reader.read_name("order", options.order, order_models);
  reader.read_name("missed_periods", options.missed_periods, missed_periods);
  reader.read_name("edf_deadlines", options.edf_deadlines, edf_deadlines);
  reader.read_name("root_order", options.root_order, root_orders);
  reader.read_name("publication", options.publication, publications);
  reader.read_name("reservation", options.reservation, reservation_models);
  reader.read_integer("cores", options.cores);
  reader.read("offsets", options.offsets);
  reader.read("release_times", options.release_times);
  reader.read("execution_times", options.execution_times);
  reader.read("threads", options.threads);
  reader.read("tables", options.tables);
  reader.read("timeline", timeline);
  reader.refuse_others({"duration", "seed", "executor", "execution", "shortest", "releases",
                        "order", "missed_periods", "edf_deadlines", "root_order", "publication",
                        "reservation", "cores", "offsets", "release_times", "execution_times",
                        "threads", "tables", "timeline"});
  if (!fault.empty()) return error("{}: {}", source, fault);
  options.timeline = timeline;
  return options;
}

}  // namespace takt::simulation
