#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/estimation/particle_settings.hpp"
#include "takt/estimation/plant.hpp"
#include "takt/estimation/region.hpp"
#include "takt/estimation/unscented.hpp"
#include "takt/time/time.hpp"

namespace takt::estimation {

/// The set of inputs between two limits, with the limits.
struct InputBox {
  AnyVector lower;
  AnyVector upper;

  /// False if an input is not a number.
  [[nodiscard]] bool contains(const AnyVector& input) const {
    return (input.array() >= lower.array()).all() && (input.array() <= upper.array()).all();
  }

  /// How far the input is from the nearest limit, as a share of half the distance of the limits: 1
  /// in the middle, 0 at a limit, negative outside. An input that cannot vary does not count.
  [[nodiscard]] double margin(const AnyVector& input) const;
};

struct ExtendedKalmanSettings {};
using NonlinearSettings = std::variant<ExtendedKalmanSettings, Unscented, Particles>;

/// When to go back to the linear mode.
enum class ReturnWhen : std::uint8_t { safe, requested };
enum class ErrorNorm : std::uint8_t { euclidean, maximum };

struct LinearSettings {
  AnyVector state;
  AnyVector input;
  AnyMatrix state_matrix;
  AnyMatrix input_matrix;
  AnyMatrix output_matrix;
  AnyMatrix feedthrough_matrix;
  std::optional<AnyMatrix> gain;
};

struct HandoverTiming {
  Duration period{};
  std::int64_t load_periods = 1;
  Duration actuation_delay{};
  Duration window{};
  Duration return_window{};
  std::int64_t return_after = 1;
  ReturnWhen return_when = ReturnWhen::safe;
};

/// Δ = k T_s + R (section 4.6.2 of the theory), at least T_s.
[[nodiscard]] Duration least_window(Duration period, std::int64_t load_periods,
                                    Duration actuation_delay);

/// A `takt/handoff` document that has been checked, so that it can be run.
struct Handoff {
  std::string name;
  PlantDescription plant_description;
  Plant plant;
  AnyMatrix process_noise;
  AnyMatrix measurement_noise;
  InputBox physical;
  InputBox decision;
  LinearSettings linear;
  NonlinearSettings nonlinear;
  AnyBelief start;
  double epsilon = 0;
  ErrorNorm norm = ErrorNorm::euclidean;
  AnyVector weights;
  HandoverTiming timing;
  AnyVector deviations;
  double tail = 0;
  /// The regions leave room for an error of so much, along each state, when linear mode begins.
  AnyVector half_widths;
  Region back;
  std::optional<Region> safe;
  std::optional<Region> linear_region;
  std::vector<std::string> assumptions;
  std::vector<std::string> warnings;

  /// The norm of an error of the estimate that `epsilon` bounds.
  [[nodiscard]] double error_norm(const AnyVector& error) const;
};

/// Reads a document that may be hostile. `folder`: where the files that it names are; empty: it may
/// name none. Errors name the document and the field.
[[nodiscard]] Result<Handoff> parse_handoff(std::string_view text, std::string_view source,
                                            const std::string& folder);

/// Reads a file, and those that it names beside it.
[[nodiscard]] Result<Handoff> read_handoff(const std::string& path);

}  // namespace takt::estimation
