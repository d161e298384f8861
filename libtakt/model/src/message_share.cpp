#include "takt/model/message_share.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace takt::model {

namespace {

constexpr const char* messages_field = "messages";
constexpr const char* instances_field = "instances";
constexpr std::int64_t most = std::int64_t{1} << 31;

std::int64_t integer(const UnknownFields& fields, const char* name) {
  const auto found = fields.find(name);
  if (found == fields.end()) return 0;
  const auto value = nlohmann::json::parse(found->second, nullptr, false);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

}  // namespace

std::optional<MessageShare> message_share(const Edge& edge) {
  if (edge.unknown.empty()) return std::nullopt;
  const MessageShare share{integer(edge.unknown, messages_field),
                           integer(edge.unknown, instances_field)};
  const bool is_valid =
      share.messages >= 1 && share.messages < share.instances && share.instances <= most;
  return is_valid ? std::optional(share) : std::nullopt;
}

void set_message_share(Edge& edge, const std::optional<MessageShare>& share) {
  edge.unknown.erase(messages_field);
  edge.unknown.erase(instances_field);
  if (!share) return;
  edge.unknown[messages_field] = std::to_string(share->messages);
  edge.unknown[instances_field] = std::to_string(share->instances);
}

}  // namespace takt::model
