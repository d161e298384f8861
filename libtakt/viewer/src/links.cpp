#include "links.hpp"

#include <algorithm>
#include <compare>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "takt/flow/causality.hpp"
#include "takt/links/held_messages.hpp"
#include "takt/links/infer.hpp"
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

/// The links that flow::known_links() finds, and the inputs that timers of the model sample, for
/// nodes whose programs declare no link.
std::vector<links::Link> links_of(const execution::Objects& objects, const model::Model& model,
                                  const Recording& recording) {
  std::vector<links::Link> links = flow::known_links(objects, &model);
  const auto known = links::nodes_of(objects, links::declared_links(objects));
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
    if (model::activates(model, edge) || inputs == observed.end() || readers == observed.end()) {
      continue;
    }
    for (const ObservedCallbackIndex reader : readers->second) {
      links::Link& link = links.emplace_back();
      link.kind = links::Link::Kind::sampled;
      link.grounds = links::Grounds::model;
      link.process = objects[reader].process;
      link.inputs = inputs->second;
      link.reader = reader;
    }
  }
  return links;
}

/// Follows one link from run to run.
class Follower {
 public:
  Follower(const execution::Objects& objects, const links::Link& link)
      : link_(link), held_(link.join, link.inputs.size()) {
    for (const execution::PublisherIndex output : link.outputs) {
      outputs_.insert(objects[output].topic);
    }
    for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
      const ObservedCallbackIndex callback(i);
      const bool is_timer = objects[callback].timer && objects[callback].process == link.process;
      if (is_input(callback) ||
          (is_stored() && (link.reader ? *link.reader == callback : is_timer))) {
        callbacks_.push_back(callback);
      }
    }
  }

  [[nodiscard]] LinkKind kind() const {
    return is_stored() ? LinkKind::stored : LinkKind::completed;
  }
  /// The inputs, and the callbacks that may use them.
  [[nodiscard]] const std::vector<ObservedCallbackIndex>& callbacks() const { return callbacks_; }
  /// Whether a message on the topic may come of the link.
  [[nodiscard]] bool leads_to(execution::TopicIndex topic) const {
    return outputs_.empty() || outputs_.contains(topic);
  }

  /// A run of one of `callbacks` ended. `use` is called with each run that it used.
  template <typename Use>
  void end(std::size_t run, ObservedCallbackIndex callback, bool publishes, Use use) {
    if (is_input(callback)) {
      held_.arrive(position_of(callback), run);
    }
    if (!publishes || is_input(callback) == is_stored()) {
      return;
    }
    for (std::size_t i = 0; i < link_.inputs.size(); ++i) {
      if (link_.inputs[i] != callback && !held_.of(i).empty()) {
        use(link_.inputs[i], held_.of(i).front());
      }
    }
    // A completed set is used up; what is stored is used again.
    if (!is_stored()) {
      held_.use();
    }
  }

 private:
  [[nodiscard]] bool is_stored() const { return link_.kind == links::Link::Kind::sampled; }
  [[nodiscard]] std::size_t position_of(ObservedCallbackIndex callback) const {
    return static_cast<std::size_t>(std::ranges::find(link_.inputs, callback) -
                                    link_.inputs.begin());
  }
  [[nodiscard]] bool is_input(ObservedCallbackIndex callback) const {
    return position_of(callback) != link_.inputs.size();
  }

  const links::Link& link_;
  std::set<execution::TopicIndex> outputs_;
  std::vector<ObservedCallbackIndex> callbacks_;
  /// The runs of the inputs that wait to be used.
  links::HeldMessages<std::deque<std::size_t>> held_;
};

}  // namespace

Links make_links(const execution::Objects& objects, const model::Model& model,
                 const Recording& recording, const Timeline& timeline, const Storage& storage) {
  const auto& runs = recording.runs();
  const std::vector<links::Link> known = links_of(objects, model, recording);
  std::vector<Follower> followers;
  std::vector<std::vector<std::size_t>> followers_of(objects.callbacks.size());
  for (const links::Link& link : known) {
    const Follower& follower = followers.emplace_back(objects, link);
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
