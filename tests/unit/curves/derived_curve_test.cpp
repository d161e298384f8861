#include "takt/curves/derived_curve.hpp"

#include <gmock/gmock.h>

#include <list>
#include <random>
#include <vector>

#include "takt/curves/activation_line.hpp"

namespace takt::curves {
namespace {

/// A periodic curve with jitter, or one that is given by distances with a burst.
ActivationCurve random_curve(std::mt19937_64& random) {
  const auto up_to = [&](std::int64_t most) {
    return Duration{1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most))};
  };
  if (random() % 2 == 0) return ActivationCurve::periodic(up_to(1000), up_to(3000) - epsilon);
  std::vector<Duration> values{Duration{0}, Duration{0}};
  const Duration gap = up_to(500);
  while (values.size() < 6) values.push_back(values.back() + gap);
  return ActivationCurve::min_distance(values);
}

/// Curves of the model, which keep their addresses.
class Sources {
 public:
  DerivedCurve add(const ActivationCurve& curve) {
    const ActivationCurve& kept = curves_.emplace_back(curve);
    DerivedCurve derived;
    derived.add(sources_.emplace_back(ActivationSource{.curve = &kept}));
    derived.finish();
    return derived;
  }

 private:
  std::list<ActivationCurve> curves_;
  std::list<ActivationSource> sources_;
};

TEST(ActivationLine, IsNowhereBelowTheCurve) {
  std::mt19937_64 random(3);
  for (int n = 0; n < 300; ++n) {
    const ActivationCurve curve = random_curve(random);
    const std::int64_t multiplicity = 1 + n % 4;
    const Duration shift{n * 7 % 1000};
    const auto unshifted = ActivationLine::above(curve, multiplicity);
    if (!unshifted) continue;
    const auto line = unshifted->shifted(shift);
    ASSERT_TRUE(line.has_value());
    for (std::int64_t window = 1; window < 20'000; window += 37) {
      ASSERT_GE(line->count(Duration{window}),
                multiplicity * curve.count(Duration{window} + shift));
    }
  }
}

TEST(ActivationLine, OfAPeriodIsThePeriod) {
  const auto curve = ActivationCurve::periodic(Duration{1000}, Duration{2500});
  const auto line = ActivationLine::above(curve, 1);
  ASSERT_TRUE(line.has_value());
  for (std::int64_t window = 1; window < 100'000; ++window) {
    ASSERT_EQ(line->count(Duration{window}), curve.count(Duration{window}));
    ASSERT_EQ(line->plateau(Duration{window}).until, curve.plateau(Duration{window}).until);
  }
}

TEST(ActivationLine, ThereIsNoneThatIsTooSteep) {
  const auto curve = ActivationCurve::periodic(Duration{2}, Duration{0});
  EXPECT_TRUE(ActivationLine::above(curve, 2).has_value());
  EXPECT_FALSE(ActivationLine::above(curve, 3).has_value());
  EXPECT_FALSE(ActivationLine::above(curve, unbounded_count).has_value());
  EXPECT_EQ(ActivationLine::constant(5).plateau(Duration{1}).until, unbounded_time);
}

TEST(DerivedCurve, OfTooManyTermsIsALineAboveThem) {
  std::mt19937_64 random(5);
  Sources sources;
  DerivedCurve exact;
  DerivedCurve simple;
  for (int n = 0; n < 20; ++n) {
    const DerivedCurve each = sources.add(random_curve(random));
    for (DerivedCurve* sum : {&exact, &simple}) sum->add(each, Duration{100 * n});
  }
  exact.finish();
  simple.finish(19);
  EXPECT_EQ(exact.weight(), 20U);
  EXPECT_EQ(simple.weight(), 1U);
  EXPECT_EQ(simple.since_origin(), exact.since_origin());
  EXPECT_EQ(simple.single(), nullptr);
  for (std::int64_t window = 1; window < 10'000; window += 13) {
    const Plateau level = simple.plateau(Duration{window});
    ASSERT_GE(level.count, exact.count(Duration{window}));
    ASSERT_EQ(level.count, simple.count(Duration{window}));
    ASSERT_EQ(level.count, simple.count(level.until));
    ASSERT_LT(level.count, simple.count(level.until + epsilon));
    // Each of the terms has less than one more, or one burst.
    ASSERT_LE(level.count, exact.count(Duration{window}) + 20 * 6);
  }
}

TEST(DerivedCurve, ALineShiftsAndAddsUpLikeTerms) {
  Sources sources;
  const DerivedCurve periodic = sources.add(ActivationCurve::periodic(Duration{1000}, Duration{0}));
  DerivedCurve line;
  line.add(ActivationLine::above(*periodic.single(), 1), Duration{0});
  line.finish();
  DerivedCurve sum;
  sum.add(line, Duration{300});
  sum.add(periodic, Duration{0});
  sum.finish();
  EXPECT_EQ(sum.weight(), 2U);
  EXPECT_EQ(sum.count(Duration{700}), 2);
  EXPECT_EQ(sum.plateau(Duration{1}).until, Duration{700});
  EXPECT_EQ(sum.count(Duration{701}), 3);
  EXPECT_EQ(sum.plateau(Duration{701}).until, Duration{1000});
  DerivedCurve endless;
  endless.add(line, unbounded_time);
  endless.finish();
  EXPECT_TRUE(endless.unbounded());
}

TEST(JoinCurve, ALineAboveIsNowhereBelow) {
  std::mt19937_64 random(7);
  for (int n = 0; n < 200; ++n) {
    Sources sources;
    for (const auto kind :
         {JoinCurve::Kind::all, JoinCurve::Kind::newest, JoinCurve::Kind::least}) {
      const JoinCurve join(kind,
                           {sources.add(random_curve(random)), sources.add(random_curve(random))});
      EXPECT_EQ(join.weight(), 2U);
      const auto line = join.line_above();
      if (!line) continue;
      for (std::int64_t window = 1; window < 5000; window += 31) {
        ASSERT_GE(line->count(Duration{window}), join.count(Duration{window}));
      }
    }
  }
}

TEST(DerivedCurve, DistanceIsTheLeastWindowWithThatManyActivations) {
  std::mt19937_64 random(5);
  for (int n = 0; n < 100; ++n) {
    Sources sources;
    DerivedCurve curve;
    for (int term = 0; term <= n % 3; ++term) {
      curve.add(sources.add(random_curve(random)),
                Duration{static_cast<std::int64_t>(random() % 900)});
    }
    curve.finish();
    Duration before{0};
    for (std::int64_t activations = 1; activations < 20; ++activations) {
      const Duration distance = curve.distance(activations);
      ASSERT_GE(curve.count(distance + epsilon), activations);
      ASSERT_TRUE(distance == Duration{0} || curve.count(distance) < activations);
      ASSERT_EQ(curve.distance(activations, before), distance) << "from where it was";
      before = distance;
    }
  }
}

/// A walk over all steps would take days.
TEST(DerivedCurve, DistanceOfASingleCurveIsComputed) {
  Sources sources;
  DerivedCurve curve;
  curve.add(sources.add(ActivationCurve::periodic(Duration{10}, Duration{0})), Duration{25});
  curve.finish();
  EXPECT_EQ(curve.distance(50'000'000'000'000), Duration{499'999'999'999'990 - 25});
  EXPECT_EQ(curve.distance(200'000'000'000'000), unbounded_time);
}

}  // namespace
}  // namespace takt::curves
