import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { partsOf } from './slim-contracts.ts'

const contract = `
import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams } from '../kit/primitives.ts'
const path = (last) => \`/api/agents/\${last}\`
const read = { method: 'GET', params: AgentParams, fails: ['agent_not_found'] }
export const kinds = ['daily', 'weekly']
const Kind = z.enum(kinds)
export const Plan = z.object({ kind: Kind })
export const isPlan = (value) => Plan.safeParse(value).success
export const getPlan = endpoint({ ...read, id: 'getPlan', path: path('plan'), returns: Plan })
export const putPlan = endpoint({ method: 'PUT', path: path('plan'), bodyKind: 'form', body: Plan, fails: [] })
`

test('endpoint calls and constants are separate from schemas', () => {
  const { plain, schemas } = partsOf(contract, './plan.ts?plain')
  const exportedBy = (code: string) => [...code.matchAll(/export const (\w+)/g)].map(([, name]) => name)
  assert.deepEqual(exportedBy(plain), ['path', 'read', 'kinds', 'getPlan', 'putPlan'])
  assert.deepEqual(exportedBy(schemas), ['Plan', 'isPlan'])
  assert.match(schemas, /import \{ path, read, kinds, getPlan, putPlan \} from '\.\/plan\.ts\?plain'/)
  assert.match(schemas, /export \{ kinds, getPlan, putPlan \}/)
  for (const word of ['Plan }', 'z.', 'fails', 'params:', 'AgentParams,']) {
    assert.ok(!plain.includes(word), `${word} remains in:\n${plain}`)
  }
})

test('every endpoint keeps its method, path and body kind in the build', async () => {
  const root = new URL('../../contracts/src/', import.meta.url)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  // The same modules under other addresses, as the build transforms them.
  using _hooks = slimUnder('slim')
  let calls = 0
  for (const file of files.filter((each) => !each.endsWith('.test.ts'))) {
    const whole: Module = await import(new URL(file, root).href)
    const slim: Module = await import(new URL(`${file}?slim`, root).href)
    assert.deepEqual(Object.keys(slim).sort(), Object.keys(whole).sort(), file)
    for (const [name, value] of Object.entries(whole)) {
      if (!isEndpoint(value)) continue
      calls += 1
      assert.deepEqual(callOf(slim[name]), callOf(value), `${file} ${name}`)
    }
  }
  assert.ok(calls > 100)
})

type Module = Record<string, unknown>
type Call = Pick<Endpoint, 'method' | 'path' | 'bodyKind'>

function isEndpoint(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'tag' in value
}

function callOf(value: unknown): Call {
  // The other build has an endpoint under the same name.
  const { method, path, bodyKind } = value as Call
  return { method, path, bodyKind }
}

function slimUnder(mark: string): Disposable {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      if (!context.parentURL?.includes(`?${mark}`) || !found.url.includes('/contracts/src/')) return found
      const isPlain = found.url.includes('?plain')
      return { ...found, url: `${found.url.split('?')[0]}?${mark}${isPlain ? '-plain' : ''}` }
    },
    load(url, context, next) {
      const [file = '', search] = url.split('?')
      if (!search?.startsWith(mark)) return next(url, context)
      const code = stripTypeScriptTypes(readFileSync(fileURLToPath(file), 'utf8'))
      const { plain, schemas } = partsOf(code, `${file}?plain`)
      return { format: 'module', source: search.endsWith('plain') ? plain : schemas, shortCircuit: true }
    },
  })
  return { [Symbol.dispose]: () => hooks.deregister() }
}
