// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/text_template.hpp>

#include <doctest/doctest.h>

using namespace troupe;

static std::string rendered(std::string_view text) {
  auto out = text_template::compile(text).render({{"a", "1"}, {"b", "${a}"}, {"_x9", ""}});
  return out ? *out : "error: " + out.failure().message;
}

TEST_CASE("placeholders are replaced once") {
  CHECK(rendered("${a} and ${b}, ${a}${_x9}.") == "1 and ${a}, 1.");
}

TEST_CASE("everything else stands for itself") {
  for (const char* text : {"", "$", "$a", "${", "${}", "${a", "${a b}", "${a-b}", "$(a)", "{a}", "100$"}) {
    CAPTURE(text);
    CHECK(rendered(text) == text);
  }
}

TEST_CASE("two dollars before a brace are a literal") {
  CHECK(rendered("$${a}") == "${a}");
  CHECK(rendered("$${PHASE} ${a}") == "${PHASE} 1");
  CHECK(rendered("$$${a}") == "$${a}");
  CHECK(rendered("$$a") == "$$a");
}

TEST_CASE("unknown names are told with their lines and what there is") {
  auto compiled = text_template::compile("one\n${file}\n${dat} ${file}");
  CHECK(compiled.placeholders() == std::vector<placeholder>{{"file", 2}, {"dat", 3}});
  std::vector<std::string> available{"date", "today"};
  CHECK(compiled.unknown(available).size() == 2);
  auto checked = compiled.check(std::vector<std::string>{"file", "date"}, 10);
  REQUIRE(!checked);
  CHECK(checked.failure().code == errc::bad_definition);
  CHECK(checked.failure().message == "Unknown placeholder ${dat} (line 12); available: \"file\", \"date\"."
                                     " Did you mean \"date\"? Write $${ for a literal ${.");
  CHECK(compiled.check(std::vector<std::string>{"file", "dat"}));
}

TEST_CASE("a missing value is an error") {
  CHECK(rendered("${nope}").find("Unknown placeholder ${nope}") != std::string::npos);
}
