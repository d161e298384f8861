#include "takt/domains/subscription.hpp"

#include <utility>

#include "takt/base/try.hpp"

namespace takt::domains {

Result<std::unique_ptr<Subscription>> Subscription::connect(Settings settings) {
  const auto domain = TAKT_TRY(domain_number(settings.device));
  auto made = memory::Receiver::connect(
      settings.path, {.depth = settings.depth, .domain = domain, .wants_all = settings.wants_all});
  if (made.meeting == memory::Meeting::nobody) return error("{}: nobody is there", settings.path);
  if (made.receiver == nullptr) return error("{}: cannot be reached", settings.path);
  return std::unique_ptr<Subscription>(
      new Subscription(std::move(settings), std::move(made.receiver)));
}

Subscription::Subscription(Settings settings, std::unique_ptr<memory::Receiver> receiver)
    : settings_(std::move(settings)),
      inbox_(std::move(receiver), settings_.device, settings_.drivers) {}

bool Subscription::hear() {
  is_gone_ = !inbox_.receiver().hear();
  return !is_gone_;
}

Result<std::optional<Subscription::Taken>> Subscription::take() {
  if (!is_joined()) return std::nullopt;
  for (;;) {
    if (ring().is_asking()) {
      if (auto answer = take_answer(); !answer || *answer || !is_gone_) return answer;
      ring().stop_asking();  // nobody will answer
    }
    const std::uint64_t number = ring().next();
    if (number > ring().newest()) return std::nullopt;
    const auto message = ring().look(number);
    if (!message) continue;  // it has just been overwritten
    if (message->block != memory::nowhere) {
      if (const auto lease = ring().lease(number)) return open(*lease);
      if (ring().look(number)) return error("{} messages are held", memory::most_leases);
    } else if (is_gone_) {
      ring().skip_to(number);
    } else {
      is_in_other_domain_ = true;
      inbox_.receiver().want();
      return std::nullopt;
    }
  }
}

Result<std::optional<Subscription::Taken>> Subscription::take_answer() {
  const auto lease = ring().take_answer();
  if (!lease) return std::nullopt;
  return open(*lease);
}

Result<std::optional<Subscription::Taken>> Subscription::open(
    const memory::RingReader::Lease& lease) {
  ring().skip_to(lease.number);
  auto content = inbox_.open(lease.message);
  if (!content) {
    ring().release(lease);
    return tl::unexpected(std::move(content.error()));
  }
  return Taken{.lease = lease, .content = *content, .size = lease.message.size};
}

void Subscription::release(const Taken& taken) { ring().release(taken.lease); }

void Subscription::arm() {
  if (!is_joined()) return;
  ring().arm();
  // It will take what comes, so that may be copied at once.
  if (is_in_other_domain_) inbox_.receiver().want();
}

}  // namespace takt::domains
