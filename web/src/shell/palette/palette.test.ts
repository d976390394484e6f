import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { agentTabPlaces } from '../agent-tabs.ts'
import { currentAgent } from './current-agent.ts'
import { entriesOf, isOffered, type PaletteAgent } from './entries.ts'
import { allPlaces, placeWords, tabWords } from './places.ts'
import { indexOf, isOneEditApart, rank } from './rank.ts'
import { recentEntries, withRecent } from './recent.ts'

const agent = (name: string, rest: Partial<PaletteAgent> = {}): PaletteAgent => ({
  name,
  label: null,
  status: 'running',
  is_owner: true,
  is_system: false,
  ...rest,
})
const agents = [
  agent('scout'),
  agent('ui-scout'),
  agent('night-watch', { label: 'Vigil', status: 'stopped' }),
  agent('billing', { is_owner: false }),
  agent('roost-system', { status: 'stopped', is_system: true }),
]
const admin = { role: 'admin' } as const
const all = entriesOf({ me: admin, agents, current: null })
const index = indexOf(all)

/** The id of the first hit. */
const first = (text: string, of = index) => rank(of, text).find((entry) => isOffered(entry, text))?.id

/** What people type, and what Enter must do then. */
const expected: [query: string, id: string][] = [
  // Signing out, by any name.
  ['sign out', 'action sign-out'],
  ['log out', 'action sign-out'],
  ['logout', 'action sign-out'],
  ['log off', 'action sign-out'],
  ['out sign', 'action sign-out'],
  ['sing out', 'action sign-out'],
  // Power of an agent.
  ['stop scout', 'stop scout'],
  ['scout stop', 'stop scout'],
  ['halt scout', 'stop scout'],
  ['stop ui-scout', 'stop ui-scout'],
  ['kill ui scout', 'stop ui-scout'],
  ['shut down scout', 'stop scout'],
  ['turn off billing', 'stop billing'],
  ['stpo scout', 'stop scout'],
  ['stop the agent scout', 'stop scout'],
  ['start vigil', 'start night-watch'],
  ['start night-watch', 'start night-watch'],
  ['boot night-watch', 'start night-watch'],
  ['stop agent', 'action any stop'],
  ['delete scout', 'delete scout'],
  ['remove ui-scout', 'delete ui-scout'],
  // Creating.
  ['create agent', 'action create'],
  ['new agent', 'action create'],
  ['add agent', 'action create'],
  ['make an agent', 'action create'],
  ['craete agent', 'action create'],
  ['new schedule', 'action any schedule'],
  ['add schedule', 'action any schedule'],
  ['create shedule', 'action any schedule'],
  ['new schedule scout', 'schedule scout'],
  ['schedule new ui-scout', 'schedule ui-scout'],
  // Agents and their tabs.
  ['scout', 'agent scout'],
  ['ui-scout', 'agent ui-scout'],
  ['vigil', 'agent night-watch'],
  ['night', 'agent night-watch'],
  ['biling', 'agent billing'],
  ['ui-scout files', 'tab ui-scout files'],
  ['files ui-scout', 'tab ui-scout files'],
  ['scout files', 'tab scout files'],
  ['scout workspace', 'tab scout files'],
  ['scout terminal', 'tab scout terminal'],
  ['shell scout', 'tab scout terminal'],
  ['scout logs', 'tab scout logs'],
  ['scout cred', 'tab scout credentials'],
  ['chat with scout', 'tab scout chat'],
  ['vigil schedules', 'tab night-watch schedules'],
  ['night-watch git', 'tab night-watch git'],
  ['billing sharing', 'tab billing sharing'],
  ['scout setings', 'tab scout settings'],
  // Pages.
  ['runs', 'page Runs'],
  ['executions', 'page Runs'],
  ['agents', 'page Agents'],
  ['home', 'page Home'],
  ['dashboard', 'page Home'],
  ['inbox', 'page Inbox'],
  ['audit', 'page Audit'],
  ['settings', 'page Settings'],
  ['preferences', 'page Settings'],
  ['users', 'page People'],
  ['people', 'page People'],
  ['api keys', 'page Keys'],
  ['change password', 'page Account'],
  ['costs', 'page Costs'],
  ['model prices', 'page Model prices'],
  ['retention', 'page Limits and retention'],
  ['swagger', 'page API reference'],
  // Other actions.
  ['dark mode', 'action theme dark'],
  ['light theme', 'action theme light'],
  ['shortcuts', 'action help'],
  ['pause schedules', 'action pause'],
  ['emergency stop', 'action emergency'],
]

describe('the first hit', () => {
  for (const [query, id] of expected) test(query, () => assert.equal(first(query), id))

  test('covers 60 queries or more', () => assert.ok(expected.length >= 60))

  test('is of the shown agent where the text names none', () => {
    const here = indexOf(entriesOf({ me: admin, agents, current: 'ui-scout' }))
    assert.equal(first('files', here), 'tab ui-scout files')
    assert.equal(first('new schedule', here), 'action schedule')
    assert.equal(first('stop', here), 'stop ui-scout')
    assert.equal(first('scout', here), 'agent scout')
    assert.equal(first('settings', here), 'page Settings')
  })

  test('narrows to one command per agent', () => {
    const text = 'new schedule for '
    const hits = rank(index, text).filter((entry) => isOffered(entry, text))
    assert.deepEqual(
      new Set(hits.slice(0, agents.length).map(({ id }) => id)),
      new Set(agents.map(({ name }) => `schedule ${name}`)),
    )
  })
})

describe('matching', () => {
  test('every word must match, unless nothing does', () => {
    assert.ok(rank(index, 'ui-scout files').every(({ id }) => id.includes('ui-scout')))
    assert.equal(first('scout blueberries'), 'agent scout')
    assert.equal(first('blueberries'), undefined)
  })

  test('typing errors count only when nothing matches as typed', () => {
    assert.ok(!rank(index, 'stop').some(({ id }) => id.startsWith('start')))
  })

  test('an edit is one letter inserted, removed, replaced or swapped', () => {
    for (const [one, other, is] of [
      ['schedule', 'shedule', true],
      ['stop', 'stopp', true],
      ['files', 'filed', true],
      ['scout', 'scuot', true],
      ['scout', 'scout', false],
      ['stop', 'start', false],
      ['abcd', 'badc', false],
    ] as const)
      assert.equal(isOneEditApart(one, other), is, `${one} ${other}`)
  })

  test('accents and case do not matter', () => {
    const named = indexOf(
      entriesOf({ me: admin, agents: [agent('cafe', { label: 'Café Über' })], current: null }),
    )
    assert.equal(first('CAFE uber', named), 'agent cafe')
  })
})

describe('what is offered', () => {
  const ids = (of: ReturnType<typeof entriesOf>) => of.map(({ id }) => id)

  test('each command has an id of its own', () => assert.equal(new Set(ids(all)).size, all.length))

  test('to a person whom an agent is shared with: neither deletion nor the tabs of owners', () => {
    const offered = ids(
      entriesOf({ me: { role: 'user' }, agents: [agent('billing', { is_owner: false })], current: null }),
    )
    for (const id of ['delete billing', 'tab billing sharing', 'tab billing terminal', 'action create'])
      assert.ok(!offered.includes(id), id)
    for (const id of ['page Audit', 'action pause', 'action emergency']) assert.ok(!offered.includes(id), id)
    for (const id of ['agent billing', 'tab billing files', 'page Keys']) assert.ok(offered.includes(id), id)
  })

  test('start or stop, by the state of the agent', () => {
    assert.ok(ids(all).includes('start night-watch') && !ids(all).includes('stop night-watch'))
    assert.ok(ids(all).includes('stop scout') && !ids(all).includes('start scout'))
  })

  test('every tab of every page', () => {
    const pages = join(import.meta.dirname, '../../pages')
    const idsOf = (file: string) =>
      [...readFileSync(join(pages, file), 'utf8').matchAll(/^ {4}id: '(\w+)'/gm)].map(([, id]) => id)
    const files = {
      '/library': 'library-tabs.ts',
      '/agents': 'agents-tabs.tsx',
      '/inbox': 'inbox-tabs.ts',
      '/settings': 'settings.tsx',
    }
    for (const [to, file] of Object.entries(files)) {
      assert.ok(readdirSync(pages).includes(file) && idsOf(file).length > 1)
      const offered = allPlaces(admin)
        .filter((place) => place.to === to)
        // Without a tab the address shows the first one.
        .map(({ search }) => search?.tab ?? idsOf(file)[0])
      assert.deepEqual(
        idsOf(file).filter((id) => !offered.includes(id)),
        [],
        file,
      )
    }
    assert.equal(all.filter(({ kind }) => kind === 'Agent tab').length, agents.length * agentTabPlaces.length)
  })

  test('further words belong to pages and tabs that exist', () => {
    const labels = allPlaces(admin).map(({ label }) => label)
    assert.deepEqual(
      Object.keys(placeWords).filter((label) => !labels.includes(label)),
      [],
    )
    const tabs: string[] = agentTabPlaces.map(({ id }) => id)
    assert.deepEqual(
      Object.keys(tabWords).filter((id) => !tabs.includes(id)),
      [],
    )
  })
})

describe('recent items', () => {
  const entry = (id: string) => all.find((each) => each.id === id) ?? assert.fail(id)

  test('are the last six places, each once and newest first; actions on agents are left out', () => {
    const chosen = ['page Runs', 'agent scout', 'stop scout', 'page Runs', 'action sign-out']
    const recent = chosen.reduce<readonly string[]>((now, id) => withRecent(now, entry(id)), [])
    assert.deepEqual(recent, ['page Runs', 'agent scout'])
    const many = all.filter(({ kind }) => kind === 'Page').reduce<readonly string[]>(withRecent, [])
    assert.equal(many.length, 6)
  })

  test('leave out what no longer exists', () => {
    const shown = recentEntries(['agent deleted', 'agent scout', 'page Audit'], all)
    assert.deepEqual(
      shown.map(({ id }) => id),
      ['agent scout', 'page Audit'],
    )
  })
})

test('the current agent is that of the address', () => {
  assert.equal(currentAgent('/agents/scout'), 'scout')
  assert.equal(currentAgent('/agents/scout/executions/1'), 'scout')
  assert.equal(currentAgent('/'), null)
})
