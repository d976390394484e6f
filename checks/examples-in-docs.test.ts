import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { endpoints } from '@roost/contracts'
import { z } from 'zod'
import { type Example, examplesOf, parseAbridged, responseProblems } from './examples-in-docs.ts'
import { isServed } from './named-interfaces.ts'

const docs = join(import.meta.dirname, '../docs')
const pages = ['how-to', 'operate'].flatMap((folder) =>
  readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
)

function problemsOf({ method, path, body, response }: Example): string[] {
  const served = endpoints.filter((each) => isServed({ method, path }, [each]))
  // A name can be equal to a word of another path: the one with fewer names is meant.
  const endpoint = served.toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)[0]
  if (!endpoint) return [`${method} ${path} does not exist`]
  const problems: string[] = []
  if (body !== undefined && endpoint.body) {
    const read = endpoint.body.safeParse(JSON.parse(body))
    for (const issue of read.error?.issues ?? [])
      problems.push(`body: ${issue.path.join('.')} ${issue.message}`)
  }
  if (response !== undefined && endpoint.returns)
    problems.push(...responseProblems(endpoint.returns, parseAbridged(response)))
  return problems
}

for (const page of pages) {
  const examples = examplesOf(readFileSync(join(docs, page), 'utf8'))
  if (examples.length === 0) continue
  test(`${page}: requests and responses match the contracts`, () => {
    assert.deepEqual(
      examples.flatMap((each) => problemsOf(each).map((problem) => `line ${each.line}: ${problem}`)),
      [],
    )
  })
}

test('most pages show requests, bodies and responses', () => {
  const all = pages.flatMap((page) => examplesOf(readFileSync(join(docs, page), 'utf8')))
  const bodies = all.filter(({ body }) => body !== undefined)
  const responses = all.filter(({ response }) => response !== undefined)
  assert.ok(
    all.length > 80 && bodies.length > 40 && responses.length > 40,
    `${[all.length, bodies.length, responses.length]}`,
  )
})

const page = [
  '```sh',
  'curl -s $URL/api/agents -H "authorization: Bearer $TOKEN"',
  "curl -s $URL/api/agents/scout/chat -H 'x: y' \\",
  '  -d \'{"message": "hi"}\'',
  'curl -s $URL/api/agents | jq .',
  '```',
  '',
  '```json',
  '[{"name":"scout", …}]',
  '{"status": …}',
  '```',
].join('\n')

test('requests of a shell block have the lines of the block that follows', () => {
  assert.deepEqual(
    examplesOf(page).map(({ method, path, body, response }) => [method, path, body, response]),
    [
      ['GET', '/api/agents', undefined, '[{"name":"scout", …}]'],
      ['POST', '/api/agents/scout/chat', '{"message": "hi"}', '{"status": …}'],
      ['GET', '/api/agents', undefined, undefined],
    ],
  )
})

test('an abridged response may leave out fields, but not invent them', () => {
  const schema = z.object({
    id: z.string(),
    state: z.enum(['on', 'off']),
    parts: z.array(z.object({ n: z.number() })),
  })
  const problems = (text: string) => responseProblems(schema, parseAbridged(text))
  assert.deepEqual(problems('{"id":"x…","state":"on", …}'), [])
  assert.deepEqual(problems('{"parts":[{"n":1}, …]}'), [])
  assert.deepEqual(problems('{"name":"x"}'), ['name does not exist'])
  assert.deepEqual(problems('{"state":"open"}'), ['state is not valid: "open"'])
  assert.deepEqual(problems('{"parts":[{"n":"1"}]}'), ['parts[0].n is not valid: "1"'])
})
