/**
 * Every page at the widths of a desk and of a phone in both themes: axe-core, no sideways scroll, and a picture. The tabs
 * of an agent are in `every-agent-tab.test.ts`.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Loose } from '../acceptance/platform.ts'
import { chat, createAgent } from '../acceptance/steps.ts'
import { type Bench, openBench } from './bench.ts'
import { reportFailure } from './evidence.ts'
import { openDemoBench, openPageReviewer, type PagePath, reviewerOf } from './page-pictures.ts'

const web = resolve(import.meta.dirname, '../../web/src')
const agent = 'demo-digest'
const sources = {
  router: await readFile(join(web, 'router.tsx'), 'utf8'),
  settings: await readFile(join(web, 'pages/settings.tsx'), 'utf8'),
  agents: await readFile(join(web, 'pages/agents-tabs.tsx'), 'utf8'),
  inbox: await readFile(join(web, 'pages/inbox-tabs.ts'), 'utf8'),
  library: await readFile(join(web, 'pages/library-tabs.ts'), 'utf8'),
}
const tabsOf = (page: 'settings' | 'agents' | 'inbox' | 'library'): PagePath[] =>
  [...sources[page].matchAll(/^ {4}id: '([a-z-]+)'/gm)].map(([, id]) => ({
    name: `${page}-${id}`,
    route: `/${page}`,
    path: `/${page}?tab=${id}`,
  }))
const one = (route: string, path = route): PagePath => ({
  name: path === '/' ? 'home' : path.slice(1).replaceAll('/', '-'),
  route,
  path,
})

/** The pages of a signed-in admin whose addresses are known before the platform starts. */
const fixed: PagePath[] = [
  ...['/', '/runs', '/schedules', '/costs', '/people', '/keys', '/audit', '/account', '/m'].map((path) =>
    one(path),
  ),
  ...tabsOf('agents'),
  ...tabsOf('inbox'),
  ...tabsOf('library'),
  ...tabsOf('settings'),
  one('/shared'),
  one('/workspace'),
  one('/inbox', '/workspace/inbox'),
  one('/a/$agent', `/workspace/a/${agent}`),
  one('/agents/$name/attempts', `/agents/${agent}/attempts`),
  one('/help/$', '/help/how-to/home'),
  one('/docs/{-$operation}', '/docs'),
]
/** The addresses that are found on the platform, or that only people who are not signed in see. */
const found = [
  '/agents/$name/executions/$id',
  '/agents/$name/executions/$id/compare/$other',
  '/executions/$id',
  '/c/$id',
  '/chat/$token',
  '/canvas/s/$token',
  '/login',
  '/setup',
]
/** Other tests look at these. A shared conversation needs a second account: `conversations.test.ts`. */
const elsewhere = ['/shared/$id', '/agents/$name', '/agents/$name/attempts/$set']
/** It redirects. */
const former = ['/operations']

test('every address of the router is visited', () => {
  const routes = [...sources.router.matchAll(/path: '([^']+)'/g)].map(([, path = '']) => path)
  assert.ok(routes.length > 25)
  const visited = new Set([...fixed.map(({ route }) => route), ...found, ...elsewhere, ...former])
  assert.deepEqual(
    routes.filter((path) => !visited.has(path)),
    [],
  )
  for (const page of ['settings', 'agents', 'inbox', 'library'] as const)
    assert.ok(tabsOf(page).length > 1, page)
})

describe('a platform that nobody has set up', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench({ password: false, env: { ROOST_CONTAINERS_URL: 'fake:' } })
  })
  after(() => bench?.[Symbol.asyncDispose]())
  afterEach((context) => reportFailure(bench, context))

  test('setup', async () => {
    const { look, close } = await openPageReviewer(bench, null)
    await look(one('/setup'))
    await close()
  })
})

describe('the demo', () => {
  let bench: Bench
  let look: ReturnType<typeof reviewerOf>
  before(async () => {
    bench = await openDemoBench()
    look = reviewerOf(bench)
  })
  after(() => bench?.[Symbol.asyncDispose]())
  afterEach((context) => reportFailure(bench, context))

  for (const page of fixed) test(page.name, () => look(page))

  test('the run of an agent, a comparison, and the run of a deleted agent', async () => {
    const { platform } = bench
    const runs = await platform.request('GET', '/api/agents/demo-developer/executions')
    const [run, other] = runs.json.filter(({ status }: Loose) => status === 'success')
    const path = `/agents/demo-developer/executions/${run.id}`
    await look({ name: 'run', route: '/agents/$name/executions/$id', path })
    await look({
      name: 'compared-runs',
      route: '/agents/$name/executions/$id/compare/$other',
      path: `${path}/compare/${other.id}`,
    })
    await createAgent(platform, 'qa-gone')
    const { json } = await chat(platform, 'qa-gone', '[[reply:farewell]]')
    const id =
      json.execution_id ?? (await platform.request('GET', '/api/agents/qa-gone/executions')).json[0].id
    await platform.request('DELETE', '/api/agents/qa-gone')
    await look({ name: 'run-of-deleted-agent', route: '/executions/$id', path: `/executions/${id}` })
  })

  test('a conversation in the Workspace', async () => {
    const path = `/api/enterprise/client-portal/agents/${agent}/sessions`
    const { json } = await bench.platform.request('POST', path, {})
    await look({ name: 'workspace-conversation', route: '/c/$id', path: `/workspace/c/${json.id}` })
  })

  test('what people see who are not signed in', async () => {
    const { platform } = bench
    const link = await platform.request('POST', `/api/agents/${agent}/public-links`, {
      greeting: 'Good day! Ask about the orders of the shop.',
      starter_questions: ['How many orders came in today?', 'Which topics have the open tickets?'],
    })
    const share = await platform.request('POST', `/api/agents/${agent}/canvas/main/share`, {
      scope: 'public',
    })
    const visitor = await openPageReviewer(bench, null)
    await visitor.look({ name: 'public-chat', route: '/chat/$token', path: new URL(link.json.url).pathname })
    await visitor.look({
      name: 'shared-canvas',
      route: '/canvas/s/$token',
      path: new URL(share.json.url).pathname,
    })
    await visitor.look(one('/login'))
    await visitor.close()
  })
})
