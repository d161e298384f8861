#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "choices.hpp"
#include "takt/bridge/configuration.hpp"
#include "takt/bridge/plan.hpp"
#include "takt/bridge/wire.hpp"

/// A bridge file of any bytes is understood or refused, and a file that is understood can be run.
/// The messages of a peer, of any bytes, are understood or refused, too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace takt;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto parsed = bridge::parse(text, "fuzz")) {
    for (std::size_t host = 0; host < parsed->hosts.size(); ++host) {
      const bridge::Plan planned = bridge::plan(*parsed, host);
      const auto ignore = [](const auto&...) {};
      const bridge::Flow flow = bridge::describe(
          *parsed, planned,
          {.begun = ignore, .arrived = ignore, .ended = ignore, .state_arrived = ignore});
      fuzz::require(link::check(flow.description, planned.peers.size()).has_value());
    }
  }
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto state = bridge::read_state(bytes)) {
    fuzz::require(bridge::read_state(bridge::write(*state)) == *state);
  }
  if (const auto header = bridge::read_header(bytes)) {
    const std::int64_t stamp = bridge::stamp(*header);
    fuzz::require(stamp >= 0 && stamp < std::int64_t{1} << 51);
  }
  return 0;
}
