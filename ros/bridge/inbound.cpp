#include "inbound.hpp"

#include <utility>

namespace takt::bridge {

namespace {

/// So long after its start a node may not know all subscriptions yet.
constexpr Duration least_discovery = std::chrono::seconds(1);
/// The longest time for which subscriptions are waited for.
constexpr Duration most_discovery = std::chrono::seconds(5);

}  // namespace

Inbound::Inbound(const Topic& topic, std::uint64_t process, Instant begin, const Hop& hop,
                 raw::NodePointer node, Say say)
    : topic_(topic),
      process_(process),
      begin_(begin),
      node_(std::move(node)),
      trace_(hop, *node_, topic.depth),
      say_(std::move(say)) {}

void Inbound::offer(const Offered& offered, Instant now) {
  if (offered_ == offered) return;
  if (topic_.type && offered.type != *topic_.type) {
    say_(fmt::format("{}: the other host publishes {}, and it is {} here", topic_.name,
                     offered.type, *topic_.type));
    return;
  }
  const bool reliable =
      topic_.reliability ? *topic_.reliability == Reliability::reliable : offered.reliable;
  const bool latched = topic_.durability ? *topic_.durability == Durability::transient_local
                                         : offered.transient_local;
  raw::Offer offer{.type = offered.type};
  offer.quality.depth = topic_.depth;
  offer.quality.reliability =
      reliable ? RMW_QOS_POLICY_RELIABILITY_RELIABLE : RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  offer.quality.durability =
      latched ? RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL : RMW_QOS_POLICY_DURABILITY_VOLATILE;
  auto publisher = raw::RawPublisher::create(node_, topic_.name, offer);
  if (!publisher) {
    say_(fmt::format("{}: {}", topic_.name, publisher.error().message));
    return;
  }
  publisher_ = std::move(*publisher);
  offered_ = offered;
  made_ = now;
  keeps_ = latched;
  open_ = false;
}

bool Inbound::open(Instant now) {
  if (open_ || publisher_ == nullptr) return open_;
  open_ = keeps_ || now - made_ >= most_discovery ||
          (now - begin_ >= least_discovery && publisher_->matched());
  return open_;
}

void Inbound::publish(std::span<const std::byte> message) {
  const std::optional<Header> header = read_header(message);
  if (!header) return refuse("shorter than its header");
  // A peer sends the last messages of a transient local topic again once it knows of this process,
  // so those that come again may have been published before.
  if (offered_->transient_local) {
    if (header->to != process_) {
      ++early;
      return;
    }
    if (!published_before_.add(header->publisher, header->number)) {
      ++repeated;
      return;
    }
  }
  trace_.takes(*header);
  const TracedRun run = trace_.run();
  const Result<void> done = publisher_->publish(message.subspan(header_bytes));
  if (!done) return refuse(done.error().message);
  ++published;
}

void Inbound::refuse(std::string_view why) {
  if (++refused > 1) return;
  say_(fmt::format("{}: a message of the other host is not published: {}", topic_.name, why));
}

std::optional<Inbound::Waiting> Inbound::enqueue(const Waiting& message) {
  ++received;
  waiting_.push_back(message);
  if (waiting_.size() <= topic_.depth) return std::nullopt;
  ++dropped;
  return next();
}

std::optional<Inbound::Waiting> Inbound::next() {
  if (waiting_.empty()) return std::nullopt;
  const Waiting oldest = waiting_.front();
  waiting_.pop_front();
  return oldest;
}

}  // namespace takt::bridge
