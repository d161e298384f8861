#include "takt/links/link.hpp"

#include <fmt/format.h>

namespace takt::links {
namespace {

using execution::InputLink;
using execution::MessageLink;

Link declared(const execution::Objects& objects, const MessageLink& message_link) {
  Link link;
  link.kind = message_link.kind == MessageLink::Kind::periodic_async ? Link::Kind::sampled
                                                                     : Link::Kind::joined;
  link.process = message_link.process;
  for (const execution::SubscriptionIndex input : message_link.inputs) {
    link.inputs.push_back(objects[input].callback);
  }
  link.outputs = message_link.outputs;
  return link;
}

Link declared(const InputLink& input_link) {
  Link link;
  link.kind =
      input_link.kind == InputLink::Kind::sampled ? Link::Kind::sampled : Link::Kind::joined;
  link.process = input_link.process;
  link.inputs = input_link.inputs;
  link.reader = input_link.reader;
  link.join =
      input_link.kind == InputLink::Kind::and_ ? model::JoinKind::and_ : model::JoinKind::newest;
  return link;
}

}  // namespace

std::string_view to_string(Grounds grounds) {
  switch (grounds) {
    case Grounds::declared:
      return "declared";
    case Grounds::model:
      return "model";
    case Grounds::observed:
      return "observed";
    case Grounds::inferred:
      return "inferred";
    case Grounds::ambiguous:
      break;
  }
  return "ambiguous";
}

std::vector<Link> declared_links(const execution::Objects& objects) {
  std::vector<Link> links;
  for (const MessageLink& link : objects.message_links) links.push_back(declared(objects, link));
  for (const InputLink& link : objects.input_links) links.push_back(declared(link));
  return links;
}

std::vector<std::string> warnings(std::span<const Link> links, const execution::Objects& objects,
                                  bool knows_stamps) {
  std::vector<std::string> lines;
  for (const Link& link : links) {
    if (!link.matches_stamps || link.has_known_sets) continue;
    lines.push_back(fmt::format(
        "{} joins its inputs by message_filters, and {}: which message waited for the others is "
        "not known where several can have; latencies are those of the newest of them, and at most "
        "those of the oldest{}",
        objects.node_name(objects[link.inputs.front()]),
        knows_stamps ? "no recorded stamps explain its sets" : "chains do not go by stamps",
        link.last_is_of_set
            ? ""
            : "; it may be ApproximateTime in C++, which makes a set when a later "
              "message comes, so the message that came last may be of none; declare "
              "kind: exact_time (--links) if it is not"));
  }
  return lines;
}

}  // namespace takt::links
