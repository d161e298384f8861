#include "takt/flow/flow_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "takt/base/json_or_null.hpp"
#include "takt/base/json_text.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/provenance.hpp"
#include "takt/flow/matching.hpp"
#include "takt/statistics/json.hpp"

namespace takt::flow {
namespace {

using Json = nlohmann::ordered_json;

/// Writes the flows of one recording.
class Writer {
 public:
  Writer(const events::EventStream& source, const execution::Database& database,
         const FlowTracker& tracker, Instant begin)
      : source_(source),
        objects_(database.objects()),
        tracker_(tracker),
        begin_(begin),
        ids_(execution::callback_ids(objects_)) {}

  [[nodiscard]] Json flows() const {
    const std::vector<Path>& paths = tracker_.collected().paths();
    std::vector<std::size_t> order(paths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return longest(paths[a]) > longest(paths[b]); });
    Json list = Json::array();
    for (const std::size_t i : order) {
      if (paths[i].latency.count() != 0) {
        list.push_back(flow(paths[i]));
      }
    }
    return list;
  }

  [[nodiscard]] Json links() const {
    Json list = Json::array();
    for (const links::Link& link : tracker_.links()) {
      Json inputs = Json::array();
      for (const auto input : link.inputs) {
        inputs.push_back(ids_[input.value()]);
      }
      Json outputs = Json::array();
      for (const auto output : link.outputs) {
        outputs.push_back(end(objects_[output].node, objects_[output].topic));
      }
      list.push_back({{"kind", to_string(kind_of(link))},
                      {"origin", to_string(link.grounds)},
                      {"inputs", inputs},
                      {"outputs", outputs},
                      {"matches_stamps", link.matches_stamps},
                      {"runs", link.runs},
                      {"exceptions", link.exceptions}});
    }
    return list;
  }

  /// What nothing shows: subscriptions whose messages may go into what their nodes publish, timers
  /// and publishers that may use what their nodes receive.
  [[nodiscard]] Json unknown() const {
    Json list = Json::array();
    const auto add = [&](std::string name, Json node, std::string_view key, Json value) {
      list.push_back({{"name", std::move(name)}, {"node", std::move(node)}});
      list.back()[std::string(key)] = std::move(value);
    };
    const links::Unknown& unknown = tracker_.unknown();
    for (const auto callback : unknown.subscriptions) {
      const execution::Callback& known = objects_[callback];
      add(ids_[callback.value()], objects_.node_name(known), "receives",
          objects_[*objects_.topic_of(known)]);
    }
    for (const auto callback : unknown.timers) {
      const execution::Callback& known = objects_[callback];
      add(ids_[callback.value()], objects_.node_name(known), "period",
          objects_[*known.timer].period.count());
    }
    for (const auto publisher : unknown.publishers) {
      const auto& [node, topic] = std::pair(*objects_[publisher].node, objects_[publisher].topic);
      add(objects_[node].full_name() + ":" + objects_[topic], objects_[node].full_name(),
          "publishes", objects_[topic]);
    }
    return list;
  }

  /// The model's callback for each of the recording's that it has, by id.
  [[nodiscard]] Json in_model(const model::Model& model) const {
    Matcher matcher(model);
    Json json = Json::object();
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (const auto match = matcher.match(objects_, execution::ObservedCallbackIndex(i))) {
        json[ids_[i]] = model[match->callback].id;
      }
    }
    return json;
  }

  [[nodiscard]] Json clocks(const events::Threads& threads) const {
    Json list = Json::array();
    for (std::size_t i = 0; i < tracker_.clocks().size(); ++i) {
      const HostClock& clock = tracker_.clocks()[i];
      const auto widest = clock.widest_uncertainty();
      list.push_back({{"host", threads.hosts()[i].name},
                      {"quality", to_string(clock.quality)},
                      {"offset", std::llround(clock.offset)},
                      {"drift", clock.drift},
                      {"uncertainty", widest ? Json(widest->count()) : Json()},
                      {"messages", clock.messages}});
    }
    return list;
  }

  [[nodiscard]] Json unlinked() const {
    const Unlinked& unlinked = tracker_.collected().unlinked();
    return {{"sources_not_in_trace", unlinked.sources_not_in_trace},
            {"beyond_window", unlinked.beyond_window},
            {"runs_too_long", tracker_.runs_too_long()},
            {"ways_not_followed", unlinked.ways_not_followed},
            {"instances_not_listed", unlinked.instances_not_listed}};
  }

 private:
  static Duration longest(const Path& path) {
    return path.latency.count() == 0 ? Duration::min() : path.latency.max();
  }

  /// "node:topic", as flows are named at their ends.
  [[nodiscard]] std::string end(const std::optional<execution::NodeIndex>& node,
                                execution::TopicIndex topic) const {
    return fmt::format("{}:{}", node ? objects_[*node].full_name() : "unknown", objects_[topic]);
  }

  [[nodiscard]] Json node_of(const Step& step) const {
    const auto node = step.callback    ? objects_.node_of(objects_[*step.callback])
                      : step.publisher ? objects_[*step.publisher].node
                                       : std::nullopt;
    return node ? Json(objects_[*node].full_name()) : Json();
  }

  /// The topic that the element receives, if any.
  [[nodiscard]] std::optional<execution::TopicIndex> received(const Step& step) const {
    return step.callback ? objects_.topic_of(objects_[*step.callback]) : std::nullopt;
  }

  /// The topic on which the element at a position of a path sends to the next one.
  [[nodiscard]] std::optional<execution::TopicIndex> sent(const Path& path, std::size_t at) const {
    for (std::size_t next = at + 1; next < path.steps.size(); ++next) {
      if (!path.steps[next].is_user) {
        return received(path.steps[next]);
      }
    }
    return path.last_topic;
  }

  [[nodiscard]] Json steps(const Path& path) const {
    Json list = Json::array();
    for (std::size_t i = 0; i < path.steps.size(); ++i) {
      const Step& step = path.steps[i];
      const auto topic = received(step);
      const bool is_kept = i + 1 < path.steps.size() && path.steps[i + 1].is_user;
      const auto publishes = is_kept ? std::nullopt : sent(path, i);
      list.push_back({{"callback", step.callback ? Json(ids_[step.callback->value()]) : Json()},
                      {"node", node_of(step)},
                      {"topic", topic ? Json(objects_[*topic]) : Json()},
                      {"publishes", publishes ? Json(objects_[*publishes]) : Json()}});
    }
    return list;
  }

  /// Where the path goes over a link that is only inferred, to a timer that seems to use what a
  /// callback stores.
  [[nodiscard]] Json guessed(const Path& path) const {
    Json list = Json::array();
    for (std::size_t i = 0; i + 1 < path.steps.size(); ++i) {
      const auto& [stores, uses] = std::tie(path.steps[i].callback, path.steps[i + 1].callback);
      if (!path.steps[i + 1].is_user || !stores || !uses) continue;
      const bool is_guess = std::ranges::any_of(tracker_.links(), [&](const links::Link& link) {
        return link.grounds == links::Grounds::inferred && link.reader == uses &&
               std::ranges::find(link.inputs, *stores) != link.inputs.end();
      });
      if (is_guess) {
        list.push_back({{"from", ids_[stores->value()]}, {"to", ids_[uses->value()]}});
      }
    }
    return list;
  }

  [[nodiscard]] std::string source(const Path& path) const {
    return end_of(path.steps.front(), path.topic);
  }

  [[nodiscard]] std::string sink(const Path& path) const {
    return end_of(path.steps.back(), path.last_topic);
  }

  /// What a path begins or ends with: a message on a topic that the element publishes, or, without
  /// one, what it receives. What triggers a timer that fires once has no name.
  [[nodiscard]] std::string end_of(const Step& step,
                                   const std::optional<execution::TopicIndex>& publishes) const {
    const auto node = node_of(step);
    const std::string name = node.is_null() ? "unknown" : node.get<std::string>();
    const auto topic = publishes ? publishes : received(step);
    if (!topic || objects_[*topic].empty()) return name;
    return fmt::format("{}:{}{}", name, objects_[*topic], number(step, publishes));
  }

  /// "#2" behind what has the name of something else: that of the callback, or of its node where
  /// the name is that of a publisher.
  [[nodiscard]] std::string number(const Step& step,
                                   const std::optional<execution::TopicIndex>& publishes) const {
    if (!publishes && step.callback) {
      const std::string_view id = ids_[step.callback->value()];
      return std::string(id.substr(execution::without_number(id).size()));
    }
    const auto node = step.callback    ? objects_.node_of(objects_[*step.callback])
                      : step.publisher ? objects_[*step.publisher].node
                                       : std::nullopt;
    if (!node) return "";
    const auto last = objects_.nodes.begin() + static_cast<std::ptrdiff_t>(node->value());
    const auto before = std::count_if(objects_.nodes.begin(), last, [&](const auto& other) {
      return !other.continues && other.full_name() == last->full_name();
    });
    return before == 0 ? "" : fmt::format("#{}", before + 1);
  }

  /// Whether a path goes on to, or comes from, what the user wanted left out of the recording.
  [[nodiscard]] bool ends_at_left_out(const Path& path) const {
    if (objects_.selection.is_everything()) return false;
    if (path.last_topic) {
      return std::ranges::any_of(objects_.subscriptions, [&](const auto& subscription) {
        return subscription.topic == *path.last_topic &&
               objects_.is_left_out(subscription.node, subscription.topic);
      });
    }
    // Which of its node's publishers the last callback uses, nobody knows.
    const auto& last = path.steps.back().callback;
    const auto node = last ? objects_.node_of(objects_[*last]) : std::nullopt;
    return node && std::ranges::any_of(objects_.publishers, [&](const auto& publisher) {
             return publisher.node == node &&
                    !execution::is_infrastructure(objects_[publisher.topic]) &&
                    objects_.is_left_out(publisher.node, publisher.topic);
           });
  }
  [[nodiscard]] bool begins_at_left_out(const Path& path) const {
    const auto topic = received(path.steps.front());
    if (objects_.selection.is_everything() || !topic) return false;
    return std::ranges::any_of(objects_.publishers, [&](const auto& publisher) {
      return publisher.topic == *topic && objects_.is_left_out(publisher.node, publisher.topic);
    });
  }

  /// The stages' shares of the mean, rounded such that they add up to the rounded mean.
  static Json breakdown(const Path& path) {
    Json json = Json::object();
    double total = 0;
    std::int64_t told = 0;
    for (std::size_t i = 0; i < stages; ++i) {
      total += path.sums[i] / static_cast<double>(path.latency.count());
      const std::int64_t share = std::llround(total) - told;
      told += share;
      json[std::string(to_string(static_cast<Stage>(i)))] = share;
    }
    return json;
  }

  [[nodiscard]] Json instance(const PathInstance& instance) const {
    return {{"instance", instance.number},
            {"begin", (instance.begin - begin_).count()},
            {"time", or_null(execution::time_of_day(instance.begin.time_since_epoch() +
                                                    source_.epoch_offset()))},
            {"latency", instance.latency.count()},
            {"uncertainty", or_null(instance.uncertainty)},
            {"before_readers", instance.before_readers.count()},
            {"certain", instance.is_certain}};
  }

  [[nodiscard]] Json story(const PathInstance& told) const {
    Json json = instance(told);
    json["parts"] = Json::array();
    for (const NamedPart& part : told.parts) {
      const std::uint32_t actor = part.part.actor;
      json["parts"].push_back(
          {{"stage", to_string(part.part.stage)},
           {"step", part.part.step},
           {"duration", part.part.duration.count()},
           {"callback", part.callback ? Json(ids_[part.callback->value()]) : Json()},
           {"by", actor == no_actor ? Json() : Json(tracker_.states().name(actor))}});
    }
    return json;
  }

  [[nodiscard]] Json flow(const Path& path) const {
    Json json{{"from", source(path)},
              {"to", sink(path)},
              {"measured",
               {{"from", path.topic ? "publication" : "start"},
                {"until", path.last_topic ? "publication" : "start"}}},
              {"path", steps(path)},
              {"guessed", guessed(path)},
              {"count", path.latency.count()}};
    json["left_out"] = {{"before", begins_at_left_out(path)}, {"after", ends_at_left_out(path)}};
    json.update(statistics::to_json(path.latency));
    json["uncertain"] = path.uncertain;
    json["at_most"] = path.uncertain != 0 && path.at_most.count() == path.latency.count()
                          ? Json(statistics::to_json(path.at_most))
                          : Json();
    json["uncertainty"] = or_null(path.uncertainty);
    json["breakdown"] = breakdown(path);
    json["span"] = statistics::to_json(path.span);
    json["first"] = statistics::to_json(path.first);
    json["last"] = statistics::to_json(path.last);
    json["reaction"] = statistics::to_json(path.reaction);
    json["worst"] = Json::array();
    for (const PathInstance& worst : path.worst) {
      json["worst"].push_back(tracker_.options().parts ? story(worst) : instance(worst));
    }
    if (tracker_.options().asked) {
      json["asked"] = path.asked ? story(*path.asked) : Json();
    }
    if (tracker_.options().instances) {
      json["instances"] = Json::array();
      for (const PathInstance& listed : path.instances) {
        Json entry = instance(listed);
        entry["times"] = Json::array();
        for (const auto& [start, end] : listed.times) {
          entry["times"].push_back({(start - begin_).count(), (end - begin_).count()});
        }
        json["instances"].push_back(std::move(entry));
      }
    }
    return json;
  }

  const events::EventStream& source_;
  const execution::Objects& objects_;
  const FlowTracker& tracker_;
  Instant begin_;
  std::vector<std::string> ids_;
};

}  // namespace

std::string to_json(const events::EventStream& source, const execution::Database& database,
                    const execution::Pass& pass, const FlowTracker& tracker) {
  const FlowOptions& options = tracker.options();
  const Writer writer(source, database, tracker, pass.first);
  Json json{{"format", "takt/flow"}, {"version", 1}};
  json["provenance"] = execution::provenance(source, database, pass, std::nullopt);
  json["provenance"]["warnings"] = execution::warnings(source, database);
  for (std::string& line : links::warnings(tracker.links(), database.objects(), true)) {
    json["provenance"]["warnings"].push_back(std::move(line));
  }
  for (const std::string& line : tracker.lines()) {
    json["provenance"]["warnings"].push_back(line);
  }
  json["losses"] = execution::losses(source, database);
  json["from"] = or_null(options.from);
  json["to"] = or_null(options.to);
  json["clocks"] = writer.clocks(database.threads());
  json["links"] = writer.links();
  json["unknown"] = writer.unknown();
  json["flows"] = writer.flows();
  json["unlinked"] = writer.unlinked();
  if (options.model != nullptr) {
    json["in_model"] = writer.in_model(*options.model);
  }
  return json_text(json);
}

}  // namespace takt::flow
