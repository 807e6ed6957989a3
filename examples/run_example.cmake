# Runs PROGRAM with ARGUMENTS and says its exit code, which a regular expression of ctest can look at.
execute_process(COMMAND "${PROGRAM}" ${ARGUMENTS} RESULT_VARIABLE code)
message("exit code ${code}")
