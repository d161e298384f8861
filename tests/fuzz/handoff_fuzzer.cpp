#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "choices.hpp"
#include "takt/estimation/dual_mode.hpp"

/// A document of any bytes is understood or refused, and what is understood runs: whatever its
/// numbers are, each step ends with a mode and a reason.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using takt::fuzz::require;
  using namespace takt::estimation;
  const auto handoff =
      parse_handoff(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz", "");
  if (!handoff) {
    require(!handoff.error().message.empty());
    return 0;
  }
  // A large number of particles or of steps of the integration is slow, not wrong.
  const auto* particles = std::get_if<Particles>(&handoff->nonlinear);
  if (particles != nullptr && particles->count > 1000) return 0;
  if (handoff->plant_description.integration_steps > 20) return 0;
  DualMode estimator(*handoff, {.remembered = 4});
  Sample sample{.time = {},
                .input = handoff->linear.input,
                .measurement = AnyVector::Zero(handoff->plant.measurements())};
  for (int step = 0; step < 6; ++step) {
    sample.time += handoff->timing.period;
    sample.input = step % 3 == 0
                       ? handoff->linear.input
                       : (step % 3 == 1 ? handoff->physical.upper : handoff->physical.lower);
    const StepReport report = estimator.step(sample);
    require((report.mode == Mode::fail_safe) == (report.failure != Failure::none));
    static_cast<void>(estimator.used(sample.time));
    static_cast<void>(estimator.request_linear());
  }
  return 0;
}
