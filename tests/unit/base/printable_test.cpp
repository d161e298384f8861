#include "takt/base/printable.hpp"

#include <gtest/gtest.h>

namespace takt {
namespace {

constexpr const char* replaced = "\xef\xbf\xbd";

TEST(Printable, LeavesWhatPeopleRead) {
  EXPECT_EQ(printable("/größe → 3 µs, 漢字 😀"), "/größe → 3 µs, 漢字 😀");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, ReplacesWhatATerminalObeys) {
  EXPECT_EQ(printable("a\x1b]0;t\x07"), std::string("a") + replaced + "]0;t" + replaced);
  EXPECT_EQ(printable("\xc2\x9b"), replaced) << "CSI of C1";
  EXPECT_EQ(printable("one\ntwo"), std::string("one") + replaced + "two");
}

TEST(Printable, ReplacesWhatIsHidden) {
  for (const char* mark : {"\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "\U000e0041"}) {
    EXPECT_EQ(printable(mark), replaced);
  }
}

TEST(Printable, ReplacesEachByteThatIsNoUtf8) {
  const std::string two = std::string(replaced) + replaced;
  EXPECT_EQ(printable("\xc0\xaf"), two) << "longer than needed";
  EXPECT_EQ(printable("\xe2\x82"), two) << "cut short";
  EXPECT_EQ(printable("\xed\xa0\x80"), replaced) << "a surrogate";
  EXPECT_EQ(printable("\xff!"), std::string(replaced) + "!");
}

}  // namespace
}  // namespace takt
