#include <nlohmann/json.hpp>

#include "takt/model/json.hpp"
#include "takt/model/names.hpp"

namespace takt::model {

namespace {

using Json = nlohmann::ordered_json;

/// One line; bytes that are no UTF-8 become U+FFFD instead of an exception.
std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json times(const std::vector<Duration>& values) {
  Json array = Json::array();
  for (const Duration value : values) array.push_back(value.count());
  return array;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::optional<Duration>& value) {
  return value ? Json(value->count()) : Json(nullptr);
}

void add_unknown(Json& object, const UnknownFields& unknown) {
  for (const auto& [name, text] : unknown) {
    const auto parsed = Json::parse(text, nullptr, false);
    const Json value = parsed.is_discarded() ? Json(text) : parsed;
    const auto slash = name.find('/');
    const std::string owner = name.substr(0, slash);
    if (slash != std::string::npos && object.contains(owner) && object[owner].is_object()) {
      object[owner][name.substr(slash + 1)] = value;
    } else {
      object[name] = value;
    }
  }
}

Json write(const Slot& slot) { return {{"start", slot.start.count()}, {"end", slot.end.count()}}; }

Json write(const Supply& supply) {
  if (const auto* table = std::get_if<SlotSupply>(&supply)) {
    Json slots = Json::array();
    for (const Slot& slot : table->slots) slots.push_back(write(slot));
    return {{"kind", "slots"}, {"cycle", table->cycle.count()}, {"slots", slots}};
  }
  const auto* reservation = std::get_if<ReservationSupply>(&supply);
  if (reservation == nullptr) return {{"kind", "dedicated"}};
  return {{"kind", "reservation"},
          {"budget", reservation->budget.count()},
          {"period", reservation->period.count()},
          {"deadline", reservation->deadline.count()}};
}

Json write(const Activation& activation) {
  if (const auto* periodic = std::get_if<PeriodicActivation>(&activation)) {
    return {{"kind", "periodic"},
            {"period", periodic->period.count()},
            {"jitter", periodic->jitter.count()}};
  }
  if (const auto* sporadic = std::get_if<SporadicActivation>(&activation)) {
    return {{"kind", "sporadic"},
            {"min_separation", sporadic->min_separation.count()},
            {"jitter", sporadic->jitter.count()}};
  }
  return {{"kind", "min_distance"},
          {"values", times(std::get<MinDistanceActivation>(activation).values)}};
}

class ModelWriter {
 public:
  explicit ModelWriter(const Model& model) : model_(model) {}

  std::string document() const {
    Json provenance = Json::parse(model_.provenance, nullptr, false);
    if (!provenance.is_object()) provenance = Json::object();
    std::string text = "{\n\"format\": \"takt/model\",\n\"version\": 1";
    text += ",\n\"name\": " + dump(model_.name);
    text += ",\n\"provenance\": " + dump(provenance);
    add_list(text, "executors", model_.executors);
    add_list(text, "callbacks", model_.callbacks);
    add_list(text, "edges", model_.edges);
    add_list(text, "joins", model_.joins);
    add_list(text, "chains", model_.chains);
    Json unknown = Json::object();
    add_unknown(unknown, model_.unknown);
    for (const auto& [name, value] : unknown.items()) {
      text += ",\n" + dump(name) + ": " + dump(value);
    }
    return text + "\n}\n";
  }

 private:
  template <typename Object>
  void add_list(std::string& text, std::string_view name, const std::vector<Object>& list) const {
    text += fmt::format(",\n\"{}\": [", name);
    for (std::size_t i = 0; i < list.size(); ++i) {
      Json object = write_object(list[i]);
      add_unknown(object, list[i].unknown);
      text += (i == 0 ? "\n  " : ",\n  ") + dump(object);
    }
    text += list.empty() ? "]" : "\n]";
  }

  Json ids(const std::vector<CallbackIndex>& callbacks) const {
    Json array = Json::array();
    for (const CallbackIndex callback : callbacks) array.push_back(model_[callback].id);
    return array;
  }

  Json write_object(const Executor& executor) const {
    return {{"id", executor.id},
            {"name", executor.name},
            {"kind", to_string(executor.kind)},
            {"timers", to_string(executor.timers)},
            {"threads", executor.threads},
            {"cpu", or_null(executor.cpu)},
            {"supply", write(executor.supply)},
            {"overhead", times(executor.overhead)},
            {"release_overhead", executor.release_overhead.count()},
            {"table", executor.table ? write_table(*executor.table) : Json(nullptr)},
            {"process", or_null(executor.process)}};
  }

  Json write_table(const SlotTable& table) const {
    Json slots = Json::array();
    for (const auto& [slot, callback] : table.entries) {
      slots.push_back(write(slot));
      slots.back()["callback"] = model_[callback].id;
    }
    return {{"cycle", table.cycle.count()}, {"slots", slots}};
  }

  Json write_object(const Callback& callback) const {
    Json json = {{"id", callback.id},
                 {"name", callback.name},
                 {"node", callback.node},
                 {"executor", model_[callback.executor].id},
                 {"kind", to_string(callback.kind)},
                 {"topic", or_null(callback.topic)},
                 {"registration", callback.registration},
                 {"execution_time", {{"curve", times(callback.execution_time)}}},
                 {"activation", callback.activation ? write(*callback.activation) : Json(nullptr)},
                 {"priority", or_null(callback.priority)},
                 {"deadline", or_null(callback.deadline)},
                 {"queue_depth", or_null(callback.queue_depth)}};
    if (callback.callback_group) json["callback_group"] = *callback.callback_group;
    return json;
  }

  Json write_object(const Edge& edge) const {
    return {{"from", model_[edge.from].id},
            {"to", model_[edge.to].id},
            {"topic", or_null(edge.topic)},
            {"delay", edge.delay.count()},
            {"triggered_by", edge.triggered_by ? ids(*edge.triggered_by) : Json(nullptr)},
            {"message_size", edge.message_size}};
  }

  Json write_object(const Join& join) const {
    return {{"callback", model_[join.callback].id},
            {"kind", to_string(join.kind)},
            {"inputs", ids(join.inputs)}};
  }

  Json write_object(const Chain& chain) const {
    return {{"id", chain.id},
            {"callbacks", ids(chain.callbacks)},
            {"goal", or_null(chain.goal)},
            {"rank", or_null(chain.rank)}};
  }

  const Model& model_;
};

}  // namespace

std::string to_json(const Model& model) { return ModelWriter(model).document(); }

}  // namespace takt::model
