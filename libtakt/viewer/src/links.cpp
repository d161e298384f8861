#include "links.hpp"

#include <algorithm>
#include <compare>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "takt/flow/causality.hpp"
#include "takt/model/order.hpp"

namespace takt::viewer {
namespace {

using execution::ObservedCallbackIndex;

/// A row of the table: two spans, and how the data got from one to the other.
struct LinkRow {
  std::int64_t from;
  std::int64_t to;
  LinkKind kind;

  auto operator<=>(const LinkRow&) const = default;
};

/// The groups that flow::known_groups() finds, and the inputs that timers of the model sample, for
/// nodes whose programs declare no link.
std::vector<flow::Group> groups_of(const execution::Objects& objects, const model::Model& model,
                                   const Recording& recording) {
  std::vector<flow::Group> groups = flow::known_groups(objects, &model);
  std::set<execution::NodeIndex> known;
  for (const flow::Group& group : groups) {
    for (const ObservedCallbackIndex input : group.inputs) {
      const auto node = objects.node_of(objects[input]);
      if (node && group.origin == flow::LinkOrigin::declared) {
        known.insert(*node);
      }
    }
  }
  std::map<model::CallbackIndex, std::vector<ObservedCallbackIndex>> observed;
  for (std::size_t i = 0; i < recording.matches().size(); ++i) {
    const auto node = objects.node_of(objects[ObservedCallbackIndex(i)]);
    if (recording.matches()[i] && node && !known.contains(*node)) {
      observed[*recording.matches()[i]].emplace_back(i);
    }
  }
  for (const model::Edge& edge : model.edges) {
    const auto inputs = observed.find(edge.from);
    const auto readers = observed.find(edge.to);
    if (!model::samples_messages(model[edge.to]) || inputs == observed.end() ||
        readers == observed.end()) {
      continue;
    }
    for (const ObservedCallbackIndex reader : readers->second) {
      groups.push_back({.kind = flow::LinkKind::periodic_async,
                        .origin = flow::LinkOrigin::model,
                        .process = objects[reader].process,
                        .inputs = inputs->second,
                        .outputs = {},
                        .reader = reader});
    }
  }
  return groups;
}

/// Follows one group from run to run.
class Follower {
 public:
  Follower(const execution::Objects& objects, const flow::Group& group) : group_(group) {
    for (const execution::PublisherIndex output : group.outputs) {
      outputs_.insert(objects[output].topic);
    }
    for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
      const ObservedCallbackIndex callback(i);
      const bool is_timer = objects[callback].timer && objects[callback].process == group.process;
      if (is_input(callback) ||
          (is_stored() && (group.reader ? *group.reader == callback : is_timer))) {
        callbacks_.push_back(callback);
      }
    }
  }

  [[nodiscard]] LinkKind kind() const {
    return is_stored() ? LinkKind::stored : LinkKind::completed;
  }
  /// The inputs, and the callbacks that may use them.
  [[nodiscard]] const std::vector<ObservedCallbackIndex>& callbacks() const { return callbacks_; }
  /// Whether a message on the topic may come of the group.
  [[nodiscard]] bool leads_to(execution::TopicIndex topic) const {
    return outputs_.empty() || outputs_.contains(topic);
  }

  /// A run of one of `callbacks` ended. `use` is called with each run that it used.
  template <typename Use>
  void end(std::size_t run, ObservedCallbackIndex callback, bool publishes, Use use) {
    const bool uses = publishes && is_input(callback) != is_stored();
    if (is_input(callback) && !(uses && !group_.is_queued)) {
      auto& held = held_[callback];
      if (!group_.is_queued) {
        held.clear();
      }
      held.push_back(run);
    }
    if (!uses) {
      return;
    }
    for (auto& [input, held] : held_) {
      if (input != callback && !held.empty()) {
        use(input, held.front());
      }
      // A completed set is used up; what is stored is used again.
      if (!is_stored() && !held.empty()) {
        held.pop_front();
      }
    }
  }

 private:
  [[nodiscard]] bool is_stored() const { return group_.kind == flow::LinkKind::periodic_async; }
  [[nodiscard]] bool is_input(ObservedCallbackIndex callback) const {
    return std::ranges::find(group_.inputs, callback) != group_.inputs.end();
  }

  const flow::Group& group_;
  std::set<execution::TopicIndex> outputs_;
  std::vector<ObservedCallbackIndex> callbacks_;
  /// The runs of each input that wait to be used: the newest, or all.
  std::map<ObservedCallbackIndex, std::deque<std::size_t>> held_;
};

}  // namespace

Links make_links(const execution::Objects& objects, const model::Model& model,
                 const Recording& recording, const Timeline& timeline, const Storage& storage) {
  const auto& runs = recording.runs();
  const std::vector<flow::Group> groups = groups_of(objects, model, recording);
  std::vector<Follower> followers;
  std::vector<std::vector<std::size_t>> followers_of(objects.callbacks.size());
  for (const flow::Group& group : groups) {
    const Follower& follower = followers.emplace_back(objects, group);
    for (const ObservedCallbackIndex callback : follower.callbacks()) {
      followers_of[callback.value()].push_back(followers.size() - 1);
    }
  }
  Array<LinkRow> rows(storage);
  Links links(storage);
  // runs() is in the order of ends, so all runs that a run may have used are before it.
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const ObservedCallbackIndex callback = runs[run].callback;
    for (const std::size_t number : followers_of[callback.value()]) {
      Follower& follower = followers[number];
      const bool publishes =
          std::ranges::any_of(timeline.messages_from(run), [&](std::uint32_t message) {
            return follower.leads_to(timeline.messages()[message].topic);
          });
      follower.end(run, callback, publishes, [&](ObservedCallbackIndex input, std::size_t from) {
        rows.push_back({timeline.span_of(from), timeline.span_of(run), follower.kind()});
        ++links.counts[{input, callback}];
      });
    }
  }
  std::ranges::sort(rows);
  rows.resize(rows.size() - std::ranges::unique(rows).size());
  for (const auto& [from, to, kind] : rows) {
    links.table.add({from, to, static_cast<std::int64_t>(kind)});
  }
  return links;
}

}  // namespace takt::viewer
