#include "takt/estimation/handoff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cubic.hpp"
#include "sha256.hpp"

namespace takt::estimation {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Handoff, ReadsTheWorkedExample) {
  const Handoff handoff = Cubic{}.read();
  EXPECT_EQ(handoff.name, "cubic");
  EXPECT_EQ(handoff.timing.window, std::chrono::milliseconds(200));
  EXPECT_EQ(handoff.timing.return_window, handoff.timing.window);
  EXPECT_EQ(handoff.decision.upper(0), 0.55);
  EXPECT_EQ(handoff.back.dimensions(), 1U);
  const double inside = 0.45;
  const double outside = 0.46;
  EXPECT_TRUE(handoff.back.contains(&inside));
  EXPECT_FALSE(handoff.back.contains(&outside));
}

/// Runge-Kutta of the cubic against its solution without an input, and the derivative against
/// differences.
TEST(Plant, IntegratesAndDifferentiates) {
  Plant plant = Cubic{}.read().plant;
  const auto step = [&](double x, double d) {
    AnyVector next(1);
    plant.step(AnyVector::Constant(1, x), AnyVector::Constant(1, d), next);
    return next(0);
  };
  // x' = -x - x^3: 1 + 1/x^2 grows as e^(2t).
  const double exact = 1 / std::sqrt((1 + 1 / 0.64) * std::exp(2 * 0.02) - 1);
  EXPECT_NEAR(step(0.8, 0), exact, 1e-9);  // two steps of 10 ms: of the order of 0.01^5
  AnyVector next(1);
  AnyMatrix jacobian(1, 1);
  plant.step(AnyVector::Constant(1, 0.8), AnyVector::Constant(1, 0.3), next, jacobian);
  EXPECT_EQ(next(0), step(0.8, 0.3));
  const double h = 1e-5;
  EXPECT_NEAR(jacobian(0, 0), (step(0.8 + h, 0.3) - step(0.8 - h, 0.3)) / (2 * h), 1e-9);
}

struct Mistake {
  const char* pointer;
  json value;
  const char* message;
};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamedInOneLine) {
  json document = json::parse(Cubic{}.document());
  const json::json_pointer pointer(GetParam().pointer);
  if (GetParam().value.is_discarded()) {
    document.at(pointer.parent_pointer()).erase(pointer.back());
  } else {
    document[pointer] = GetParam().value;
  }
  const auto handoff = parse_handoff(document.dump(), "h.json", "");
  ASSERT_FALSE(handoff);
  EXPECT_THAT(handoff.error().message, HasSubstr("h.json: "));
  EXPECT_THAT(handoff.error().message, HasSubstr(GetParam().message));
  EXPECT_THAT(handoff.error().message, testing::Not(HasSubstr("\n")));
}

const json gone(json::value_t::discarded);

INSTANTIATE_TEST_SUITE_P(
    Document, Mistakes,
    testing::Values(
        Mistake{"/format", "takt/model", "takt/handoff"},
        Mistake{"/version", 1, "version 2 only; the regions of version 1 are safe for estimates"},
        Mistake{"/plant", gone, "plant: missing"},
        Mistake{"/plant/states", json::array(), "states"},
        Mistake{"/plant/states/0", "2x", "plant.states[0]"},
        Mistake{"/plant/inputs/0", "x", "names two things"},
        Mistake{"/plant/parameters/pi", 3, "\"pi\" names two things"},
        Mistake{"/plant/parameters/E", 3, "\"E\" names two things"},
        Mistake{"/plant/dynamics/0", "x +", "plant.dynamics[0]: character 4"},
        Mistake{"/plant/jacobians/dynamics/0/0", "q", "plant.jacobians.dynamics[0][0]"},
        Mistake{"/plant/outputs", json::array(), "plant.outputs: must have 1"},
        Mistake{"/plant/process_noise", json::parse("[[-1]]"), "plant.process_noise: a covariance"},
        Mistake{"/plant/process_noise", json::parse("[[1, 2]]"),
                "plant.process_noise[0]: must have 1"},
        Mistake{"/plant/measurement_noise/0/0", "1", "must be a finite number"},
        Mistake{"/plant/physical_inputs/lower/0", 2, "a lower limit is above"},
        Mistake{"/plant/integration_steps", 0, "between 1 and 1000"},
        Mistake{"/plant/time", "sometimes", "none of continuous, discrete"},
        Mistake{"/decision/upper/0", 1.5, "decision: must be part of"},
        Mistake{"/decision/lower/0", 0.1, "must contain linear.input"},
        Mistake{"/linear/state_matrix", json::parse("[[1], [2]]"), "must have 1 rows"},
        Mistake{"/nonlinear/kind", "magic", "none of ekf, ukf, particle"},
        Mistake{"/nonlinear", json::parse(R"({"kind": "ukf", "kappa": -1})"), "n + lambda"},
        Mistake{"/nonlinear", json::parse(R"({"kind": "ukf", "alpha": 0})"), "above 0"},
        Mistake{"/nonlinear", json::parse(R"({"kind": "particle", "particles": 0})"), "particles"},
        Mistake{"/start/covariance/0/0", -1, "start.covariance: a covariance"},
        Mistake{"/error_bound/epsilon", 0, "error_bound.epsilon: must be above 0"},
        Mistake{"/error_bound/weights", json::parse("[0]"), "error_bound.weights"},
        Mistake{"/timing/period", 0, "timing.period"},
        Mistake{"/timing/window", 199999999, "timing.window: 199999999 ns is shorter"},
        Mistake{"/timing/return_window", 199999999, "timing.return_window"},
        Mistake{"/timing/load_periods", 1000001, "timing.load_periods"},
        Mistake{"/confidence/deviations", json::parse("[-1]"), "confidence.deviations"},
        Mistake{"/confidence/half_widths", json::parse("[-1]"), "confidence.half_widths"},
        Mistake{"/confidence/half_widths", gone, "confidence.half_widths: missing"},
        Mistake{"/confidence", gone, "confidence: missing"},
        Mistake{"/confidence/tail", 0, "confidence.tail"},
        Mistake{"/regions/back", gone, "regions.back: missing"},
        Mistake{"/regions/back/space", "augmented", "regions.back.space"},
        Mistake{"/regions/back/axes/0/count", 200, "201 values for 200 nodes"},
        Mistake{"/regions/back/values", gone, "either values or a file"},
        Mistake{"/regions/back/values/7", json(), "must be a finite number"},
        Mistake{"/regions/back/error", -1, "regions.back.error"},
        Mistake{"/regions/safe",
                json::parse(R"({"space": "augmented", "axes": [{"first": 0, "last": 1, "count": 2},
                  {"first": 0, "last": 1, "count": 2}], "values": [1, 1, 1, 1]})"),
                "regions.safe: the set is empty"}));

TEST(Handoff, ReadsValuesFromAFileBesideItAndFromNowhereElse) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "takt-handoff-test";
  std::filesystem::create_directories(folder);
  json document = json::parse(Cubic{}.document());
  const auto values = document["regions"]["back"]["values"].get<std::vector<double>>();
  std::string bytes(values.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const auto write = [&](const std::string& name, const std::string& content) {
    std::ofstream(folder / name, std::ios::binary) << content;
  };
  const auto read = [&](const json& file) {
    document["regions"]["back"].erase("values");
    document["regions"]["back"]["file"] = file;
    write("handoff.json", document.dump());
    return read_handoff(folder / "handoff.json");
  };
  ASSERT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  write("back.f64", bytes);
  const auto whole = read({{"name", "back.f64"}, {"sha256", sha256(bytes)}});
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->back.values(), values);

  const std::vector<float> narrow(values.begin(), values.end());
  std::string short_bytes(narrow.size() * sizeof(float), '\0');
  std::memcpy(short_bytes.data(), narrow.data(), short_bytes.size());
  write("back.f32", short_bytes);
  const auto half =
      read({{"name", "back.f32"}, {"sha256", sha256(short_bytes)}, {"type", "float32"}});
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_EQ(half->back.values()[0], static_cast<double>(narrow[0]));

  const auto message = [&](const json& file) { return read(file).error().message; };
  EXPECT_THAT(message({{"name", "back.f64"}, {"sha256", sha256("other")}}),
              HasSubstr("another file"));
  EXPECT_THAT(message({{"name", "back.f32"}, {"sha256", sha256(short_bytes)}}), HasSubstr("bytes"));
  EXPECT_THAT(message({{"name", "none.f64"}, {"sha256", "x"}}), HasSubstr("cannot be read"));
  for (const char* name : {"../back.f64", "/etc/passwd", "", ".hidden", "a/b"}) {
    EXPECT_THAT(message({{"name", name}, {"sha256", "x"}}), HasSubstr("plain name"));
  }
  document["regions"]["back"]["file"]["name"] = "back.f64";
  EXPECT_THAT(parse_handoff(document.dump(), "text", "").error().message,
              HasSubstr("names no other"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace takt::estimation
