#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <string_view>

#include "takt/execution/names.hpp"
#include "takt/flow/causality.hpp"
#include "takt/flow/matching.hpp"
#include "takt/links/hand_overs.hpp"
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

/// A line for all: a robot may have many that only log.
void tell(const std::vector<std::string>& names, std::string_view begin, std::string_view end,
          std::vector<std::string>& lines) {
  constexpr std::size_t most_named = 5;
  if (names.empty()) return;
  lines.push_back(fmt::format(
      "{}{}{}{}", begin, fmt::join(names | std::views::take(most_named), ", "),
      names.size() > most_named ? fmt::format(" and {} more", names.size() - most_named) : "",
      end));
}

void tell_unknown(const execution::Objects& objects, const links::Unknown& unknown,
                  std::vector<std::string>& lines) {
  std::vector<std::string> names;
  for (const ObservedCallbackIndex callback : unknown.subscriptions) {
    names.push_back(fmt::format("{}:{}", objects.node_name(objects[callback]),
                                objects[*objects.topic_of(objects[callback])]));
  }
  tell(names, "nothing shows whether messages of ",
       " go into what their nodes publish: flows over them may be missing; declare what uses them "
       "(--links)",
       lines);
  names.clear();
  const auto ids = execution::callback_ids(objects);
  for (const ObservedCallbackIndex timer : unknown.timers) names.push_back(ids[timer.value()]);
  tell(names, "nothing shows whether ",
       " uses messages that callbacks of its node pass on and may keep: flows over it may begin "
       "further back; declare what it uses (--links)",
       lines);
  names.clear();
  for (const PublisherIndex publisher : unknown.publishers) {
    names.push_back(fmt::format("{}:{}", objects[*objects[publisher].node].full_name(),
                                objects[objects[publisher].topic]));
  }
  tell(names, "nothing shows whether messages of ",
       ", which are sent outside of callbacks, are of those that callbacks of the node pass on and "
       "may keep: flows over them may begin further back; the program can declare it "
       "(docs/flow.md#links)",
       lines);
}

}  // namespace

std::vector<Link> known_links(const execution::Objects& objects, const model::Model* model) {
  std::vector<Link> links = links::declared_links(objects);
  if (model != nullptr) {
    add_joins(objects, *model, links::nodes_of(objects, links), links);
  }
  return links;
}

FoundLinks find_links(const execution::Objects& objects, const links::Evidence& evidence,
                      const model::Model* model, Inference inference,
                      const links::Declarations* declarations) {
  std::vector<Link> links = known_links(objects, model);
  for (Link& link : links) {
    if (link.outputs.empty()) complete(link, evidence);
  }
  const std::set<NodeIndex> known = links::nodes_of(objects, links);
  std::ranges::move(links::observed_links(evidence, objects), std::back_inserter(links));
  if (inference == Inference::on) {
    std::ranges::move(links::inferred_links(evidence, objects, known), std::back_inserter(links));
    std::ranges::move(links::hand_overs(evidence, objects, links), std::back_inserter(links));
  } else {
    std::erase_if(links, [](const Link& link) { return link.grounds == links::Grounds::inferred; });
  }
  FoundLinks found{links::with_declarations(std::move(links), declarations, evidence, objects), {}};
  found.unknown = links::unknown_uses(evidence, objects, found.links);
  tell_unknown(objects, found.unknown, found.lines);
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
