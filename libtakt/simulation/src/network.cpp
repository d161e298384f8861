#include "network.hpp"

#include <algorithm>

#include "takt/model/order.hpp"

namespace takt::simulation {

Network::Network(const model::Model& model) : vertices(model.callbacks.size()) {
  for (const model::Edge& edge : model.edges) {
    const bool sampled = !model::activates(model, edge);
    const model::ExecutorIndex receiver = model[edge.to].executor;
    const bool follows_ends =
        model[edge.from].executor != receiver && model[receiver].release_overhead > Duration{0};
    Vertex& from = vertices[edge.from.value()];
    Vertex& to = vertices[edge.to.value()];
    from.outgoing.push_back(links.size());
    if (sampled) to.sampled.push_back(links.size());
    links.push_back({edge.from,
                     edge.to,
                     edge.delay,
                     edge.triggered_by,
                     model::message_share(edge),
                     sampled,
                     follows_ends,
                     {},
                     {}});
  }
  for (const model::Join& join : model.joins) {
    Vertex& vertex = vertices[join.callback.value()];
    vertex.join = join.kind;
    vertex.join_inputs = join.inputs.size();
    for (Link& link : links) {
      const auto input = std::ranges::find(join.inputs, link.from);
      if (link.to != join.callback || input == join.inputs.end()) continue;
      link.join_input = static_cast<std::size_t>(input - join.inputs.begin());
    }
  }
  add_chains(model);
}

void Network::add_chains(const model::Model& model) {
  for (std::size_t chain = 0; chain < model.chains.size(); ++chain) {
    const auto& callbacks = model.chains[chain].callbacks;
    ChainStart& start = vertices[callbacks.front().value()].starting.emplace_back();
    start.chain = chain;
    for (std::size_t i = 0; i < links.size() && callbacks.size() > 1; ++i) {
      if (links[i].from == callbacks[0] && links[i].to == callbacks[1]) start.onward.push_back(i);
    }
    const auto always_sends = [&](std::size_t link) { return !links[link].triggered_by; };
    if (std::ranges::any_of(start.onward, always_sends)) start.onward.clear();
    std::size_t previous_position = 0;
    for (std::size_t n = 0; n < callbacks.size(); ++n) {
      Vertex& vertex = vertices[callbacks[n].value()];
      const std::size_t position = vertex.positions;
      vertex.positions += positions_per_step;
      for (std::size_t p = 0; p < positions_per_step; ++p) {
        if (n == 0) vertex.beginning.push_back(position + p);
        for (Link& link : links) {
          if (n > 0 && link.from == callbacks[n - 1] && link.to == callbacks[n]) {
            link.positions.emplace_back(previous_position + p, position + p);
          }
        }
      }
      if (n + 1 == callbacks.size()) vertex.ending.emplace_back(chain, position);
      previous_position = position;
    }
  }
}

}  // namespace takt::simulation
