// Checks a description of an API against the schema of its OpenAPI version, and that its references lead somewhere.
//
// Usage: node openapi.cjs FILE. Prints "valid VERSION".
//
// SPDX-License-Identifier: Apache-2.0
'use strict';

const { pathToFileURL } = require('node:url');

async function main() {
  const { Validator } = await import(pathToFileURL(require.resolve('@seriousme/openapi-schema-validator')).href);
  const validator = new Validator();
  const result = await validator.validate(process.argv[2]);
  if (!result.valid)
    throw new Error(JSON.stringify(result.errors, null, 2));
  validator.resolveRefs();
  console.log('valid ' + validator.version);
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
