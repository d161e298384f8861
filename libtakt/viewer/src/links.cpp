#include "links.hpp"

#include <algorithm>
#include <compare>
#include <optional>
#include <set>
#include <vector>

namespace takt::viewer {
namespace {

using execution::ObservedCallbackIndex;

/// A row of the table: two spans, and how the data got from one to the other.
struct Row {
  std::int64_t from;
  std::int64_t to;
  LinkKind kind;

  auto operator<=>(const Row&) const = default;
};

/// Callbacks of one node whose data come together.
struct Group {
  LinkKind kind = LinkKind::stored;
  std::vector<ObservedCallbackIndex> inputs;
  /// Topics that the result is published to; empty: any.
  std::set<execution::TopicIndex> outputs;
  execution::ProcessIndex process;
};

std::vector<Group> groups(const execution::Objects& objects, const model::Model& model,
                          const Recording& recording) {
  std::vector<Group> found;
  for (const execution::MessageLink& link : objects.message_links) {
    Group group;
    group.kind = link.kind == execution::MessageLink::Kind::periodic_async ? LinkKind::stored
                                                                           : LinkKind::completed;
    group.process = link.process;
    for (const execution::SubscriptionIndex input : link.inputs) {
      group.inputs.push_back(objects[input].callback);
    }
    for (const execution::PublisherIndex output : link.outputs) {
      group.outputs.insert(objects[output].topic);
    }
    found.push_back(std::move(group));
  }
  if (!found.empty()) {
    return found;
  }
  for (const model::Join& join : model.joins) {
    Group group;
    group.kind = LinkKind::completed;
    for (std::size_t i = 0; i < recording.matches().size(); ++i) {
      if (recording.matches()[i] == join.callback) {
        group.inputs.emplace_back(i);
      }
    }
    if (group.inputs.size() > 1) {
      group.process = objects[group.inputs.front()].process;
      found.push_back(std::move(group));
    }
  }
  return found;
}

}  // namespace

Links make_links(const execution::Objects& objects, const model::Model& model,
                 const Recording& recording, const Timeline& timeline, const Storage& storage) {
  const auto& runs = recording.runs();
  Array<Row> rows(storage);
  Links links(storage);
  for (const Group& group : groups(objects, model, recording)) {
    // runs() is in the order of ends, so all runs that a run may have used are before it.
    std::map<ObservedCallbackIndex, std::size_t> newest;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const ObservedCallbackIndex callback = runs[run].callback;
      const bool is_input = std::ranges::find(group.inputs, callback) != group.inputs.end();
      const bool is_timer = objects[callback].timer && objects[callback].process == group.process;
      const bool can_use = group.kind == LinkKind::stored ? is_timer : is_input;
      const bool publishes =
          can_use && std::ranges::any_of(timeline.messages_from(run), [&](std::uint32_t message) {
            const auto topic = timeline.messages()[message].topic;
            return group.outputs.empty() || group.outputs.contains(topic);
          });
      if (publishes) {
        for (const auto& [input, from] : newest) {
          if (input != callback && runs[from].end <= runs[run].end) {
            rows.push_back({timeline.span_of(from), timeline.span_of(run), group.kind});
            ++links.counts[{input, callback}];
          }
        }
        // A completed set is used up; what is stored is used again.
        if (group.kind == LinkKind::completed) {
          newest.clear();
        }
      } else if (is_input) {
        newest[callback] = run;
      }
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
