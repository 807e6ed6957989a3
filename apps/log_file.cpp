// SPDX-License-Identifier: Apache-2.0
#include "log_file.hpp"

#include <troupe/embed/runtime.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/surface.hpp>

#include <nlohmann/json.hpp>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace troupe::cli {
namespace {

spdlog::level::level_enum to_spdlog(log_level level) {
  switch (level) {
  case log_level::debug:
    return spdlog::level::debug;
  case log_level::info:
    return spdlog::level::info;
  case log_level::warning:
    return spdlog::level::warn;
  case log_level::error:
    break;
  }
  return spdlog::level::err;
}

} // namespace

log_sink make_log(const std::string& path) {
  if (path.empty())
    return {};
  try {
    auto logger =
        std::make_shared<spdlog::logger>("troupe", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path));
    logger->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%f%z","level":"%l","message":%v})");
    logger->flush_on(spdlog::level::warn);
    return [logger](log_level level, std::string_view message) {
      logger->log(to_spdlog(level), dump_json(nlohmann::json(shown(message))));
    };
  } catch (const spdlog::spdlog_ex& e) {
    throw config_error{{errc::bad_config, "The log file " + path + " cannot be opened: " + e.what()}};
  }
}

} // namespace troupe::cli
