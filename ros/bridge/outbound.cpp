#include "outbound.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/bridge/hash.hpp"

namespace takt::bridge {

namespace {

/// A number that tells publishers apart.
std::uint64_t number_of(const rmw_gid_t& publisher) { return hash(publisher.data); }

/// Whether the middleware counts the messages of a publisher.
bool counts_up(const rmw_message_info_t& about) {
  return about.publication_sequence_number != RMW_MESSAGE_INFO_SEQUENCE_NUMBER_UNSUPPORTED;
}

/// A number that rises from message to message of a publisher.
std::uint64_t number_of(const rmw_message_info_t& about) {
  if (counts_up(about)) return about.publication_sequence_number;
  return static_cast<std::uint64_t>(
      std::max<rcutils_time_point_value_t>(0, about.source_timestamp));
}

rmw_qos_reliability_policy_t policy(Reliability reliability) {
  return reliability == Reliability::reliable ? RMW_QOS_POLICY_RELIABILITY_RELIABLE
                                              : RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
}

rmw_qos_durability_policy_t policy(Durability durability) {
  return durability == Durability::transient_local ? RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL
                                                   : RMW_QOS_POLICY_DURABILITY_VOLATILE;
}

bool alike(const raw::Offer& one, const raw::Offer& other) {
  return one.type == other.type && one.quality.reliability == other.quality.reliability &&
         one.quality.durability == other.quality.durability;
}

}  // namespace

Outbound::Outbound(const Topic& topic, std::uint32_t stream, const Hop& hop, raw::NodePointer node,
                   Send send, Say say)
    : topic_(topic),
      stream_(stream),
      node_(std::move(node)),
      trace_(hop, *node_, topic.depth),
      send_(std::move(send)),
      say_(std::move(say)) {}

Result<std::optional<raw::Offer>> Outbound::choose(std::span<const raw::Gid> own) {
  const auto offers = TAKT_TRY(raw::find_offers(*node_, topic_.name, topic_.depth, own));
  std::optional<raw::Offer> chosen = offer_;
  for (const raw::Offer& offer : offers) {
    const std::string& wanted = topic_.type ? *topic_.type : chosen ? chosen->type : offer.type;
    if (offer.type != wanted) {
      say_(fmt::format("{}: published as {}, too, which is not carried; it is {} here", topic_.name,
                       offer.type, wanted));
    } else if (chosen) {
      raw::weaken(chosen->quality, offer.quality);
    } else {
      chosen = offer;
    }
  }
  if (!chosen && topic_.type && topic_.reliability && topic_.durability) {
    // The file says everything, so the bridge need not wait for a publisher.
    chosen = raw::Offer{.type = *topic_.type};
    chosen->quality.depth = topic_.depth;
  }
  if (!chosen) return chosen;
  if (topic_.reliability) chosen->quality.reliability = policy(*topic_.reliability);
  if (topic_.durability) chosen->quality.durability = policy(*topic_.durability);
  return chosen;
}

Result<bool> Outbound::look(std::span<const raw::Gid> own) {
  auto chosen = TAKT_TRY(choose(own));
  if (!chosen || (offer_ && alike(*offer_, *chosen))) return false;
  auto subscription = raw::RawSubscription::create(node_, topic_.name, *chosen, true);
  if (!subscription) {
    // The bridge goes on: the type's package may be missing on this host.
    say_(fmt::format("{}: {}", topic_.name, subscription.error().message));
    return false;
  }
  subscription_ = std::move(*subscription);
  trace_.subscribed(subscription_->handle());
  offer_ = std::move(chosen);
  return true;
}

bool Outbound::latched() const {
  return offer_->quality.durability == RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL;
}

std::optional<Offered> Outbound::offered() const {
  if (!offer_) return std::nullopt;
  return Offered{.stream = stream_,
                 .type = offer_->type,
                 .reliable = offer_->quality.reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE,
                 .transient_local = latched()};
}

Result<bool> Outbound::take(std::uint64_t peer) {
  if (!subscription_) return false;
  rmw_message_info_t about = rmw_get_zero_initialized_message_info();
  const Result<bool> got = subscription_->take(*bytes_, &about);
  if (!got || !*got) return got;
  const TracedRun run = trace_.run();
  ++taken;
  const Header header{
      .to = peer, .publisher = number_of(about.publisher_gid), .number = number_of(about)};
  if (counts_up(about)) missed += taken_before_.add(header.publisher, header.number).value_or(0);
  const std::span<const std::byte> message = bytes_->get();
  if (message.size() > topic_.largest_message) {
    if (++too_large == 1) {
      say_(fmt::format("{}: a message of {} bytes is not carried; largest_message is {}",
                       topic_.name, message.size(), topic_.largest_message));
    }
    // The memory of such a message is given back.
    bytes_ = std::make_unique<raw::Bytes>();
    return true;
  }
  if (latched()) {
    if (kept_.size() == topic_.depth) kept_.pop_front();
    kept_.push_back({header, {message.begin(), message.end()}});
  }
  trace_.publishes(header);
  send(header, message);
  return true;
}

void Outbound::repeat(std::uint64_t peer) {
  for (Kept& kept : kept_) {
    kept.header.to = peer;
    send(kept.header, kept.bytes);
  }
}

void Outbound::send(const Header& header, std::span<const std::byte> bytes) {
  if (!send_(header, bytes)) ++no_room;
}

}  // namespace takt::bridge
