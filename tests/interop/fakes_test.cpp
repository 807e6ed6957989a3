// The fake services of the tests answer as the real ones do: the services' own clients take it.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <sstream>

#include "interop/node.hpp"
#include "support/fake_services.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe::test;
using nlohmann::json;

TEST_CASE("the services' own clients talk to the fake services") {
  temporary_folder folder;
  if (!has_node(folder.path()))
    return;
  const fake_answer said{"I think.", "Hello ü", {{"f", {{"x", 1}}}, {"g", json::object()}}};
  test_server server([&](const seen_request& request) { return fake_reply(request, said); });
  const auto ran = run_script(folder.path(), "fakes.cjs", {server.url()});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  std::istringstream lines(ran.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CAPTURE(line);
    const auto seen = json::parse(line);
    CHECK(seen["text"] == said.text);
    CHECK(seen.value("thought", said.thought) == said.thought);
    CHECK(seen["calls"] == json::parse(R"([["id_0","f",{"x":1}],["id_1","g",{}]])"));
    CHECK(seen["tokens"] == json::array({10, 5}));
  }
  CHECK(count == 8);
}
