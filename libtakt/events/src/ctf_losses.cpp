#include "ctf_losses.hpp"

#include <algorithm>
#include <tuple>

namespace takt::events::ctf {
namespace {

std::uint64_t mask_of(const PacketCounters& packet) {
  return packet.discarded_bits >= 64 ? ~std::uint64_t{0}
                                     : (std::uint64_t{1} << packet.discarded_bits) - 1;
}

bool are_of_one_stream(const StreamPart& a, const StreamPart& b) {
  return !a.trace.empty() && a.instance &&
         std::tie(a.trace, a.stream_class, a.instance) ==
             std::tie(b.trace, b.stream_class, b.instance);
}

/// A counter that went back by less than half its range did not wrap.
bool follows(const PacketCounters& before, const PacketCounters& after) {
  const std::uint64_t mask = mask_of(after);
  return (before.sequence && after.sequence ? *before.sequence < *after.sequence : true) &&
         ((after.discarded - before.discarded) & mask) <= mask / 2;
}

}  // namespace

StreamLosses lost_between(const PacketCounters& before, const PacketCounters& after) {
  StreamLosses lost;
  lost.discarded_events = (after.discarded - before.discarded) & mask_of(after);
  if (before.sequence && after.sequence && *after.sequence > *before.sequence + 1) {
    lost.discarded_packets = *after.sequence - *before.sequence - 1;
  }
  return lost;
}

StreamLosses lost_between_parts(std::vector<StreamPart> parts) {
  const auto place = [](const StreamPart& part) {
    return std::tie(part.trace, part.stream_class, part.instance, part.first.sequence,
                    part.first.begin);
  };
  std::ranges::sort(parts, {}, place);
  StreamLosses lost;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 || !are_of_one_stream(parts[i - 1], parts[i])) {
      lost.discarded_events += parts[i].first.discarded;
    } else if (follows(parts[i - 1].last, parts[i].first)) {
      lost += lost_between(parts[i - 1].last, parts[i].first);
    }
  }
  return lost;
}

}  // namespace takt::events::ctf
