// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/tool_names.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using names = std::vector<std::string>;

static const names available{"read_file", "write_file", "mcp_git_log", "mcp_git_diff", "mcp_my_server_ping"};

TEST_CASE("entries of a tool list select names") {
  struct row {
    names entries, selected, unmatched;
  };
  for (const auto& r :
       {row{{"*"}, available, {}}, row{{"mcp_*"}, {"mcp_git_log", "mcp_git_diff", "mcp_my_server_ping"}, {}},
        row{{"mcp_git_*"}, {"mcp_git_log", "mcp_git_diff"}, {}},
        row{{"mcp_my_server_*"}, {"mcp_my_server_ping"}, {}},
        row{{"write_file", "read_file", "read_file"}, {"read_file", "write_file"}, {}},
        row{{"read_*", "nope"}, {}, {"read_*", "nope"}},
        row{{"mcp_hg_*", "read_file"}, {"read_file"}, {"mcp_hg_*"}}, row{{}, {}, {}}}) {
    auto selection = select_tools(r.entries, available);
    CHECK(selection.names == r.selected);
    CHECK(selection.unmatched == r.unmatched);
  }
}

TEST_CASE("entries are checked for their form") {
  for (const char* good : {"*", "mcp_*", "mcp_a_*", "mcp_my_server_*", "read_file", "mcp_a_b", "x.y:z-1"}) {
    CAPTURE(good);
    CHECK(is_valid_tool_entry(good));
  }
  for (const char* bad : {"", "read_*", "**", "mcp_*_x", "mcp__*", "*x", "a b", "mcp_a*", "\xC3\xBC"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_valid_tool_entry(bad));
  }
}

TEST_CASE("globs match whole texts") {
  CHECK(glob_match("*", ""));
  CHECK(glob_match("write_*", "write_file"));
  CHECK(glob_match("*_file", "write_file"));
  CHECK(glob_match("a*b*c", "a123b45c"));
  CHECK(glob_match("a?c", "abc"));
  CHECK_FALSE(glob_match("write_*", "rewrite_x"));
  CHECK_FALSE(glob_match("", "x"));
  CHECK_FALSE(glob_match("a?c", "ac"));
  CHECK_FALSE(glob_match(std::string(50, '*') + "b", std::string(2000, 'a')));
}

TEST_CASE("a typing error finds the nearest name") {
  CHECK(nearest_name("raed_file", available) == "read_file");
  CHECK(nearest_name("readfile", available) == "read_file");
  CHECK(nearest_name("mcp_git_dif", available) == "mcp_git_diff");
  CHECK_FALSE(nearest_name("compile", available));
  CHECK_FALSE(nearest_name("", available));
  CHECK_FALSE(nearest_name(std::string(500, 'a'), available));
  CHECK(did_you_mean("read_fil", available) == " Did you mean \"read_file\"?");
  CHECK(did_you_mean("zzz", available).empty());
}

TEST_CASE("lists of names stay short") {
  CHECK(list_names(names{}) == "none");
  CHECK(list_names(available, 2) == "\"read_file\", \"write_file\" and 3 more");
}
