import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { checkMail } from './mail.ts'

const check = (url: string | undefined) => checkMail({ ROOST_MAIL_URL: url })

test('warns that nobody can sign in by e-mail without a mail server', async () => {
  for (const url of [undefined, '', ' ']) {
    const { state, message, advice } = await check(url)
    assert.equal(state, 'warn')
    assert.match(message, /nobody can sign in by e-mail/)
    assert.match(advice ?? '', /ROOST_MAIL_URL/)
  }
})

test('reports that mail to a file or the log reaches nobody', async () => {
  for (const url of ['file:/tmp/mail', 'log:']) assert.match((await check(url)).message, /sent to nobody/)
})

test('connects to the mail server and never prints its password', async () => {
  const server = createServer((socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const url = `smtp://roost:hidden@127.0.0.1:${port}`
  assert.deepEqual(await check(url), {
    state: 'ok',
    about: 'mail',
    message: `the server 127.0.0.1:${port} answers`,
  })
  await new Promise((resolve) => server.close(resolve))
  const unreachable = await check(url)
  assert.equal(unreachable.state, 'fail')
  assert.ok(!JSON.stringify(unreachable).includes('hidden'))
})

test('an invalid mail URL is a failure', async () => {
  for (const url of ['mail.example.com', 'http://mail.example.com', 'smtp://[x'])
    assert.equal((await check(url)).state, 'fail', url)
})
