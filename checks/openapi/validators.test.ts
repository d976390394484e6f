import assert from 'node:assert/strict'
import { test } from 'node:test'
import SwaggerParser from '@apidevtools/swagger-parser'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { wholeDocument } from './document.ts'

const document = wholeDocument()

test('swagger-parser accepts the document', async () => {
  await SwaggerParser.validate(structuredClone(document) as never)
})

test('redocly finds nothing', async () => {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // The names of the tags say enough.
      'tag-description': 'off',
      // Given by the interface specification; the router prefers the fixed part of a path.
      'no-ambiguous-paths': 'off',
      // Some reads take nothing that could be wrong.
      'operation-4xx-response': 'off',
    },
  })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  assert.deepEqual(
    problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
    [],
  )
})

test('spectral finds nothing', async () => {
  const linter = new spectral.Spectral()
  linter.setRuleset({
    // Its type is that of another version of the package.
    extends: [[rulesets.oas as never, 'all']],
    rules: {
      // An installation belongs to whoever runs it.
      'info-contact': 'off',
      // OpenAPI 3.1 has the identifier of the license instead.
      'license-url': 'off',
      // Tags have the order of the documentation.
      'openapi-tags-alphabetical': 'off',
      'tag-description': 'off',
      // Most parameters say by their name what they are.
      'oas3-parameter-description': 'off',
    },
  })
  const problems = await linter.run(structuredClone(document))
  assert.deepEqual(
    problems.map(({ code, message, path }) => `${code} ${path.join('/')}: ${message}`),
    [],
  )
})
