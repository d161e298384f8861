#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>

#include "takt/flow/causality.hpp"
#include "takt/flow/matching.hpp"
#include "takt/links/infer.hpp"

namespace takt::flow {
namespace {

using execution::NodeIndex;
using execution::ObservedCallbackIndex;
using execution::PublisherIndex;
using links::Link;

void add_joins(const execution::Objects& objects, const model::Model& model,
               const std::set<NodeIndex>& known, std::vector<Link>& links) {
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
    Link& link = links.emplace_back();
    link.kind = Link::Kind::joined;
    link.grounds = links::Grounds::model;
    link.process = objects[inputs.front()].process;
    link.inputs = inputs;
    link.join = join.kind;
  }
}

/// Adds the publishers by which the link's reader, or else its inputs, sent.
void complete(Link& link, const links::Evidence& evidence) {
  std::set<PublisherIndex> publishers;
  for (const ObservedCallbackIndex sender : link.reader ? std::vector{*link.reader} : link.inputs) {
    const auto& own = evidence.of(sender).publishers;
    publishers.insert(own.begin(), own.end());
  }
  link.outputs.assign(publishers.begin(), publishers.end());
}

}  // namespace

std::vector<Link> known_links(const execution::Objects& objects, const model::Model* model) {
  std::vector<Link> links = links::declared_links(objects);
  if (model != nullptr) {
    add_joins(objects, *model, links::nodes_of(objects, links), links);
  }
  return links;
}

std::vector<Link> find_links(const execution::Objects& objects, const links::Evidence& evidence,
                             const model::Model* model, Inference inference) {
  std::vector<Link> links = known_links(objects, model);
  for (Link& link : links) {
    if (link.outputs.empty()) complete(link, evidence);
  }
  if (inference == Inference::on) {
    auto more = links::inferred_links(evidence, objects, links::nodes_of(objects, links));
    std::ranges::move(more, std::back_inserter(links));
  }
  return links;
}

bool doubt_links(std::vector<Link>& links) {
  const auto may_be_read = [](const Link& link) {
    return link.grounds == links::Grounds::inferred && link.kind == Link::Kind::sampled;
  };
  std::map<ObservedCallbackIndex, std::size_t> readers;
  for (const Link& link : links | std::views::filter(may_be_read)) {
    for (const ObservedCallbackIndex input : link.inputs) ++readers[input];
  }
  bool found = false;
  for (Link& link : links | std::views::filter(may_be_read)) {
    if (std::ranges::any_of(link.inputs, [&](auto input) { return readers[input] > 1; })) {
      link.grounds = links::Grounds::ambiguous;
      found = true;
    }
  }
  return found;
}

}  // namespace takt::flow
