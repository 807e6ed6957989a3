// A C++ function as a tool. The struct of its arguments is the schema: what the model sends is checked against it before
// the function is called, and a mistake goes back to the model as a result that it can correct.
//
// The model is a C++ function as well, so the conversation is the same each time: its first call is wrong on purpose.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <exception>
#include <iostream>
#include <optional>
#include <string>

namespace {

struct convert_args {
  double degrees = 0;
  std::string to = "fahrenheit"; // has a default, so the model may leave it out
  std::optional<std::string> place;
};
TROUPE_FIELDS(convert_args, (degrees, "temperature"), (to, "fahrenheit or kelvin"),
              (place, "where it was measured"))

troupe::result<nlohmann::json> convert(const convert_args& in) {
  if (in.to == "fahrenheit")
    return nlohmann::json{{"degrees", in.degrees * 9 / 5 + 32}, {"unit", "°F"}};
  if (in.to == "kelvin")
    return nlohmann::json{{"degrees", in.degrees + 273.15}, {"unit", "K"}};
  return troupe::error{troupe::errc::bad_arguments,
                       "There is no unit '" + in.to + "'; use fahrenheit or kelvin."};
}

std::string last_text(const troupe::model_request& request) {
  for (const auto& part : request.contents.back()->parts)
    if (const auto* result = std::get_if<troupe::tool_result_part>(&part.value))
      return result->text;
  return {};
}

troupe::model_response play(const troupe::model_request& request) {
  switch (request.turn) {
  case 0:
    return troupe::call_response("convert_temperature", {{"degrees", "warm"}}); // not a number
  case 1:
    return troupe::call_response("convert_temperature", {{"degrees", 21.5}});
  default: {
    const auto answer = nlohmann::json::parse(last_text(request));
    return troupe::text_response("21.5 °C is " + answer["degrees"].dump() + " " +
                                 answer["unit"].get<std::string>());
  }
  }
}

int run_it() {
  auto tool = troupe::tool("convert_temperature", "Converts degrees Celsius.", {.read_only = true}, convert);
  std::cout << "The schema that the model sees:\n" << tool->parameters.dump(2) << "\n\n";

  troupe::runtime rt;
  rt.add_model("rules", troupe::function_model(play));
  auto assistant = rt.create_deep_agent({.name = "assistant", .model = "rules", .tools = {tool}});
  auto run = assistant.run("How warm is that in Fahrenheit?");
  for (const auto& e : run)
    if (e.kind() == troupe::event_kind::tool_call || e.kind() == troupe::event_kind::tool_result)
      std::cout << troupe::to_line(e) << '\n';
  std::cout << run.outcome().text() << '\n';
  return run.outcome().completed() ? 0 : 1;
}

} // namespace

int main() {
  try {
    return run_it();
  } catch (const std::exception& e) {
    std::cerr << "custom_tool: " << e.what() << '\n';
    return 2;
  }
}
