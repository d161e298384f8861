#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sha256.hpp"
#include "takt/base/try.hpp"
#include "takt/estimation/covariance.hpp"
#include "takt/estimation/handoff.hpp"
#include "takt/model/object_reader.hpp"
#include "takt/model/parse_document.hpp"

namespace takt::estimation {

namespace {

using model::Findings;
using model::ObjectReader;
using nlohmann::json;

constexpr std::int64_t longest_time = 1'000'000'000'000'000;
constexpr std::size_t most_values_in_document = std::size_t{1} << 20;
constexpr std::size_t largest_document = std::size_t{64} << 20;

Result<std::string> read_whole(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  std::vector<char> buffer(std::size_t{1} << 16);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
         file.gcount() > 0) {
    bytes.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > most) return error("{}: larger than {} bytes", path, most);
  }
  if (!file.eof()) return error("{}: cannot be read; is it a file?", path);
  return bytes;
}

/// Reads the document. The first fault counts; values that are read after it mean nothing.
class HandoffReader {
 public:
  HandoffReader(Findings& findings, const std::string& folder)
      : findings_(findings), folder_(folder) {}

  std::optional<Handoff> read(const json& document) {
    ObjectReader object(document, "", findings_);
    if (object.required_text("format", "takt/handoff") != "takt/handoff") {
      findings_.fail(
          "format: must be \"takt/handoff\"; make one with `takt handoff PLANT.yaml -o "
          "handoff.json`");
    }
    if (object.required("version", "2") != nullptr && object.integer("version") != 2) {
      findings_.fail(
          "version: this Takt reads version 2 only; the regions of version 1 are safe for "
          "estimates "
          "without an error only, so make the document anew with `takt handoff PLANT.yaml -o "
          "handoff.json`");
    }
    const HandoverTiming timing = read_timing(object);
    PlantDescription description;
    AnyMatrix process;
    AnyMatrix measurement;
    InputBox physical;
    with(object, "plant", [&](ObjectReader& plant) {
      description = read_plant(plant);
      // Everything from here on has as many numbers as the plant has names.
      if (failed()) return;
      n_ = static_cast<Eigen::Index>(description.states.size());
      m_ = static_cast<Eigen::Index>(description.inputs.size());
      p_ = static_cast<Eigen::Index>(description.measurements.size());
      physical = read_box(plant, "physical_inputs");
      process = covariance(plant, "process_noise", n_);
      measurement = covariance(plant, "measurement_noise", p_);
    });
    if (failed()) return std::nullopt;
    auto plant =
        Plant::make(description, std::chrono::duration<double>(timing.period).count(), "plant");
    if (!plant) {
      findings_.fail("{}", plant.error().message);
      return std::nullopt;
    }
    const InputBox decision = read_box(object, "decision");
    const LinearSettings linear = read_linear(object);
    const NonlinearSettings nonlinear = read_nonlinear(object);
    AnyBelief start;
    with(object, "start", [&](ObjectReader& reader) {
      start.state = vector(reader, "state", n_);
      start.covariance = covariance(reader, "covariance", n_);
    });
    if (failed()) return std::nullopt;
    check_inputs(decision, physical, linear);
    check_noise(measurement, nonlinear);

    std::optional<Region> back;
    std::optional<Region> safe;
    std::optional<Region> linear_region;
    with(object, "regions", [&](ObjectReader& regions) {
      if (regions.required("back", "where the way back to the linear mode is safe") != nullptr) {
        back = read_region(regions, "back", "state");
      }
      if (regions.optional("safe") != nullptr) safe = read_region(regions, "safe", "augmented");
      if (regions.optional("linear") != nullptr) {
        linear_region = read_region(regions, "linear", "augmented");
      }
    });
    if (!failed() && safe && safe->is_empty()) {
      findings_.fail(
          "regions.safe: the set is empty, so there is no safe linear operation; shorten the "
          "window "
          "or narrow the physical inputs");
    }
    if (failed()) return std::nullopt;
    Handoff handoff{.name = object.text("name"),
                    .plant_description = std::move(description),
                    .plant = std::move(*plant),
                    .process_noise = std::move(process),
                    .measurement_noise = std::move(measurement),
                    .physical = std::move(physical),
                    .decision = decision,
                    .linear = linear,
                    .nonlinear = nonlinear,
                    .start = std::move(start),
                    .weights = AnyVector::Ones(n_),
                    .timing = timing,
                    .deviations = AnyVector::Constant(n_, 3),
                    .tail = 0.0027,
                    .half_widths = AnyVector::Zero(n_),
                    .back = std::move(*back),
                    .safe = std::move(safe),
                    .linear_region = std::move(linear_region),
                    .assumptions = {},
                    .warnings = {}};
    with(object, "error_bound", [&](ObjectReader& bound) { read_error_bound(bound, handoff); });
    with(object, "confidence", [&](ObjectReader& reader) { read_confidence(reader, handoff); });
    if (const json* assumptions = object.optional("assumptions")) {
      object.for_each(*assumptions, "assumptions", [&](const json& text, const auto& path) {
        handoff.assumptions.push_back(object.read_text(text, path));
      });
    }
    if (failed()) return std::nullopt;
    return handoff;
  }

 private:
  [[nodiscard]] bool failed() const { return !findings_.fault.empty(); }

  template <typename Read>
  void with(ObjectReader& owner, std::string_view name, Read read) {
    const json* member = owner.required(name, "an object");
    if (member == nullptr) return;
    ObjectReader object(*member, owner.path_of(name), findings_);
    if (!failed()) read(object);
  }

  AnyVector read_vector(ObjectReader& reader, const json& list, const std::string& path,
                        Eigen::Index size) {
    AnyVector values = AnyVector::Zero(size);
    if (list.is_array() && static_cast<Eigen::Index>(list.size()) != size) {
      findings_.fail("{}: must have {} elements, has {}", path, size, list.size());
      return values;
    }
    Eigen::Index i = 0;
    reader.for_each(list, path, [&](const json& value, const std::string& place) {
      values(i++) = reader.read_number(value, place);
    });
    return values;
  }

  AnyVector vector(ObjectReader& owner, std::string_view name, Eigen::Index size) {
    const json* list = owner.required(name, "a list of numbers");
    return list == nullptr ? AnyVector::Zero(size)
                           : read_vector(owner, *list, owner.path_of(name), size);
  }

  AnyMatrix read_matrix(ObjectReader& reader, const json& rows, const std::string& path,
                        Eigen::Index height, Eigen::Index width) {
    AnyMatrix values = AnyMatrix::Zero(height, width);
    if (rows.is_array() && static_cast<Eigen::Index>(rows.size()) != height) {
      findings_.fail("{}: must have {} rows, has {}", path, height, rows.size());
      return values;
    }
    Eigen::Index i = 0;
    reader.for_each(rows, path, [&](const json& row, const std::string& place) {
      values.row(i++) = read_vector(reader, row, place, width).transpose();
    });
    return values;
  }

  AnyMatrix matrix(ObjectReader& owner, std::string_view name, Eigen::Index height,
                   Eigen::Index width) {
    const json* rows = owner.required(name, "a list of rows");
    return rows == nullptr ? AnyMatrix::Zero(height, width)
                           : read_matrix(owner, *rows, owner.path_of(name), height, width);
  }

  AnyMatrix covariance(ObjectReader& owner, std::string_view name, Eigen::Index size) {
    AnyMatrix values = matrix(owner, name, size, size);
    if (failed()) return values;
    if (const Refusal refusal = check_covariance(values); refusal != Refusal::none) {
      findings_.fail("{}: {}", owner.path_of(name), explain(refusal));
    }
    return values;
  }

  InputBox read_box(ObjectReader& owner, std::string_view name) {
    InputBox box{AnyVector::Zero(m_), AnyVector::Zero(m_)};
    with(owner, name, [&](ObjectReader& object) {
      box.lower = vector(object, "lower", m_);
      box.upper = vector(object, "upper", m_);
      if ((box.lower.array() > box.upper.array()).any()) {
        findings_.fail("{}: a lower limit is above the upper one", object.path());
      }
    });
    return box;
  }

  double number(ObjectReader& owner, std::string_view name, double otherwise) {
    const json* member = owner.optional(name);
    return member == nullptr ? otherwise : owner.read_number(*member, owner.path_of(name));
  }

  std::int64_t whole(ObjectReader& owner, std::string_view name, std::int64_t otherwise,
                     std::int64_t least, std::int64_t most) {
    const std::int64_t value = owner.integer(name).value_or(otherwise);
    if (value < least || value > most) {
      findings_.fail("{}: must be between {} and {}", owner.path_of(name), least, most);
      return otherwise;
    }
    return value;
  }

  Duration time(ObjectReader& owner, std::string_view name, std::int64_t least) {
    const Duration value = owner.required_time(name, "in nanoseconds");
    if (!failed() && (value.count() < least || value.count() > longest_time)) {
      findings_.fail("{}: must be between {} and {} ns", owner.path_of(name), least, longest_time);
    }
    return value;
  }

  /// One of two or three words; the first is the default.
  std::size_t choice(ObjectReader& owner, std::string_view name,
                     std::initializer_list<std::string_view> words) {
    const std::string text = owner.text(name, std::string(*words.begin()));
    const auto* const found = std::ranges::find(words, text);
    if (found == words.end()) {
      findings_.fail("{}: \"{}\" is none of {}", owner.path_of(name), text, fmt::join(words, ", "));
      return 0;
    }
    return static_cast<std::size_t>(found - words.begin());
  }

  HandoverTiming read_timing(ObjectReader& owner) {
    HandoverTiming timing{.period = Duration{1}};
    with(owner, "timing", [&](ObjectReader& object) {
      timing.period = time(object, "period", 1);
      timing.load_periods = whole(object, "load_periods", 1, 1, 1'000'000);
      timing.actuation_delay = Duration{whole(object, "actuation_delay", 0, 0, longest_time)};
      timing.window = time(object, "window", 1);
      timing.return_window = object.optional("return_window") == nullptr
                                 ? timing.window
                                 : time(object, "return_window", 1);
      timing.return_after = whole(object, "return_after", 1, 1, 1'000'000);
      timing.return_when = choice(object, "return_when", {"safe", "requested"}) == 0
                               ? ReturnWhen::safe
                               : ReturnWhen::requested;
      if (failed()) return;
      if (timing.period.count() > longest_time / timing.load_periods) {
        findings_.fail("timing.load_periods: too many of such long periods");
        return;
      }
      const Duration least =
          least_window(timing.period, timing.load_periods, timing.actuation_delay);
      if (timing.window < least) {
        findings_.fail(
            "timing.window: {} ns is shorter than load_periods * period + actuation_delay = {} ns",
            timing.window.count(), least.count());
      }
      if (timing.return_window < timing.window) {
        findings_.fail("timing.return_window: must be at least the window");
      }
    });
    return timing;
  }

  std::vector<std::string> names(ObjectReader& owner, std::string_view name, std::size_t most) {
    std::vector<std::string> list;
    if (const json* texts = owner.required(name, "a list of names")) {
      if (texts->is_array() && (texts->empty() || texts->size() > most)) {
        findings_.fail("{}: must be 1 to {}", owner.path_of(name), most);
        return list;
      }
      owner.for_each(*texts, owner.path_of(name), [&](const json& text, const auto& path) {
        list.push_back(owner.read_text(text, path));
        if (!is_name(list.back())) {
          findings_.fail("{}: must be letters, digits and underscores, and no digit first", path);
        }
        if (std::ranges::count(list, list.back()) > 1) {
          findings_.fail("{}: \"{}\" twice", path, list.back());
        }
      });
    }
    return list;
  }

  static bool is_name(std::string_view name) {
    const auto letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && name.size() <= 64 && letter(name[0]) &&
           std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  }

  std::vector<std::string> texts(ObjectReader& owner, const json& list, const std::string& path) {
    std::vector<std::string> read;
    owner.for_each(list, path, [&](const json& text, const std::string& place) {
      read.push_back(owner.read_text(text, place));
    });
    return read;
  }

  std::vector<std::vector<std::string>> rows_of_texts(ObjectReader& owner, std::string_view name) {
    std::vector<std::vector<std::string>> read;
    if (const json* rows = owner.required(name, "rows of expressions")) {
      owner.for_each(*rows, owner.path_of(name), [&](const json& row, const std::string& place) {
        read.push_back(texts(owner, row, place));
      });
    }
    return read;
  }

  PlantDescription read_plant(ObjectReader& object) {
    PlantDescription plant;
    plant.name = object.text("name");
    plant.states = names(object, "states", Plant::most_states);
    plant.inputs = names(object, "inputs", Plant::most_states);
    plant.measurements = names(object, "measurements", Plant::most_measurements);
    if (const json* parameters = object.optional("parameters")) {
      if (!parameters->is_object()) {
        findings_.fail("{}: must be an object", object.path_of("parameters"));
        return plant;
      }
      for (const auto& [name, value] : parameters->items()) {
        const std::string path = object.path_of("parameters") + "." + name;
        if (!is_name(name)) findings_.fail("{}: is no name", object.path_of("parameters"));
        plant.parameters[name] = object.read_number(value, path);
      }
    }
    plant.is_continuous = choice(object, "time", {"continuous", "discrete"}) == 0;
    plant.integration_steps = static_cast<int>(whole(object, "integration_steps", 1, 1, 1000));
    if (const json* list = object.required("dynamics", "one expression for each state")) {
      plant.dynamics = texts(object, *list, object.path_of("dynamics"));
    }
    if (const json* list = object.required("outputs", "one expression for each measurement")) {
      plant.outputs = texts(object, *list, object.path_of("outputs"));
    }
    with(object, "jacobians", [&](ObjectReader& jacobians) {
      plant.dynamics_jacobian = rows_of_texts(jacobians, "dynamics");
      plant.outputs_jacobian = rows_of_texts(jacobians, "outputs");
    });
    return plant;
  }

  LinearSettings read_linear(ObjectReader& owner) {
    LinearSettings linear;
    with(owner, "linear", [&](ObjectReader& object) {
      linear.state = vector(object, "state", n_);
      linear.input = vector(object, "input", m_);
      linear.state_matrix = matrix(object, "state_matrix", n_, n_);
      linear.input_matrix = matrix(object, "input_matrix", n_, m_);
      linear.output_matrix = matrix(object, "output_matrix", p_, n_);
      linear.feedthrough_matrix = object.optional("feedthrough_matrix") == nullptr
                                      ? AnyMatrix(AnyMatrix::Zero(p_, m_))
                                      : matrix(object, "feedthrough_matrix", p_, m_);
      if (object.optional("gain") != nullptr) linear.gain = matrix(object, "gain", n_, p_);
    });
    return linear;
  }

  NonlinearSettings read_nonlinear(ObjectReader& owner) {
    NonlinearSettings settings;
    with(owner, "nonlinear", [&](ObjectReader& object) {
      const std::string kind = object.required_text("kind", "ekf, ukf or particle");
      if (kind == "ekf") {
        settings = ExtendedKalmanSettings{};
      } else if (kind == "ukf") {
        const Unscented unscented{.alpha = number(object, "alpha", 1),
                                  .beta = number(object, "beta", 2),
                                  .kappa = number(object, "kappa", 0)};
        if (!failed() && !(unscented.alpha > 0)) {
          findings_.fail("{}: must be above 0", object.path_of("alpha"));
        }
        const Refusal refusal = unscented.check(static_cast<double>(n_));
        if (refusal != Refusal::none) findings_.fail("{}: {}", object.path(), explain(refusal));
        settings = unscented;
      } else if (kind == "particle") {
        Particles particles;
        particles.count = static_cast<std::size_t>(whole(object, "particles", 1000, 1, 1'000'000));
        particles.seed = static_cast<std::uint64_t>(whole(object, "seed", 1, 0, INT64_MAX));
        particles.resampling =
            std::array{Resampling::systematic, Resampling::stratified, Resampling::residual}[choice(
                object, "resampling", {"systematic", "stratified", "residual"})];
        settings = particles;
      } else {
        findings_.fail("{}: \"{}\" is none of ekf, ukf, particle", object.path_of("kind"), kind);
      }
    });
    return settings;
  }

  void check_inputs(const InputBox& decision, const InputBox& physical,
                    const LinearSettings& linear) {
    if ((decision.lower.array() < physical.lower.array()).any() ||
        (decision.upper.array() > physical.upper.array()).any()) {
      findings_.fail("decision: must be part of plant.physical_inputs");
    }
    if (!decision.contains(linear.input)) {
      findings_.fail("decision: must contain linear.input, that of the operating point");
    }
  }

  void check_noise(const AnyMatrix& measurement, const NonlinearSettings& nonlinear) {
    if (!std::holds_alternative<Particles>(nonlinear)) return;
    AnyMatrix factor(measurement.rows(), measurement.cols());
    if (!cholesky(measurement, factor) || is_singular(measurement, factor)) {
      findings_.fail(
          "plant.measurement_noise: must be positive definite for a particle filter, which weighs "
          "particles by it");
    }
  }

  void read_error_bound(ObjectReader& object, Handoff& handoff) {
    if (const json* epsilon = object.required("epsilon", "the bound of the error")) {
      handoff.epsilon = object.read_number(*epsilon, object.path_of("epsilon"));
      if (!(handoff.epsilon > 0)) {
        findings_.fail("{}: must be above 0", object.path_of("epsilon"));
      }
    }
    handoff.norm = choice(object, "norm", {"euclidean", "maximum"}) == 0 ? ErrorNorm::euclidean
                                                                         : ErrorNorm::maximum;
    if (object.optional("weights") != nullptr) {
      handoff.weights = vector(object, "weights", n_);
      if ((handoff.weights.array() < 0).any() || handoff.weights.isZero(0)) {
        findings_.fail("{}: none may be negative, nor all 0", object.path_of("weights"));
      }
    }
  }

  void read_confidence(ObjectReader& object, Handoff& handoff) {
    if (object.optional("deviations") != nullptr) {
      handoff.deviations = vector(object, "deviations", n_);
      if ((handoff.deviations.array() < 0).any()) {
        findings_.fail("{}: must not be negative", object.path_of("deviations"));
      }
    }
    handoff.half_widths = vector(object, "half_widths", n_);
    if ((handoff.half_widths.array() < 0).any()) {
      findings_.fail("{}: must not be negative", object.path_of("half_widths"));
    }
    handoff.tail = number(object, "tail", 0.0027);
    if (!(handoff.tail > 0 && handoff.tail < 1)) {
      findings_.fail("{}: must be above 0 and below 1", object.path_of("tail"));
    }
  }

  std::optional<Region> read_region(ObjectReader& owner, std::string_view name,
                                    std::string_view space) {
    std::optional<Region> region;
    with(owner, name, [&](ObjectReader& object) {
      if (object.required_text("space", "state or augmented") != space) {
        findings_.fail("{}: must be \"{}\"", object.path_of("space"), space);
      }
      const auto wanted = static_cast<std::size_t>(space == "state" ? n_ : 2 * n_);
      std::vector<Axis> axes;
      std::size_t nodes = 1;
      if (const json* list = object.required("axes", "the grid")) {
        object.for_each(*list, object.path_of("axes"), [&](const json& value, const auto& path) {
          ObjectReader axis(value, path, findings_);
          if (axes.size() >= Region::most_axes) {
            findings_.fail("{}: more than {} axes", object.path_of("axes"), Region::most_axes);
            return;
          }
          axes.push_back({.first = required_number(axis, "first"),
                          .last = required_number(axis, "last"),
                          .count = whole(axis, "count", 0, 2, 65536)});
          if (failed()) return;
          nodes *= static_cast<std::size_t>(axes.back().count);
          if (nodes > Region::most_nodes) {
            findings_.fail("{}: more than {} nodes", object.path_of("axes"), Region::most_nodes);
          }
        });
      }
      if (!failed() && axes.size() != wanted) {
        findings_.fail("{}: must be {}, is {}", object.path_of("axes"), wanted, axes.size());
      }
      if (failed()) return;
      std::vector<double> values = read_values(object, nodes);
      if (failed()) return;
      auto made = Region::make(std::move(axes), std::move(values), number(object, "error", 0),
                               object.path());
      if (made) {
        region = std::move(*made);
      } else {
        findings_.fail("{}", made.error().message);
      }
    });
    return region;
  }

  double required_number(ObjectReader& owner, std::string_view name) {
    const json* member = owner.required(name, "a number");
    return member == nullptr ? 0 : owner.read_number(*member, owner.path_of(name));
  }

  std::vector<double> read_values(ObjectReader& object, std::size_t nodes) {
    std::vector<double> values;
    const json* list = object.optional("values");
    const json* file = object.optional("file");
    if ((list == nullptr) == (file == nullptr)) {
      findings_.fail("{}: needs either values or a file", object.path());
      return values;
    }
    if (file != nullptr) return read_file(*file, object.path_of("file"), nodes);
    if (list->size() > most_values_in_document) {
      findings_.fail("{}: more than {}; use a file", object.path_of("values"),
                     most_values_in_document);
      return values;
    }
    object.for_each(*list, object.path_of("values"), [&](const json& value, const auto& path) {
      values.push_back(object.read_number(value, path));
    });
    return values;
  }

  std::vector<double> read_file(const json& member, const std::string& path, std::size_t nodes) {
    std::vector<double> values;
    ObjectReader object(member, path, findings_);
    const std::string name = object.required_text("name", "the file's name");
    const std::string hash = object.required_text("sha256", "the hash of its content");
    const bool is_double = choice(object, "type", {"float64", "float32"}) == 0;
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '.' || c == '-';
    };
    // No folders: a document reads nothing but what lies beside it.
    if (name.empty() || name.size() > 128 || name[0] == '.' || name[0] == '-' ||
        !std::ranges::all_of(name, allowed)) {
      findings_.fail("{}.name: must be the plain name of a file beside the document", path);
    }
    if (!failed() && folder_.empty()) {
      findings_.fail("{}: a document that is not a file names no other", path);
    }
    if (failed()) return values;
    const std::size_t width = is_double ? sizeof(double) : sizeof(float);
    const auto bytes = read_whole(folder_ + "/" + name, nodes * width);
    if (!bytes) {
      findings_.fail("{}: {}", path, bytes.error().message);
      return values;
    }
    if (bytes->size() != nodes * width) {
      findings_.fail("{}: {} has {} bytes, not {} for {} nodes", path, name, bytes->size(),
                     nodes * width, nodes);
      return values;
    }
    if (sha256(*bytes) != hash) {
      findings_.fail(
          "{}.sha256: {} is another file than the one that was written with the document", path,
          name);
      return values;
    }
    static_assert(std::endian::native == std::endian::little);
    values.resize(nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
      if (is_double) {
        std::memcpy(&values[i], bytes->data() + i * width, width);
      } else {
        float value = 0;
        std::memcpy(&value, bytes->data() + i * width, width);
        values[i] = static_cast<double>(value);
      }
    }
    return values;
  }

  Findings& findings_;
  const std::string& folder_;
  Eigen::Index n_ = 0;
  Eigen::Index m_ = 0;
  Eigen::Index p_ = 0;
};

}  // namespace

Result<Handoff> parse_handoff(std::string_view text, std::string_view source,
                              const std::string& folder) {
  const json document = TAKT_TRY(model::parse_document(text, source, "handoff"));
  Findings findings;
  std::optional<Handoff> handoff = HandoffReader(findings, folder).read(document);
  if (!handoff || !findings.fault.empty()) return error("{}: {}", source, findings.fault);
  handoff->warnings = std::move(findings.warnings);
  return std::move(*handoff);
}

Result<Handoff> read_handoff(const std::string& path) {
  const auto text = TAKT_TRY(read_whole(path, largest_document));
  const std::size_t slash = path.rfind('/');
  return parse_handoff(text, path,
                       slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash));
}

}  // namespace takt::estimation
