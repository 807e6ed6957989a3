// troupe: many LLM agents in one process. The one header that a program includes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/embed/editor_server.hpp>
#include <troupe/embed/model_check.hpp>
#include <troupe/embed/run.hpp>
#include <troupe/embed/runtime.hpp>
#include <troupe/embed/server.hpp>
#include <troupe/embed/session.hpp>
#include <troupe/messages/event.hpp>
#include <troupe/messages/outcome.hpp>
#include <troupe/runtime/definition.hpp>
#include <troupe/runtime/function_model.hpp>
#include <troupe/runtime/hooks.hpp>
#include <troupe/runtime/policy.hpp>
#include <troupe/runtime/typed_tool.hpp>
