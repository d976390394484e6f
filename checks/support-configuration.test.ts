/** The support bundle shows values of variables that exist and hold no secret. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressVariables, shownVariables } from '../cli/src/support/configuration.ts'
import { type Variable, variables } from '../server/src/config-variables.ts'

const known = Object.values<Variable<unknown>>(variables)

test('every variable in the lists exists', () => {
  const names = known.flatMap(({ name, alias }) => [name, alias])
  for (const name of [...shownVariables, ...addressVariables]) assert.ok(names.includes(name), name)
})

test('no variable whose value the platform treats as a secret is shown as it is', () => {
  const samples = ['x'.repeat(40), 'a'.repeat(64), 'postgres://u:p@h/d', 'https://u:p@h', 'smtp://u:p@h']
  const isSecret = ({ parse }: Variable<unknown>) =>
    samples.some((sample) => {
      try {
        const value = parse(sample)
        return typeof value === 'object' && value !== null && 'reveal' in value
      } catch {
        return false
      }
    })
  const secret = known.filter(isSecret).map(({ name }) => name)
  assert.ok(secret.includes('ROOST_DATABASE_URL') && secret.includes('ROOST_METRICS_TOKEN'), secret.join())
  assert.deepEqual(
    secret.filter((name) => shownVariables.includes(name)),
    [],
  )
})
