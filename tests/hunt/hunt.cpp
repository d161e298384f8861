// Hunts for bounds that a schedule exceeds, on random models with all features of the format.
//
//   takt_hunt KIND [MODELS] [FIRST_SEED] [FOLDER|-] [FEATURE=PERCENT ...] [analysis=NAME]
//
// KIND is a kind of executor or "all". Random models of it are analysed and simulated; with the
// prefix "schedules:" (schedules:edf) the plain scheduler of tests/unit/analysis/brute_force
// searches their schedules instead. Says how far it has come. Ends with 1 at the first violation,
// with the shrunk model on standard output; with FOLDER it writes each of them there and goes on.
// FEATURE is one of features.def, e.g. cycle=0 for models without cycles; NAME is an analysis whose
// bounds are compared with simulations, "combined" unless given. Ends with 2 if an argument makes
// no sense, or FOLDER cannot be written.

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "../unit/analysis/brute_force/soundness.hpp"
#include "takt/model/json.hpp"
#include "takt/model/names.hpp"
#include "takt/soundness/soundness.hpp"

namespace {

using takt::analysis::Method;
using takt::generation::Shape;

struct Hunt {
  std::string name;
  Shape shape;
  bool schedules = false;
  Method method = Method::combined;
  std::size_t models = 0;
  std::uint64_t first = 0;
  std::optional<std::filesystem::path> folder;
};

std::optional<takt::generation::ExecutorKinds> kinds_of(const std::string& name) {
  if (name == "all") return takt::soundness::all_kinds();
  const auto kind = takt::model::from_string<takt::model::ExecutorKind>(name);
  if (!kind) return std::nullopt;
  return *kind;
}

/// None: the text is something else than a number, or too large.
std::optional<std::uint64_t> number_from(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The seed and the story of the first violation from `seed` on, if there is one in `count` models.
struct Violation {
  std::uint64_t seed;
  std::string story;
};

std::optional<Violation> violation(const Hunt& hunt, std::uint64_t seed, std::size_t count,
                                   takt::soundness::Tally& tally) {
  if (!hunt.schedules) {
    const auto found = takt::soundness::hunt(hunt.shape, hunt.method, seed, count, tally);
    if (!found) return std::nullopt;
    return Violation{found->seed, found->violation + "\n" + takt::model::to_json(found->model)};
  }
  constexpr takt::brute_force::Effort effort{.random = 20, .climbing = 15};
  for (std::uint64_t next = seed; next < seed + count; ++next) {
    const auto model = takt::generation::random_model(hunt.shape, next);
    ++tally.models;
    if (auto story = takt::brute_force::find_violation(model, effort, next)) {
      return Violation{next, std::move(*story)};
    }
  }
  return std::nullopt;
}

/// Whether "name=percent" names a feature and a share of it.
bool set_feature(Shape& shape, std::string_view assignment) {
  const auto equals = assignment.find('=');
  for (const auto& feature : takt::generation::features()) {
    if (equals == std::string_view::npos || feature.name != assignment.substr(0, equals)) continue;
    const auto percent = number_from(assignment.substr(equals + 1));
    if (!percent || *percent > 100) return false;
    shape.*feature.chance = static_cast<int>(*percent);
    return true;
  }
  return false;
}

/// Whether "analysis=name" names one. Schedules are compared with all bounds at once.
bool set_analysis(Hunt& hunt, std::string_view assignment) {
  constexpr std::string_view prefix = "analysis=";
  if (hunt.schedules || !assignment.starts_with(prefix)) return false;
  const auto method = takt::analysis::method_from_string(assignment.substr(prefix.size()));
  if (method) hunt.method = *method;
  return method.has_value();
}

/// Whether the story is written.
bool write(const Hunt& hunt, const Violation& violation) {
  const auto path = *hunt.folder / fmt::format("{}-{}.txt", hunt.name, violation.seed);
  std::ofstream file(path);
  file << violation.story << std::flush;
  if (!file) fmt::print(stderr, "takt_hunt: {}: cannot be written\n", path.string());
  return file.good();
}

int run(const Hunt& hunt) {
  constexpr std::size_t chunk = 200;
  takt::soundness::Tally tally;
  int violations = 0;
  const auto begin = std::chrono::steady_clock::now();
  auto told = begin;
  for (std::uint64_t seed = hunt.first; seed < hunt.first + hunt.models;) {
    const std::size_t count = std::min<std::uint64_t>(chunk, hunt.first + hunt.models - seed);
    const auto found = violation(hunt, seed, count, tally);
    if (found) {
      ++violations;
      fmt::print(stderr, "{}: seed {}: {}\n", hunt.name, found->seed,
                 found->story.substr(0, found->story.find('\n')));
      const bool is_written = hunt.folder && write(hunt, *found);
      if (!is_written) {
        fmt::print("{}\n", found->story);
        return hunt.folder ? 2 : 1;
      }
    }
    seed = found ? found->seed + 1 : seed + count;
    const auto now = std::chrono::steady_clock::now();
    if (now - told < std::chrono::seconds{10}) continue;
    told = now;
    fmt::print(
        stderr, "{}: {} models, {} bounds, {} violations, {:.0f} models/s\n", hunt.name,
        tally.models, tally.bounds, violations,
        static_cast<double>(tally.models) / std::chrono::duration<double>(now - begin).count());
  }
  std::string seen;
  if (tally.bounds > 0) {
    seen = fmt::format(
        "{} bounds, mean observed / bound {:.3f}, {} of {} simulations overloaded, {} models that "
        "cannot run, ",
        tally.bounds, tally.tightness / static_cast<double>(tally.bounds), tally.overloaded,
        tally.simulations, tally.cannot_run);
  }
  fmt::print("{}: {} models from seed {}, {}{} violations\n", hunt.name, tally.models, hunt.first,
             seen, violations);
  return violations == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  std::string name = count > 1 ? arguments[1] : "all";
  constexpr std::string_view prefix = "schedules:";
  const bool schedules = name.starts_with(prefix);
  if (schedules) name.erase(0, prefix.size());
  const auto kinds = kinds_of(name);
  if (!kinds) {
    fmt::print(stderr, "takt_hunt: \"{}\" is no kind of executor; one of all, {}\n", name,
               takt::model::all_names<takt::model::ExecutorKind>());
    return 2;
  }
  const auto models = number_from(count > 2 ? arguments[2] : "1000");
  const auto first = number_from(count > 3 ? arguments[3] : "1");
  if (!models || !first || *models == 0 || *first + *models < *first) {
    fmt::print(stderr, "takt_hunt: MODELS and FIRST_SEED are numbers, and MODELS is above 0\n");
    return 2;
  }
  Hunt hunt{.name = name,
            .shape = takt::generation::any_model(*kinds),
            .schedules = schedules,
            .models = *models,
            .first = *first,
            .folder = std::nullopt};
  if (count > 4 && std::string_view(arguments[4]) != "-") {
    hunt.folder = arguments[4];
    std::error_code fault;
    std::filesystem::create_directories(*hunt.folder, fault);
    if (!std::filesystem::is_directory(*hunt.folder, fault)) {
      fmt::print(stderr, "takt_hunt: {}: there is no such folder, and it cannot be made\n",
                 arguments[4]);
      return 2;
    }
  }
  for (int i = 5; i < count; ++i) {
    if (set_analysis(hunt, arguments[i]) || set_feature(hunt.shape, arguments[i])) continue;
    fmt::print(stderr, "takt_hunt: \"{}\" sets no feature, from 0 to 100, and no analysis{}\n",
               arguments[i], schedules ? ", which schedules: goes without" : "");
    return 2;
  }
  return run(hunt);
}
