import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ErrorCode, errorCatalogue, errorHelpPath, sentenceOf } from '@roost/contracts/kit/errors'
import { fastify } from 'fastify'
import { Fault } from '../../kit/fault.ts'
import { problemOf } from '../problem.ts'
import { errorHelp } from './errors.ts'
import { serveErrorHelp } from './pages.ts'

const codes = Object.keys(errorCatalogue) as ErrorCode[]

test('every code, and no other one, has a cause and a remedy of its own in short sentences', () => {
  assert.deepEqual(Object.keys(errorHelp).toSorted(), codes.toSorted())
  for (const [code, texts] of Object.entries(errorHelp))
    for (const text of texts) {
      assert.match(text, /^[A-Z].*\.$/, code)
      assert.notEqual(text, sentenceOf(code as ErrorCode), code)
      for (const sentence of text.split(/[.:] /))
        assert.ok(sentence.split(' ').length <= 20, `${code}: ${sentence}`)
    }
})

test('every error body leads to a page that the platform serves without scripts', async () => {
  const app = fastify()
  serveErrorHelp(app)
  const list = await app.inject('/help/errors')
  for (const code of codes) {
    const { docs_url } = problemOf(new Fault(code), 'r1').body
    assert.equal(docs_url, errorHelpPath(code))
    const page = await app.inject(errorHelpPath(code))
    assert.equal(page.statusCode, 200, code)
    assert.match(String(page.headers['content-type']), /^text\/html/)
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
    const [cause] = errorHelp[code]
    assert.ok(page.body.includes(cause.replaceAll('<', '&lt;').replaceAll('&', '&amp;')), code)
    assert.doesNotMatch(page.body, /<script/)
    assert.ok(list.body.includes(`href="${errorHelpPath(code)}"`), code)
  }
  assert.equal((await app.inject('/help/errors.css')).statusCode, 200)
})

test('an unknown code has no page, and its text is not repeated', async () => {
  const app = fastify()
  serveErrorHelp(app)
  for (const code of ['nothing', 'constructor', '%3Cscript%3E']) {
    const reply = await app.inject(`/help/errors/${code}`)
    assert.notEqual(reply.statusCode, 200)
    assert.ok(!reply.body.includes('<script>'))
  }
})
