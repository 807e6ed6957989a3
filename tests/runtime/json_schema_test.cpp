// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_schema.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using json = nlohmann::json;

static json_schema compiled(const char* text, const schema_options& options = {}) {
  auto schema = json_schema::compile(json::parse(text), options);
  if (!schema)
    FAIL(schema.failure().message);
  return *schema;
}

namespace {
struct row {
  const char* schema;
  const char* value;
  bool valid;
};
} // namespace

static void check_rows(std::initializer_list<row> rows) {
  for (const auto& r : rows) {
    CAPTURE(r.schema);
    CAPTURE(r.value);
    auto schema = compiled(r.schema);
    CHECK(schema.valid(json::parse(r.value)) == r.valid);
    CHECK(schema.check(json::parse(r.value)).empty() == r.valid);
  }
}

static const char* const query_schema =
    R"({"type":"object","required":["sql"],"additionalProperties":false,"properties":
  {"sql":{"type":"string"},"limit":{"type":"integer","minimum":1},"verbose":{"type":"boolean"}}})";

TEST_CASE("issues name the place, what was expected and what was found") {
  auto schema = compiled(query_schema);
  CHECK(schema.check(json::parse(R"({"sql":"select 1","limit":5})")).empty());
  auto issues = schema.check(json::parse(R"({"limit":"ten","sqll":1})"));
  REQUIRE(issues.size() == 3);
  CHECK(to_string(issues[0]) == "at /limit: expected an integer, found the string \"ten\"");
  CHECK(to_string(issues[1]) ==
        "expected the property \"sql\", which is missing, found an object with \"limit\", \"sqll\"");
  CHECK(to_string(issues[2]).find("Did you mean \"sql\"?") != std::string::npos);
  auto failed = schema.validate(json::parse(R"({"sql":"x","limit":0})"));
  REQUIRE(!failed);
  CHECK(failed.failure().code == errc::bad_arguments);
  CHECK(failed.failure().message ==
        "Arguments: at /limit: expected a number of at least 1, found the number 0.");
}

TEST_CASE("pointers escape the names of members") {
  auto issues =
      compiled(R"({"additionalProperties":{"items":{"type":"null"}}})").check(json::parse(R"({"a/b~":[0]})"));
  REQUIRE(issues.size() == 1);
  CHECK(issues[0].pointer == "/a~1b~0/0");
}

TEST_CASE("the number of issues is bounded") {
  auto schema = compiled(R"({"items":{"type":"null"}})", {.max_issues = 3});
  CHECK(schema.check(json(std::vector<int>(1000))).size() == 3);
}

TEST_CASE("keywords of 2020-12") {
  check_rows({
      {R"({"prefixItems":[{"type":"integer"},{"type":"string"}],"items":false})", R"([1,"a"])", true},
      {R"({"prefixItems":[{"type":"integer"},{"type":"string"}],"items":false})", R"([1,"a",2])", false},
      {R"({"contains":{"const":1},"minContains":2,"maxContains":3})", "[1,2,1]", true},
      {R"({"contains":{"const":1},"minContains":2,"maxContains":3})", "[1,2]", false},
      {R"({"contains":{"const":1},"minContains":2,"maxContains":3})", "[1,1,1,1]", false},
      {R"({"contains":{"const":1},"minContains":0})", "[]", true},
      {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})", false},
      {R"({"dependentSchemas":{"a":{"required":["b"]}}})", R"({"a":1,"b":2})", true},
      {R"({"dependentSchemas":{"a":{"required":["b"]}}})", R"({"a":1})", false},
      {R"({"$ref":"#/$defs/n","maximum":3,"$defs":{"n":{"type":"integer"}}})", "4", false},
      {R"({"$ref":"#/$defs/n","maximum":3,"$defs":{"n":{"type":"integer"}}})", "3", true},
      {R"({"$defs":{"n":{"$anchor":"num","type":"integer"}},"$ref":"#num"})", "\"x\"", false},
      {R"({"$id":"http://x/a","$defs":{"n":{"$id":"b","type":"integer"}},"$ref":"b"})", "1", true},
      {R"({"$id":"http://x/a","$defs":{"n":{"$id":"b","type":"integer"}},"$ref":"http://x/b"})", "null",
       false},
      {R"({"if":{"type":"integer"},"then":{"minimum":5},"else":{"type":"string"}})", "4", false},
      {R"({"if":{"type":"integer"},"then":{"minimum":5},"else":{"type":"string"}})", "\"x\"", true},
      {R"({"type":["integer","null"]})", "1.0", true},
      {R"({"type":"integer"})", "1.5", false},
      {R"({"maximum":9007199254740992})", "9007199254740993", false},
      {R"({"maximum":18446744073709551615})", "18446744073709551615", true},
      {R"({"multipleOf":0.01})", "4.02", true},
      {R"({"multipleOf":0.0001})", "0.00751", false},
      {R"({"multipleOf":3})", "-9", true},
      {R"({"multipleOf":3})", "-10", false},
      {R"({"uniqueItems":true})", "[1,true,0,false,\"1\"]", true},
      {R"({"uniqueItems":true})", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]", false},
      {R"({"maxLength":2})", "\"\\u00fc\\u00df\"", true},
      {R"({"format":"email"})", "\"nobody\"", true},
      {"true", "1", true},
      {"false", "1", false},
      {"{}", "null", true},
  });
}

TEST_CASE("unevaluated members and items see through the applicators") {
  check_rows({
      {R"({"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false})", R"({"a":1})", true},
      {R"({"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false})", R"({"a":1,"b":2})", false},
      {R"({"anyOf":[{"properties":{"a":{"const":1}}},{"properties":{"b":true}}],"unevaluatedProperties":false})",
       R"({"a":2,"b":1})", false},
      {R"({"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":true}},
           "unevaluatedProperties":false})",
       R"({"a":1,"b":2})", true},
      {R"({"$ref":"#/$defs/x","unevaluatedProperties":false,"$defs":{"x":{"properties":{"a":true}}}})",
       R"({"a":1})", true},
      {R"({"allOf":[{"unevaluatedProperties":true}],"unevaluatedProperties":false})", R"({"z":1})", true},
      {R"({"not":{"not":{"properties":{"a":true}}},"unevaluatedProperties":false})", R"({"a":1})", false},
      {R"({"prefixItems":[true],"unevaluatedItems":false})", "[1]", true},
      {R"({"prefixItems":[true],"unevaluatedItems":false})", "[1,2]", false},
      {R"({"contains":{"type":"string"},"unevaluatedItems":{"type":"null"}})", R"(["a",null])", true},
      {R"({"contains":{"type":"string"},"unevaluatedItems":{"type":"null"}})", R"(["a",1])", false},
  });
}

TEST_CASE("a dynamic reference goes to the outermost schema that overrides it") {
  const char* schema = R"({"$id":"http://x/strings","$ref":"list",
    "$defs":{"item":{"$dynamicAnchor":"item","type":"string"},
             "list":{"$id":"list","type":"array","items":{"$dynamicRef":"#item"},
                     "$defs":{"item":{"$dynamicAnchor":"item"}}}}})";
  check_rows({{schema, R"(["a"])", true}, {schema, "[1]", false}});
}

TEST_CASE("the spellings of draft 7 are accepted") {
  check_rows({
      {R"({"items":[{"type":"integer"}],"additionalItems":false})", "[1,2]", false},
      {R"({"dependencies":{"a":["b"],"c":{"required":["d"]}}})", R"({"c":1})", false},
      {R"({"$ref":"#/definitions/n","definitions":{"n":{"type":"integer"}}})", "1.5", false},
      {R"({"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/n","maximum":1,
           "definitions":{"n":{"type":"integer"}}})",
       "5", true},
  });
}

TEST_CASE("bad schemas are refused with the place") {
  struct bad {
    const char* schema;
    const char* part;
  };
  for (const auto& b :
       {bad{"1", "its root"}, bad{R"({"type":"strin"})", "/type"},
        bad{R"({"properties":{"a":{"type":3}}})", "/properties/a/type"},
        bad{R"({"properties":[]})", "/properties"}, bad{R"({"required":"a"})", "/required"},
        bad{R"({"minLength":-1})", "/minLength"}, bad{R"({"minimum":"1"})", "/minimum"},
        bad{R"({"multipleOf":0})", "/multipleOf"}, bad{R"j({"pattern":"(?=a)"})j", "look-around"},
        bad{R"j({"pattern":"("})j", "/pattern"}, bad{R"({"enum":1})", "/enum"},
        bad{R"({"$ref":"http://example.com/s"})", "nothing is fetched"},
        bad{R"({"$ref":"#/$defs/none"})", "leads to nothing"}, bad{R"({"$ref":"#nowhere"})", "anchor"},
        bad{R"({"anyOf":[]})", "/anyOf"}, bad{R"({"not":1})", "/not"},
        bad{R"({"uniqueItems":1})", "/uniqueItems"}}) {
    CAPTURE(b.schema);
    auto schema = json_schema::compile(json::parse(b.schema));
    REQUIRE(!schema);
    CHECK(schema.failure().code == errc::bad_schema);
    CAPTURE(schema.failure().message);
    CHECK(schema.failure().message.find(b.part) != std::string::npos);
  }
}

TEST_CASE("recursive schemas end with an error and never overflow the stack") {
  for (const char* text : {R"({"$ref":"#"})", R"({"allOf":[{"$ref":"#"}]})", R"({"not":{"$ref":"#"}})",
                           R"({"anyOf":[true,{"$ref":"#"}],"oneOf":[{"$ref":"#"},{"$ref":"#"}]})"}) {
    CAPTURE(text);
    auto schema = compiled(text);
    CHECK_FALSE(schema.valid(1));
    CHECK(schema.check(1).size() == 1);
  }
  auto tree = compiled(R"({"properties":{"next":{"$ref":"#"}},"additionalProperties":false})");
  json list = json::object();
  for (int i = 0; i < 50; ++i)
    list = json{{"next", std::move(list)}};
  CHECK(tree.valid(list));
  for (int i = 0; i < 300; ++i)
    list = json{{"next", std::move(list)}};
  CHECK_FALSE(tree.valid(list));
}

TEST_CASE("depth, size and work are bounded") {
  json deep = true;
  for (int i = 0; i < 100; ++i)
    deep = json{{"not", std::move(deep)}};
  CHECK_FALSE(json_schema::compile(deep));
  json wide;
  for (int i = 0; i < 200; ++i)
    wide["properties"]["p" + std::to_string(i)] = true;
  CHECK_FALSE(json_schema::compile(wide, {.max_nodes = 100}));
  auto schema = compiled(R"({"items":{"type":"integer"}})", {.max_steps = 100});
  CHECK(schema.valid(json(std::vector<int>(50))));
  CHECK_FALSE(schema.valid(json(std::vector<int>(200))));
  // Each level doubles the work.
  json doubling = {{"$defs", {{"s0", {{"type", "integer"}}}}}};
  for (int i = 1; i < 40; ++i) {
    auto ref = json{{"$ref", "#/$defs/s" + std::to_string(i - 1)}};
    doubling["$defs"]["s" + std::to_string(i)] = {{"allOf", {ref, ref}}};
  }
  doubling["$ref"] = "#/$defs/s39";
  auto bomb = json_schema::compile(doubling);
  REQUIRE(bomb);
  CHECK_FALSE(bomb->valid(1));
}

TEST_CASE("alternatives say why none fits") {
  auto issues = compiled(R"({"anyOf":[{"type":"string"},{"type":"object","required":["a"]}]})").check(1);
  REQUIRE(issues.size() == 1);
  CHECK(issues[0].expected == "one of 2 alternatives (a string; an object)");
  CHECK(compiled(R"({"oneOf":[{"type":"integer"},{"minimum":0}]})").check(1)[0].expected ==
        "exactly one of 2 alternatives, but 2 match");
}

TEST_CASE("what stands in a property for secrets is not quoted when it does not fit") {
  auto schema = json_schema::compile(nlohmann::json::parse(
      R"({"type":"object","properties":{"passphrase":{"maxLength":3},"auth":{"properties":{"api_key":{"type":"integer"}}},
          "city":{"maxLength":3}}})"));
  REQUIRE(schema);
  for (const char* value : {R"({"passphrase":"hunter2 hunter2"})", R"({"auth":{"api_key":"hunter2"}})"}) {
    const auto refused = schema->validate(nlohmann::json::parse(value), errc::bad_arguments, "The arguments");
    REQUIRE_FALSE(refused);
    CHECK(refused.failure().message.find("hunter2") == std::string::npos);
  }
  const auto shown =
      schema->validate(nlohmann::json{{"city", "Paris"}}, errc::bad_arguments, "The arguments");
  CHECK(shown.failure().message.find("Paris") != std::string::npos);
}
