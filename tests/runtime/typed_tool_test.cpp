// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_schema.hpp>
#include <troupe/runtime/typed_tool.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using json = nlohmann::json;

namespace shop {

struct query_args {
  std::string sql;
  int limit = 100;
};
TROUPE_FIELDS(query_args, (sql, "read-only SQL"), (limit, "most rows to return"))

struct point {
  double x = 0;
  double y = 0;
};
TROUPE_FIELDS(point, (x, ""), (y, ""))

struct everything {
  bool flag = true;
  std::uint8_t small = 7;
  std::uint64_t large = 0;
  std::int64_t wide = -1;
  std::optional<std::string> note;
  std::vector<point> path;
  std::map<std::string, int> counts;
  point at;
  json any;
};
TROUPE_FIELDS(everything, (flag, "a, b"), (small, ""), (large, ""), (wide, ""), (note, ""), (path, ""),
              (counts, ""), (at, "(where)"), (any, ""))

struct many {
  int a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1, i = 1, j = 1, k = 1, l = 1, m = 1, n = 1, o = 1,
      p = 1, q = 1, r = 1, s = 1, t = 1, u = 1, v = 1, w = 1, x = 1;
};
TROUPE_FIELDS(many, (a, ""), (b, ""), (c, ""), (d, ""), (e, ""), (f, ""), (g, ""), (h, ""), (i, ""), (j, ""),
              (k, ""), (l, ""), (m, ""), (n, ""), (o, ""), (p, ""), (q, ""), (r, ""), (s, ""), (t, ""),
              (u, ""), (v, ""), (w, ""), (x, ""))

} // namespace shop

static tool_result call(const tool_ptr& tool, const json& arguments) {
  tool_context context;
  context.notes = std::make_shared<agent_notes>();
  context.agent_name = "tester";
  return tool->run(arguments, context);
}

TEST_CASE("a struct gives the schema of its arguments") {
  CHECK(schema_of<shop::query_args>() ==
        json::parse(R"({"type":"object","required":["sql"],"additionalProperties":false,
    "properties":{"sql":{"type":"string","description":"read-only SQL"},
      "limit":{"type":"integer","minimum":-2147483648,"maximum":2147483647,"default":100,
               "description":"most rows to return"}}})"));
  auto schema = schema_of<shop::everything>();
  CHECK(schema["required"] == json{"large", "path", "counts", "at", "any"});
  CHECK(schema["properties"]["small"]["maximum"] == 255);
  CHECK(schema["properties"]["large"] == json{{"type", "integer"}, {"minimum", 0}});
  CHECK(schema["properties"]["path"]["items"]["required"] == json{"x", "y"});
  CHECK(schema["properties"]["at"]["description"] == "(where)");
  CHECK(schema["properties"]["counts"]["additionalProperties"]["type"] == "integer");
  CHECK(json_schema::compile(schema));
  CHECK(schema_of<shop::many>()["properties"].size() == 24);
}

TEST_CASE("arguments are read, and defaults stay") {
  auto query = tool("query", "Runs a query.",
                    [](const shop::query_args& a) { return a.sql + ":" + std::to_string(a.limit); });
  CHECK(query->name == "query");
  CHECK(query->parameters == schema_of<shop::query_args>());
  CHECK(call(query, {{"sql", "x"}}).text == "x:100");
  CHECK(call(query, {{"sql", "x"}, {"limit", 5.0}}).text == "x:5");
}

TEST_CASE("bad arguments are a failed result that says what is wrong") {
  auto query = tool("query", "", [](const shop::query_args&) { return "never"; });
  struct row {
    const char* arguments;
    const char* message;
  };
  for (auto [arguments, message] :
       {row{"[]", "expected an object, found []"},
        row{"{}", "expected the property \"sql\", which is missing"},
        row{R"({"sql":1})", "/sql: expected a string, found 1"},
        row{R"({"sql":"","limit":5000000000})", "/limit: expected an integer from -2147483648 to 2147483647"},
        row{R"({"sql":"","limit":1.5})", "/limit: expected an integer"},
        row{R"({"sql":"","limit":"5"})", "/limit: expected an integer"},
        row{R"({"sql":"","limt":5})", "Did you mean \"limit\"?"}}) {
    const auto& tried = arguments;
    CAPTURE(tried);
    auto result = call(query, json::parse(arguments));
    CHECK(result.failed == errc::bad_arguments);
    CAPTURE(result.text);
    CHECK(result.text.find(message) != std::string::npos);
  }
}

TEST_CASE("all field types go there and back") {
  shop::everything value;
  auto in = json::parse(R"({"flag":false,"small":255,"large":18446744073709551615,"wide":-9223372036854775808,
    "note":"n","path":[{"x":1,"y":2.5}],"counts":{"a":1},"at":{"x":0,"y":0},"any":[null]})");
  CHECK(field_from_json(in, value).empty());
  CHECK(value.path.at(0).y == 2.5);
  CHECK(field_to_json(value) == in);
  CHECK(json_schema::compile(schema_of<shop::everything>())->valid(in));
  for (auto [key, bad] : {std::pair{"small", json(256)},
                          {"small", json(-1)},
                          {"large", json(-1)},
                          {"large", json(1e30)},
                          {"wide", json(9223372036854775808U)},
                          {"flag", json(1)},
                          {"note", json(1)},
                          {"path", json::object()},
                          {"counts", json::array()},
                          {"at", json{{"x", 1}}}}) {
    const auto& tried = key;
    CAPTURE(tried);
    auto broken = in;
    broken[key] = bad;
    CHECK(field_from_json(broken, value).starts_with(std::string{"/"} + key));
  }
  in["note"] = nullptr;
  CHECK(field_from_json(in, value).empty());
  CHECK_FALSE(value.note);
}

TEST_CASE("functions of every shape are tools") {
  CHECK(call(tool("a", "", [] { return 42; }), json::object()).text == "42");
  CHECK(call(tool("b", "", [](tool_context& c) { return c.agent_name; }), json::object()).text == "tester");
  CHECK(call(tool("c", "", [](const json& j) { return j; }), {{"k", 1}}).text == R"({"k":1})");
  CHECK(call(tool("d", "", [](const json&, tool_context&) {}), json::object()).text == "done");
  CHECK(
      call(tool("e", "", [](const shop::point& p, tool_context&) { return p; }), {{"x", 1}, {"y", 2}}).text ==
      R"({"x":1.0,"y":2.0})");
  auto fails = tool("f", "", {.read_only = true}, []() -> result<int> {
    return {errc::not_found, "No such row."};
  });
  CHECK(fails->annotations.read_only);
  CHECK(call(fails, json::object()).failed == errc::not_found);
  CHECK(call(tool("g", "", [] { return tool_result::failure(errc::denied, "no"); }), {}).failed ==
        errc::denied);
  CHECK(call(tool("h", "", []() -> std::string_view { return "view"; }), {}).text == "view");
  CHECK(call(tool("i", "", []() -> status { return ok(); }), {}).text == "done");
  CHECK(call(tool("j", "", [] { return std::vector<int>{1, 2}; }), {}).text == "[1,2]");
  auto counted = tool("k", "", [n = 0]() mutable { return ++n; });
  CHECK(call(counted, {}).text == "1");
}

TEST_CASE("a tool may bring its own schema") {
  auto own = json_tool("own", "", json{{"type", "object"}, {"required", {"a"}}},
                       [](const json& j) { return j["a"]; });
  CHECK(own->parameters["required"][0] == "a");
  CHECK(call(own, {{"a", "text"}}).text == "\"text\"");
}
