#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>

#include "takt/flow/causality.hpp"
#include "takt/flow/hand_overs.hpp"
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
    link.matches_stamps =
        std::ranges::all_of(inputs, [&](auto input) { return links::is_filter(objects[input]); });
    link.last_is_of_set = !link.matches_stamps || links::last_is_of_set(objects, inputs);
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

/// One line for all: a robot may have many that only log.
void tell_unknown(const execution::Objects& objects,
                  const std::vector<ObservedCallbackIndex>& unknown,
                  std::vector<std::string>& lines) {
  constexpr std::size_t most_named = 5;
  if (unknown.empty()) return;
  std::vector<std::string> names;
  for (const ObservedCallbackIndex callback : unknown | std::views::take(most_named)) {
    names.push_back(fmt::format("{}:{}", objects.node_name(objects[callback]),
                                objects[*objects.topic_of(objects[callback])]));
  }
  lines.push_back(fmt::format(
      "nothing shows whether messages of {}{} go into what their nodes publish: flows over them "
      "may be missing; declare what uses them (--links)",
      fmt::join(names, ", "),
      unknown.size() > most_named ? fmt::format(" and {} more", unknown.size() - most_named) : ""));
}

}  // namespace

std::vector<Link> known_links(const execution::Objects& objects, const model::Model* model) {
  std::vector<Link> links = links::declared_links(objects);
  if (model != nullptr) {
    add_joins(objects, *model, links::nodes_of(objects, links), links);
  }
  return links;
}

links::Declared find_links(const History& history, const execution::Objects& objects,
                           const links::Evidence& evidence, const model::Model* model,
                           Inference inference, const links::Declarations* declarations) {
  std::vector<Link> links = known_links(objects, model);
  for (Link& link : links) {
    if (link.outputs.empty()) complete(link, evidence);
  }
  const std::set<NodeIndex> known = links::nodes_of(objects, links);
  std::ranges::move(links::observed_links(evidence, objects), std::back_inserter(links));
  if (inference == Inference::on) {
    std::ranges::move(links::inferred_links(evidence, objects, known), std::back_inserter(links));
    std::ranges::move(find_hand_overs(history, objects, evidence, links),
                      std::back_inserter(links));
  } else {
    std::erase_if(links, [](const Link& link) { return link.grounds == links::Grounds::inferred; });
  }
  auto found = links::with_declarations(std::move(links), declarations, evidence, objects);
  tell_unknown(objects, links::unknown_uses(evidence, objects, found.links), found.lines);
  return found;
}

bool doubt_links(std::vector<Link>& links) {
  const auto may_be_read = [](const Link& link) {
    return link.grounds == links::Grounds::inferred && link.kind == Link::Kind::sampled &&
           !link.is_taken;
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
