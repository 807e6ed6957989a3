// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/content.hpp>
#include <troupe/messages/error.hpp>
#include <troupe/messages/ids.hpp>
#include <troupe/messages/outcome.hpp>
#include <troupe/messages/result.hpp>

#include <doctest/doctest.h>

#include <set>
#include <thread>

using namespace troupe;

TEST_CASE("every code has a name of its own, a sentence and a way back") {
  std::set<std::string_view> names;
  int codes = 0;
  for (int n = 1; n < 256; ++n) {
    const auto code = static_cast<errc>(n);
    const auto back = errc_from_string(to_string(code));
    REQUIRE(back.has_value());
    if (*back != code)
      continue; // no code has this number
    ++codes;
    CHECK(names.insert(to_string(code)).second);
    CHECK(describe(code).ends_with("."));
  }
  CHECK(codes == 48);
  CHECK(static_cast<int>(errc::max_turns) == 40); // numbers are stored: they never change
  CHECK(static_cast<int>(errc::model_auth) == 60);
}

TEST_CASE("ids take and give their parts, and refuse other forms") {
  CHECK(make_call_id(3, 2, 1) == call_id{"c3-2-1"});
  session_id session;
  agent_number number = 0;
  CHECK(split_agent_id(agent_id{"a/b/17"}, session, number));
  CHECK(session == session_id{"a/b"});
  CHECK(number == 17);
  CHECK(!split_agent_id(agent_id{"nothing"}, session, number));
  CHECK(!split_agent_id(agent_id{"s/x"}, session, number));
  CHECK(agent_of_call(call_id{"c12-0-3"}, number));
  CHECK(number == 12);
  CHECK(!agent_of_call(call_id{"call_12"}, number));
  CHECK(valid_session_id("s-1_x.y:z"));
  CHECK(!valid_session_id(""));
  CHECK(!valid_session_id("a/b"));
  CHECK(make_session_id() != make_session_id());
}

TEST_CASE("an encoded form is made once for a protocol, by however many threads") {
  content c = make_text(role::user, "x");
  int first = 0;
  int second = 0;
  std::atomic<int> made{0};
  auto get = [&] {
    return c.encoded.get(&first, [&] {
      ++made;
      return std::string{"form"};
    });
  };
  {
    std::jthread other{[&] { CHECK(*get() == "form"); }};
    CHECK(*get() == "form");
  }
  const int before = made;
  CHECK(*get() == "form");
  CHECK(made == before);
  CHECK(*c.encoded.get(&second, [] { return std::string{"other"}; }) == "other");
  CHECK(*get() == "form");
}

TEST_CASE("outcomes survive their JSON form") {
  for (const auto& o :
       {outcome::make_completed("t", nlohmann::json{{"a", 1}}), outcome::make_failed(errc::budget, "d", "p"),
        outcome::make_recovered(errc::timeout, "d", "t"), outcome::make_cancelled("user", "p")}) {
    CHECK(nlohmann::json(o).get<outcome>() == o);
  }
}
