#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "choices.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/curves/activation_curve.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/model/json.hpp"
#include "takt/simulation/options.hpp"
#include "takt/soundness/soundness.hpp"

// libFuzzer's own mutations of bytes.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using namespace takt;

/// The places of all words of a JSON document that begin with one of these characters.
std::vector<std::string_view> words(std::string_view text, std::string_view beginnings) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0; (at = text.find_first_of("\"-0123456789", at)) != text.npos;) {
    const bool quoted = text[at] == '"';
    auto end = quoted ? text.find('"', at + 1) : text.find_first_not_of("-0123456789", at);
    end = end == text.npos ? text.size() : end + (quoted ? 1 : 0);
    if (beginnings.find(text[at]) != text.npos) {
      found.push_back(text.substr(at, end - at));
    }
    at = end;
  }
  return found;
}

/// A number at which something may change: small ones, powers of two and their neighbours, and the
/// longest time.
std::string number(std::minstd_rand& random) {
  constexpr std::array<std::int64_t, 5> corners{0, curves::longest_time.count(),
                                                std::numeric_limits<std::int32_t>::max(), 1000, 10};
  const auto some = random();
  switch (random() % 3) {
    case 0:
      return std::to_string(corners[some % corners.size()] + static_cast<std::int64_t>(some % 3) -
                            1);
    case 1:
      return std::to_string(std::int64_t{1} << some % 63);
    default:
      return std::to_string(some % 100);
  }
}

/// Two words change places, or a number becomes another one.
std::string mutated(std::string text, std::minstd_rand& random) {
  const bool of_numbers = random() % 4 != 0;
  const auto found = words(text, of_numbers ? "-0123456789" : "\"");
  if (found.empty()) {
    return text;
  }
  const auto changed = found[random() % found.size()];
  const std::string replacement = of_numbers && random() % 4 != 0
                                      ? number(random)
                                      : std::string(found[random() % found.size()]);
  text.replace(static_cast<std::size_t>(changed.data() - text.data()), changed.size(), replacement);
  return text;
}

curves::ActivationCurve curve_of(const model::Activation& activation) {
  if (const auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
    return curves::ActivationCurve::periodic(periodic->period, periodic->jitter);
  }
  if (const auto* sporadic = std::get_if<model::SporadicActivation>(&activation)) {
    return curves::ActivationCurve::periodic(sporadic->min_separation, sporadic->jitter);
  }
  return curves::ActivationCurve::min_distance(
      std::get<model::MinDistanceActivation>(activation).values);
}

/// Whether the simulator has the model's processors, and so few activations come while it simulates
/// that this takes no time.
bool is_simulated(const model::Model& model) {
  constexpr std::int64_t few = 5000;
  constexpr std::int64_t processors = simulation::most_cores / 2;  // executors without one get more
  if (std::ranges::any_of(model.executors, [](const model::Executor& executor) {
        return executor.cpu.value_or(0) >= processors;
      })) {
    return false;
  }
  return std::ranges::all_of(model.callbacks, [](const model::Callback& callback) {
    return !callback.activation ||
           curve_of(*callback.activation).count(soundness::simulated_time) < few;
  });
}

}  // namespace

/// Most models stay valid, with other numbers and names.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 8 == 0) {
    return LLVMFuzzerMutate(data, size, most);
  }
  const auto text = mutated(std::string(reinterpret_cast<const char*>(data), size), random);
  size = std::min(text.size(), most);
  std::memcpy(data, text.data(), size);
  return size;
}

/// Every valid model is bounded and simulated, whatever its numbers are, and no simulation exceeds
/// a bound.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed =
      model::parse(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  constexpr std::size_t many = 30;
  if (!parsed || parsed->model.callbacks.size() > many) {
    return 0;
  }
  const model::Model& model = parsed->model;
  if (is_simulated(model)) {
    fuzz::require(soundness::compare(model, analysis::Method::combined).violation.empty());
  }
  for (const auto method : {analysis::Method::combined, analysis::Method::exact}) {
    const analysis::Options options{
        .method = method, .horizon = curves::longest_time, .effort = 100'000};
    fuzz::require(!analysis::analyze(model, options).to_json().empty());
  }
  return 0;
}
