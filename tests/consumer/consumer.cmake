# cmake -D MODE=install|cmake|pkg_config -D … -P consumer.cmake
#
# install: installs BUILD into PREFIX, which is emptied first. cmake and pkg_config: build and run the consumer
# against PREFIX with COMPILER and FLAGS, in WORK.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result COMMAND_ECHO STDOUT)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${result}")
  endif()
endfunction()

if(MODE STREQUAL "install")
  file(REMOVE_RECURSE "${PREFIX}")
  run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}")
  file(GLOB_RECURSE headers LIST_DIRECTORIES false "${PREFIX}/include/*")
  foreach(header ${headers})
    if(IS_SYMLINK "${header}" OR header MATCHES "/internal/")
      message(FATAL_ERROR "${header} should not be installed")
    endif()
  endforeach()
  return()
endif()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
if(MODE STREQUAL "cmake")
  run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK}" -G Ninja "-DCMAKE_PREFIX_PATH=${PREFIX}"
      "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}")
  run("${CMAKE_COMMAND}" --build "${WORK}")
else()
  set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${LIBDIR}/pkgconfig")
  execute_process(COMMAND pkg-config --static --cflags --libs troupe OUTPUT_VARIABLE words
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${words}")
  separate_arguments(flags UNIX_COMMAND "${FLAGS}")
  run("${COMPILER}" ${flags} "${CMAKE_CURRENT_LIST_DIR}/main.cpp" -o "${WORK}/consumer" ${words})
endif()
run("${WORK}/consumer")
