// The server's description of itself is OpenAPI, as somebody else's validator reads it.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/http_server.hpp>

#include <doctest/doctest.h>

#include "interop/node.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe::test;

TEST_CASE("openapi.json is valid OpenAPI 3.1") {
  temporary_folder folder;
  if (!has_node(folder.path()))
    return;
  folder.write("openapi.json", troupe::net::openapi_text("1.0.0"));
  const auto ran = run_script(folder.path(), "openapi.cjs", {(folder.path() / "openapi.json").string()});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.out == "valid 3.1\n");
}
