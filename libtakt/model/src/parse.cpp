#include <algorithm>
#include <unordered_map>

#include "takt/model/json.hpp"
#include "takt/model/object_reader.hpp"
#include "takt/model/parse_document.hpp"
#include "takt/model/validate.hpp"

namespace takt::model {

namespace {

using nlohmann::json;

/// Index by id; the first of equal ids (validate() reports the others).
template <typename Index, typename Object>
std::unordered_map<std::string, Index> index_by_id(const std::vector<Object>& objects) {
  std::unordered_map<std::string, Index> indices;
  for (std::size_t i = 0; i < objects.size(); ++i) indices.emplace(objects[i].id, Index{i});
  return indices;
}

class ModelReader {
 public:
  explicit ModelReader(Findings& findings) : findings_(findings) {}

  Model read(const json& document) {
    Model model;
    ObjectReader object(document, "", findings_);
    read_header(object);
    if (!findings_.fault.empty()) return model;
    model.name = object.text("name");
    if (const json* provenance = object.optional("provenance")) {
      if (!provenance->is_object()) findings_.fail("provenance: must be an object");
      model.provenance = provenance->dump();
    }
    read_list(object, "executors", true, model.executors, &ModelReader::read_executor);
    executors_ = index_by_id<ExecutorIndex>(model.executors);
    read_list(object, "callbacks", true, model.callbacks, &ModelReader::read_callback);
    callbacks_ = index_by_id<CallbackIndex>(model.callbacks);
    find_slot_callbacks(model.executors);
    read_list(object, "edges", false, model.edges, &ModelReader::read_edge);
    read_list(object, "joins", false, model.joins, &ModelReader::read_join);
    read_list(object, "chains", false, model.chains, &ModelReader::read_chain);
    object.keep_unknown(model.unknown);
    return model;
  }

 private:
  void read_header(ObjectReader& object) {
    const std::string format =
        object.required_text("format", "a timing model begins with \"format\": \"takt/model\"");
    if (findings_.fault.empty() && format != "takt/model") {
      findings_.fail("format: \"{}\" is not takt/model", format);
    }
    if (object.required("version", "this version of takt reads version 1") == nullptr) return;
    const auto version = object.integer("version");
    if (version && *version != 1) {
      findings_.fail("version: {} is not supported; this version of takt reads version 1",
                     *version);
    }
  }

  template <typename Object>
  void read_list(ObjectReader& object, std::string_view name, bool required,
                 std::vector<Object>& list, Object (ModelReader::*read_one)(ObjectReader&)) {
    const json* array =
        required ? object.required(name, "use [] if there are none") : object.optional(name);
    if (array == nullptr) return;
    object.for_each(*array, std::string(name), [&](const json& element, const std::string& path) {
      ObjectReader reader(element, path, findings_);
      if (!findings_.fault.empty()) return;
      list.push_back((this->*read_one)(reader));
      reader.keep_unknown(list.back().unknown);
    });
  }

  template <typename Index>
  Index find(const std::unordered_map<std::string, Index>& indices, const std::string& id,
             const std::string& path, std::string_view kind) {
    const auto entry = indices.find(id);
    if (entry != indices.end()) return entry->second;
    findings_.fail("{}: there is no {} \"{}\"", path, kind, id);
    return Index{};
  }

  CallbackIndex required_callback(ObjectReader& object, std::string_view name) {
    const std::string id = object.required_text(name, "name a callback by its id");
    return find(callbacks_, id, object.path_of(name), "callback");
  }

  std::vector<CallbackIndex> callback_list(ObjectReader& object, const json& array,
                                           std::string_view name) {
    std::vector<CallbackIndex> list;
    object.for_each(array, object.path_of(name), [&](const json& element, const std::string& path) {
      list.push_back(find(callbacks_, object.read_text(element, path), path, "callback"));
    });
    return list;
  }

  static Slot read_slot(ObjectReader& object) {
    return {.start = object.required_time("start", "when the slot begins within the cycle"),
            .end = object.required_time("end", "when the slot ends within the cycle")};
  }

  /// Calls read_one(slot) for each of the owner's slots.
  template <typename Read>
  void read_slots(ObjectReader& owner, Read read_one) {
    const json* slots = owner.required("slots", "the slots [{\"start\": …, \"end\": …}, …]");
    if (slots == nullptr) return;
    owner.for_each(*slots, owner.path_of("slots"), [&](const json& element, const auto& path) {
      ObjectReader slot(element, path, findings_);
      if (findings_.fault.empty()) read_one(slot);
    });
  }

  /// The callbacks are not read yet: their ids are kept until they are.
  std::optional<SlotTable> read_table(ObjectReader& owner, UnknownFields& unknown) {
    slot_callbacks_.emplace_back();
    const json* member = owner.optional("table");
    if (member == nullptr) return std::nullopt;
    ObjectReader object(*member, owner.path_of("table"), findings_);
    SlotTable table;
    table.cycle = object.required_time("cycle", "how often the slots repeat");
    read_slots(object, [&](ObjectReader& slot) {
      table.entries.push_back({.slot = read_slot(slot), .callback = {}});
      slot_callbacks_.back().push_back(
          {slot.required_text("callback", "whose instances start in the slot"),
           slot.path_of("callback")});
    });
    object.keep_unknown(unknown, "table/");
    return table;
  }

  void find_slot_callbacks(std::vector<Executor>& executors) {
    for (std::size_t e = 0; e < executors.size(); ++e) {
      for (std::size_t i = 0; i < slot_callbacks_[e].size(); ++i) {
        const auto& [id, path] = slot_callbacks_[e][i];
        executors[e].table->entries[i].callback = find(callbacks_, id, path, "callback");
      }
    }
  }

  Supply read_supply(ObjectReader& owner, UnknownFields& unknown) {
    const json* member = owner.optional("supply");
    if (member == nullptr) return DedicatedSupply{};
    ObjectReader object(*member, owner.path_of("supply"), findings_);
    const std::string kind = object.required_text("kind", "dedicated, reservation or slots");
    Supply supply;
    if (kind == "reservation") {
      ReservationSupply reservation;
      reservation.budget = object.required_time("budget", "the time supplied in every period");
      reservation.period = object.required_time("period", "how often the budget is supplied");
      reservation.deadline = object.time("deadline").value_or(reservation.period);
      supply = reservation;
    } else if (kind == "slots") {
      SlotSupply table;
      table.cycle = object.required_time("cycle", "how often the slots repeat");
      read_slots(object, [&](ObjectReader& slot) { table.slots.push_back(read_slot(slot)); });
      supply = std::move(table);
    } else if (kind != "dedicated") {
      findings_.fail("{}: \"{}\" is none of dedicated, reservation, slots", object.path_of("kind"),
                     kind);
    }
    object.keep_unknown(unknown, "supply/");
    return supply;
  }

  Executor read_executor(ObjectReader& object) {
    Executor executor;
    executor.id = object.required_text("id", "a unique name");
    executor.name = object.text("name", executor.id);
    executor.kind = object.kind("kind", executor.kind);
    executor.timers = object.kind("timers", executor.timers);
    executor.threads = object.integer("threads").value_or(1);
    executor.cpu = object.integer("cpu");
    executor.supply = read_supply(object, executor.unknown);
    if (const json* overhead = object.optional("overhead")) {
      executor.overhead = object.times(*overhead, object.path_of("overhead"));
    }
    executor.release_overhead = object.time("release_overhead").value_or(Duration{0});
    executor.table = read_table(object, executor.unknown);
    executor.process = object.optional_text("process");
    return executor;
  }

  std::vector<Duration> read_execution_time(ObjectReader& owner, UnknownFields& unknown) {
    const json* member = owner.required(
        "execution_time", "give {\"curve\": [ET(1), ET(2), …]}, the longest execution times");
    if (member == nullptr) return {};
    ObjectReader object(*member, owner.path_of("execution_time"), findings_);
    const json* curve = object.required("curve", "the longest execution times ET(1), ET(2), …");
    std::vector<Duration> values;
    if (curve != nullptr) values = object.times(*curve, object.path_of("curve"));
    object.keep_unknown(unknown, "execution_time/");
    return values;
  }

  std::optional<Activation> read_activation(ObjectReader& owner, UnknownFields& unknown) {
    const json* member = owner.optional("activation");
    if (member == nullptr) return std::nullopt;
    ObjectReader object(*member, owner.path_of("activation"), findings_);
    const std::string kind = object.required_text("kind", "periodic, sporadic or min_distance");
    std::optional<Activation> activation;
    if (kind == "periodic") {
      activation = PeriodicActivation{
          .period = object.required_time("period", "the time from one activation to the next"),
          .jitter = object.time("jitter").value_or(Duration{0})};
    } else if (kind == "sporadic") {
      activation = SporadicActivation{
          .min_separation = object.required_time("min_separation", "the least time between two"),
          .jitter = object.time("jitter").value_or(Duration{0})};
    } else if (kind == "min_distance") {
      MinDistanceActivation distances;
      if (const json* values =
              object.required("values", "the least spans of 1, 2, … activations")) {
        distances.values = object.times(*values, object.path_of("values"));
      }
      activation = std::move(distances);
    } else {
      findings_.fail("{}: \"{}\" is none of periodic, sporadic, min_distance",
                     object.path_of("kind"), kind);
    }
    object.keep_unknown(unknown, "activation/");
    return activation;
  }

  Callback read_callback(ObjectReader& object) {
    Callback callback;
    callback.id = object.required_text("id", "a unique name");
    callback.name = object.text("name", callback.id);
    callback.node = object.text("node");
    const std::string executor = object.required_text("executor", "name an executor by its id");
    callback.executor = find(executors_, executor, object.path_of("executor"), "executor");
    if (object.required("kind", all_names<CallbackKind>()) != nullptr) {
      callback.kind = object.kind("kind", callback.kind);
    }
    callback.topic = object.optional_text("topic");
    callback.registration = object.integer("registration").value_or(0);
    callback.execution_time = read_execution_time(object, callback.unknown);
    callback.activation = read_activation(object, callback.unknown);
    callback.priority = object.integer("priority");
    callback.deadline = object.time("deadline");
    callback.queue_depth = object.integer("queue_depth");
    callback.callback_group = object.optional_text("callback_group");
    return callback;
  }

  Edge read_edge(ObjectReader& object) {
    Edge edge;
    edge.from = required_callback(object, "from");
    edge.to = required_callback(object, "to");
    edge.topic = object.optional_text("topic");
    edge.delay = object.time("delay").value_or(Duration{0});
    if (const json* triggers = object.optional("triggered_by")) {
      edge.triggered_by = callback_list(object, *triggers, "triggered_by");
    }
    edge.message_size = object.integer("message_size").value_or(0);
    return edge;
  }

  Join read_join(ObjectReader& object) {
    Join join;
    join.callback = required_callback(object, "callback");
    join.kind = object.kind("kind", join.kind);
    if (const json* inputs = object.required("inputs", "the callbacks whose messages are joined")) {
      join.inputs = callback_list(object, *inputs, "inputs");
    }
    return join;
  }

  Chain read_chain(ObjectReader& object) {
    Chain chain;
    chain.id = object.required_text("id", "a unique name");
    if (const json* callbacks = object.required("callbacks", "the ids of its callbacks in order")) {
      chain.callbacks = callback_list(object, *callbacks, "callbacks");
    }
    chain.goal = object.time("goal");
    chain.rank = object.integer("rank");
    return chain;
  }

  Findings& findings_;
  std::unordered_map<std::string, ExecutorIndex> executors_;
  std::unordered_map<std::string, CallbackIndex> callbacks_;
  /// Of the slots of each executor's table: the callback's id and where it stands.
  std::vector<std::vector<std::pair<std::string, std::string>>> slot_callbacks_;
};

}  // namespace

Result<ParsedModel> parse(std::string_view text, std::string_view source) {
  const auto document = parse_document(text, source);
  if (!document) return tl::unexpected(document.error());
  Findings findings;
  ParsedModel parsed{.model = ModelReader(findings).read(*document), .warnings = {}};
  if (!findings.fault.empty()) return error("{}: {}", source, findings.fault);
  if (auto valid = validate(parsed.model, source); !valid) return tl::unexpected(valid.error());
  for (const auto& warning : findings.warnings) {
    parsed.warnings.push_back(fmt::format("{}: {}", source, warning));
  }
  return parsed;
}

}  // namespace takt::model
