import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { checkMail } from './mail.ts'

const check = (url: string | undefined) => checkMail({ ROOST_MAIL_URL: url })

test('without mail it is said in plain words that nobody signs in by e-mail', async () => {
  for (const url of [undefined, '', ' ']) {
    const { state, words, advice } = await check(url)
    assert.equal(state, 'warn')
    assert.match(words, /nobody can sign in by e-mail/)
    assert.match(advice ?? '', /ROOST_MAIL_URL/)
  }
})

test('mail that goes nowhere is said to', async () => {
  for (const url of ['file:/tmp/mail', 'log:']) assert.match((await check(url)).words, /sent to nobody/)
})

test('a mail server is asked whether it is there; its password is not printed', async () => {
  const server = createServer((socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const url = `smtp://roost:hidden@127.0.0.1:${port}`
  assert.deepEqual(await check(url), {
    state: 'ok',
    about: 'mail',
    words: `the server 127.0.0.1:${port} answers`,
  })
  await new Promise((resolve) => server.close(resolve))
  const gone = await check(url)
  assert.equal(gone.state, 'fail')
  assert.ok(!JSON.stringify(gone).includes('hidden'))
})

test('what is no mail URL is a failure', async () => {
  for (const url of ['mail.example.com', 'http://mail.example.com', 'smtp://[x'])
    assert.equal((await check(url)).state, 'fail', url)
})
