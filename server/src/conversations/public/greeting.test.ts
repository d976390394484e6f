import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { openPublicWorld } from './test/world.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

forEachDialect((_name, open) => {
  test('a visitor reads the greeting and the starter questions; the owner sets, keeps and clears them', async () => {
    await using world = await openPublicWorld(open)
    const starter_questions = ['When do you  open?\n', ' Where are you?', 'Where are you?']
    const link = await world.newLink({ greeting: ' Good day.\n**Ask** <b>me</b>. ', starter_questions })
    const shown = async () => {
      const { json } = await world.visit('GET', `/link/${link.token}`)
      return [json.greeting, json.starter_questions]
    }
    // Plain text: the words stay as they were written.
    const texts = ['Good day.\n**Ask** <b>me</b>.', ['When do you open?', 'Where are you?']]
    assert.deepEqual([link.greeting, link.starter_questions], texts)
    assert.deepEqual(await shown(), texts)
    await world.manage('PUT', `/${link.id}`, { name: 'Site' })
    assert.deepEqual(await shown(), texts)
    await world.manage('PUT', `/${link.id}`, { greeting: null, starter_questions: [] })
    assert.deepEqual(await shown(), [null, []])
    const other = await world.newLink({ greeting: '' })
    assert.deepEqual([other.greeting, other.starter_questions], [null, []])
  })

  test('422 names a greeting or a question that is too long, blank or one too many', async () => {
    await using world = await openPublicWorld(open)
    for (const [body, place] of [
      [{ greeting: 'x'.repeat(501) }, ['greeting']],
      [{ greeting: ['hello'] }, ['greeting']],
      [{ starter_questions: ['x'.repeat(201)] }, ['starter_questions', 0]],
      [{ starter_questions: ['Why?', ' \n'] }, ['starter_questions', 1]],
      [{ starter_questions: ['1', '2', '3', '4', '5'] }, ['starter_questions']],
    ] as const) {
      const { status, json } = await world.manage('POST', '', body)
      assert.equal(status, 422, JSON.stringify(body))
      assert.deepEqual(json.detail[0].loc, ['body', ...place])
    }
  })

  test('a visitor gets the picture of the agent as long as the link is open', async () => {
    await using world = await openPublicWorld(open)
    const link = await world.newLink()
    const path = `/link/${link.token}/picture`
    await world.request(world.owner.key, 'PUT', '/api/agents/scout/label', { label: 'Friendly Helper' })
    const drawn = await world.visit('GET', path)
    assert.match(drawn.bytes.toString(), />FH</)
    assert.deepEqual([drawn.status, drawn.headers['content-type']], [200, 'image/svg+xml'])
    await world.avatars.put(await world.row('scout'), png)
    const set = await world.visit('GET', path)
    assert.equal(set.headers['content-type'], 'image/png')
    assert.equal(set.headers['x-content-type-options'], 'nosniff')
    assert.match(String(set.headers['content-security-policy']), /default-src 'none'/)
    await world.manage('PUT', `/${link.id}`, { enabled: false })
    assert.equal((await world.visit('GET', path)).json.error, 'link_not_found')
    await world.manage('PUT', `/${link.id}`, { enabled: true })
    world.flag.isOn = false
    assert.equal((await world.visit('GET', path)).json.error, 'feature_disabled')
  })
})
