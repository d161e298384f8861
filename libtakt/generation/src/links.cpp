#include <algorithm>
#include <string>

#include "draft.hpp"

namespace takt::generation {

namespace {

constexpr std::size_t most_links = 2;

/// One nanosecond for each byte, so that ends of chunks and activations often coincide.
constexpr std::int64_t link_bandwidth = 8'000'000'000;

/// Lets the edge share the message of another edge of its sender over a link, if there is one.
void share_message(model::Model& model, model::Edge& edge) {
  const auto other = std::ranges::find_if(model.edges, [&](const model::Edge& each) {
    return each.from == edge.from && each.to != edge.to && each.link &&
           each.triggered_by == edge.triggered_by;
  });
  if (other == model.edges.end()) return;
  edge.topic = other->topic = "shared";
  edge.link = other->link;
  edge.priority = other->priority;
  edge.message_size = other->message_size;
}

}  // namespace

void add_links(Draft& draft) {
  model::Model& model = draft.model;
  if (draft.shape.link == 0 || draft.as_ros) return;
  const auto count = static_cast<std::size_t>(draft.random.between(1, most_links));
  for (std::size_t i = 0; i < count; ++i) {
    model::Link& link = model.links.emplace_back();
    link.id = "link" + std::to_string(i);
    link.bandwidth = link_bandwidth;
    link.chunk_bytes = draft.random.between(1, 4);
    link.overhead = Duration{draft.random.between(0, 2)};
  }
  for (model::Edge& edge : model.edges) {
    const auto same_way = [&](const model::Edge& other) {
      return other.from == edge.from && other.to == edge.to;
    };
    const bool possible = model[edge.from].executor != model[edge.to].executor &&
                          std::ranges::count_if(model.edges, same_way) == 1;
    if (!possible || !draft.with(draft.shape.link)) continue;
    edge.link = model::LinkIndex{
        static_cast<std::size_t>(draft.random.between(0, std::ssize(model.links) - 1))};
    edge.priority = draft.random.between(0, 3);
    edge.message_size = draft.random.between(1, 9);
    if (draft.random.chance(30)) share_message(model, edge);
  }
}

}  // namespace takt::generation
