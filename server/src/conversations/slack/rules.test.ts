import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slackApp, slackEvent } from '@roost/test-support/slack/index'
import { isFault } from '../../kit/fault.ts'
import { checkSignature, plainText, readMessage, retrySeconds } from './rules.ts'

const bot = slackApp.botUserId
/** The example in Slack's reference. */
const documented = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  time: '1531420618',
  body: Buffer.from(
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  ),
  signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
}
const at = (seconds: number) => ({ secret: documented.secret, now: new Date(seconds * 1000) })

test("the signature of Slack's own example is valid, five minutes before and after", () => {
  for (const off of [-300, 0, 300]) checkSignature(documented, at(1531420618 + off))
})

test('any other request is refused', () => {
  const refused: [string, object, number][] = [
    ['late', {}, 301],
    ['early', {}, -301],
    ['another body', { body: Buffer.from('token=x') }, 0],
    ['another time', { time: '1531420619' }, 0],
    ['no time', { time: undefined }, 0],
    ['an invalid time', { time: '1531420618.0' }, 0],
    ['no signature', { signature: undefined }, 0],
    ['a short signature', { signature: 'v0=a2114d57' }, 0],
    ['another version', { signature: documented.signature.replace('v0', 'v1') }, 0],
  ]
  for (const [name, over, off] of refused) {
    assert.throws(
      () => checkSignature({ ...documented, ...over }, at(1531420618 + off)),
      (error) => isFault(error, 'invalid_signature'),
      name,
    )
  }
  assert.throws(() => checkSignature(documented, { ...at(1531420618), secret: 'another' }))
})

test('messages of people are read; those of bots and of Slack itself are ignored', () => {
  const read = (event: object, over = {}) => readMessage(slackEvent({ ...event }, over), bot)
  const message = read({ ts: '1.2', text: 'hi' })
  assert.deepEqual(
    [message?.text, message?.channelId, message?.messageTs, message?.threadTs, message?.isDirect],
    ['hi', 'C0001', '1.2', '1.2', false],
  )
  assert.equal(read({ ts: '1.3', thread_ts: '1.2' })?.threadTs, '1.2')
  assert.equal(read({ channel: 'D1', channel_type: 'im' })?.isDirect, true)
  assert.equal(read({ type: 'app_mention', text: `<@${bot}> hi` })?.text, 'hi')
  for (const subtype of ['file_share', 'thread_broadcast']) assert.ok(read({ subtype }), subtype)
  const ignored: [string, object, object?][] = [
    ['a bot', { bot_id: 'B2' }],
    ['ourselves', { user: bot }],
    ['Slackbot', { user: 'USLACKBOT' }],
    ['an edit', { subtype: 'message_changed', user: undefined, message: { user: 'U1', text: 'hi' } }],
    ['a deletion', { subtype: 'message_deleted', user: undefined }],
    ['somebody joins', { subtype: 'channel_join' }],
    ['a message of a bot', { subtype: 'bot_message' }],
    ['a reaction', { type: 'reaction_added' }],
    ['the mention alone', { type: 'app_mention', text: `<@${bot}>` }],
    ['a file without words', { subtype: 'file_share', text: '' }],
    ['another installation', {}, { authorizations: [{ team_id: 'T9', user_id: 'U9', is_bot: true }] }],
    ['something else', {}, { type: 'app_rate_limited' }],
    ['no user', { user: undefined }],
  ]
  for (const [name, event, over] of ignored) assert.equal(read(event, over), null, name)
})

test("Slack's markup becomes plain text", () => {
  const cases: [string, string][] = [
    [`<@${bot}> a &lt; b &amp;&amp; c`, 'a < b && c'],
    ['<@U2|sam> and <@U3>', '@sam and @U3'],
    ['in <#C2|team>, <#C3|> or <#C4>', 'in #team, # or #C4'],
    ['<!here> <!subteam^S1|@ops> <!date^1^x|today>', '@here @ops today'],
    [
      '<https://x.y/?a=1&amp;b=2> <https://x.y|x.y> <https://x.y|docs>',
      'https://x.y/?a=1&b=2 https://x.y docs (https://x.y)',
    ],
    ['&amp;lt;', '&lt;'],
  ]
  for (const [text, expected] of cases) assert.equal(plainText(text, bot), expected)
})

test('retry delays grow up to five minutes', () => {
  assert.deepEqual([0, 1, 2, 6, 50].map(retrySeconds), [5, 10, 20, 300, 300])
})
