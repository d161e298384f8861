#include <algorithm>
#include <ranges>
#include <set>

#include "takt/flow/causality.hpp"
#include "takt/flow/inference.hpp"

namespace takt::flow {
namespace {

using execution::NodeIndex;
using execution::ObservedCallbackIndex;
using execution::PublisherIndex;

Group declared_group(const execution::Objects& objects, const execution::MessageLink& link) {
  Group group;
  group.kind = link.kind == execution::MessageLink::Kind::periodic_async ? LinkKind::periodic_async
                                                                         : LinkKind::partial_sync;
  group.process = link.process;
  for (const execution::SubscriptionIndex input : link.inputs) {
    group.inputs.push_back(objects[input].callback);
  }
  group.outputs = link.outputs;
  return group;
}

/// The publishers by which a callback sent something.
std::set<PublisherIndex> publishers_of(const History& history,
                                       const std::vector<ObservedCallbackIndex>& callbacks) {
  std::set<PublisherIndex> publishers;
  for (const ObservedCallbackIndex callback : callbacks) {
    for (const InstanceId run : history.runs_of(callback)) {
      for (const PublicationId message : history.sent_by(run)) {
        if (const auto& publisher = history.store().find(message)->publisher) {
          publishers.insert(*publisher);
        }
      }
    }
  }
  return publishers;
}

void add_joins(const execution::Objects& objects, const model::Model& model,
               const std::set<NodeIndex>& known, std::vector<Group>& groups) {
  Matcher matcher(model);
  std::map<model::CallbackIndex, std::vector<ObservedCallbackIndex>> members;
  for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
    const ObservedCallbackIndex index(i);
    const auto node = objects.node_of(objects[index]);
    const auto match = matcher.match(objects, index);
    if (match && node && !known.contains(*node) && objects[index].subscription) {
      members[match->callback].push_back(index);
    }
  }
  for (const model::Join& join : model.joins) {
    const auto& inputs = members[join.callback];
    if (inputs.size() < 2) {
      continue;
    }
    groups.push_back({.kind = LinkKind::partial_sync,
                      .origin = LinkOrigin::model,
                      .process = objects[inputs.front()].process,
                      .inputs = inputs,
                      .outputs = {},
                      .is_queued = join.kind == model::JoinKind::and_});
  }
}

/// A group that the program declared by its callbacks.
Group declared_group(const execution::InputLink& link) {
  const bool samples = link.kind == execution::InputLink::Kind::sampled;
  return {.kind = samples ? LinkKind::periodic_async : LinkKind::partial_sync,
          .origin = LinkOrigin::declared,
          .process = link.process,
          .inputs = link.inputs,
          .outputs = {},
          .is_queued = link.kind == execution::InputLink::Kind::and_,
          .reader = samples ? link.reader : std::nullopt};
}

/// The nodes of programs that have declared all links within their nodes.
std::set<NodeIndex> nodes_with_all_links(const execution::Objects& objects) {
  std::set<NodeIndex> nodes;
  for (std::size_t i = 0; i < objects.nodes.size(); ++i) {
    if (objects.has_all_links(objects.nodes[i].process)) nodes.emplace(i);
  }
  return nodes;
}

std::set<NodeIndex> nodes_of(const execution::Objects& objects, const std::vector<Group>& groups) {
  std::set<NodeIndex> nodes;
  for (const Group& group : groups) {
    for (const ObservedCallbackIndex input : group.inputs) {
      if (const auto node = objects.node_of(objects[input])) {
        nodes.insert(*node);
      }
    }
    for (const PublisherIndex output : group.outputs) {
      if (const auto& node = objects[output].node) {
        nodes.insert(*node);
      }
    }
    const auto reader = group.reader ? objects.node_of(objects[*group.reader]) : std::nullopt;
    if (reader) {
      nodes.insert(*reader);
    }
  }
  return nodes;
}

}  // namespace

std::vector<Group> known_groups(const execution::Objects& objects, const model::Model* model) {
  std::vector<Group> groups;
  for (const execution::MessageLink& link : objects.message_links) {
    groups.push_back(declared_group(objects, link));
  }
  for (const execution::InputLink& link : objects.input_links) {
    groups.push_back(declared_group(link));
  }
  if (model != nullptr) {
    add_joins(objects, *model, nodes_of(objects, groups), groups);
  }
  return groups;
}

std::vector<Group> find_groups(const execution::Objects& objects, const History& history,
                               const model::Model* model, Inference inference) {
  std::vector<Group> groups = known_groups(objects, model);
  // Message links come first, and name their outputs.
  for (Group& group : groups | std::views::drop(objects.message_links.size())) {
    const auto outputs =
        publishers_of(history, group.reader ? std::vector{*group.reader} : group.inputs);
    group.outputs.assign(outputs.begin(), outputs.end());
  }
  if (inference == Inference::on) {
    auto known = nodes_of(objects, groups);
    known.merge(nodes_with_all_links(objects));
    auto more = infer_groups(objects, history, known);
    std::ranges::move(more, std::back_inserter(groups));
  }
  return groups;
}

}  // namespace takt::flow
