#include "decision_log.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace takt::manager {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// No file of this process becomes longer than `bytes`.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = former_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &former_);
    signal(SIGXFSZ, handler_);
  }

 private:
  rlimit former_{};
  sighandler_t handler_;
};

class DecisionLogTest : public testing::Test {
 protected:
  DecisionLogTest() {
    std::string name = std::filesystem::temp_directory_path() / "takt-log-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "decisions.jsonl";
  }
  ~DecisionLogTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string content() const {
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(DecisionLogTest, ReplacesTheFileAndAddsLines) {
  std::ofstream(path_) << "a former log\n";
  auto log = DecisionLog::create(path_);
  ASSERT_TRUE(log.has_value());
  EXPECT_TRUE(log->append("one\n").has_value());
  EXPECT_TRUE(log->append("two\n").has_value());
  EXPECT_EQ(content(), "one\ntwo\n");
  EXPECT_EQ(log->missing(), 0U);
}

TEST_F(DecisionLogTest, SaysOnceThatItCannotBeWrittenAndCountsWhatIsMissing) {
  auto log = DecisionLog::create(path_);
  ASSERT_TRUE(log.has_value());
  EXPECT_TRUE(log->append("one\n").has_value());
  {
    const FileLimit full(10);
    const auto written = log->append("a line that is too long\n");
    ASSERT_FALSE(written.has_value());
    EXPECT_THAT(written.error().message, HasSubstr("cannot be written: File too large"));
    EXPECT_TRUE(log->append("two\n").has_value()) << "it was said";
  }
  EXPECT_TRUE(log->append("three\n").has_value());
  EXPECT_EQ(log->missing(), 3U);
  // The reader passes over a last line without its line break.
  EXPECT_THAT(content(), StartsWith("one\na line"));
  EXPECT_EQ(content().find('\n'), content().rfind('\n'));
}

/// Root could remove /dev/null.
TEST_F(DecisionLogTest, RemovesNothingButFiles) {
  const std::string link = folder_ / "link";
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::filesystem::create_symlink(path_, link);
  const std::string folder = folder_ / "folder";
  std::filesystem::create_directory(folder);
  for (const std::string& path : {path_, link, folder}) {
    const auto log = DecisionLog::create(path);
    ASSERT_FALSE(log.has_value()) << path;
    EXPECT_THAT(log.error().message, HasSubstr("it is no regular file"));
  }
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_directory(folder));
}

TEST_F(DecisionLogTest, NeedsAFolder) {
  const auto log = DecisionLog::create(folder_ / "missing" / "decisions.jsonl");
  ASSERT_FALSE(log.has_value());
  EXPECT_THAT(log.error().message, HasSubstr("cannot be written: No such file or directory"));
}

}  // namespace
}  // namespace takt::manager
