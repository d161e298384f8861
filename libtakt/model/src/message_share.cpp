#include "takt/model/message_share.hpp"

namespace takt::model {

std::optional<MessageShare> message_share(const Edge& edge) {
  if (!edge.messages || !edge.instances || *edge.messages >= *edge.instances) return std::nullopt;
  return MessageShare{*edge.messages, *edge.instances};
}

void set_message_share(Edge& edge, const std::optional<MessageShare>& share) {
  edge.messages = share ? std::optional(share->messages) : std::nullopt;
  edge.instances = share ? std::optional(share->instances) : std::nullopt;
}

}  // namespace takt::model
