import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type ReceivedMail, startMailServer } from '@roost/test-support/mail/index'
import PostalMime from 'postal-mime'
import { systemClock } from '../../kit/clock.ts'
import { secret } from '../../kit/secret.ts'
import { silentLog } from '../log.ts'
import { createFakeMailer } from './fake.ts'
import { openMailer } from './open.ts'
import { type Mail, type Mailer, MailFailed } from './port.ts'
import { mailSuite } from './suite.ts'

const deps = { platformHost: 'roost.example.com', clock: systemClock, log: silentLog }
const open = (url: string, log = silentLog): Mailer =>
  openMailer(secret(url), { ...deps, log }) ?? assert.fail('no mailer')
const asMail = ({ to, subject, text }: ReceivedMail): Mail => ({ to: to.join(), subject, text })
const mail = { to: 'wren@example.com', subject: 'hello', text: 'hello' }

describe('smtp', () => {
  mailSuite(async () => {
    const server = await startMailServer({ account: { user: 'roost', password: 'p@ss word' } })
    return {
      mailer: open(server.url),
      arrived: async () => server.received.map(asMail),
      close: () => server.close(),
    }
  })

  test('the sender is `?from=`, else the user if it is an address, else the host', async () => {
    for (const [user, query, from] of [
      ['roost', '?from=post@example.com', 'post@example.com'],
      ['bot@example.com', '', 'bot@example.com'],
      ['roost', '', 'roost@roost.example.com'],
    ] as const) {
      const server = await startMailServer({ account: { user, password: 'p' } })
      const mailer = open(server.url + query)
      await mailer.send(mail)
      assert.equal(server.received[0]?.from, from)
      await mailer.close()
      await server.close()
    }
  })

  test('a wrong password and an unreachable server are MailFailed without showing the password', async () => {
    const server = await startMailServer({ account: { user: 'roost', password: 'right' } })
    const address = server.url.slice(server.url.indexOf('@') + 1)
    for (const stop of [async () => {}, () => server.close()]) {
      await stop()
      const mailer = open(`smtp://roost:wrong-one@${address}`)
      const failed = (error: unknown) => error instanceof MailFailed && !error.message.includes('wrong-one')
      await assert.rejects(mailer.send(mail), failed)
      await mailer.close()
    }
  })
})

describe('file', () => {
  const openFolder = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roost-mail-'))
    return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
  }

  mailSuite(async () => {
    const { folder, remove } = await openFolder()
    return {
      mailer: open(`file:${folder}`),
      async arrived() {
        const texts = await Promise.all(
          (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
        )
        const parsed = await Promise.all(texts.map((text) => PostalMime.parse(text)))
        return parsed.map(({ to, subject, text }) => ({
          to: to?.map(({ address }) => address).join() ?? '',
          subject: subject ?? '',
          text: text ?? '',
        }))
      },
      close: remove,
    }
  })

  test('the folder is created, and its mail is private to its owner', async () => {
    const { folder, remove } = await openFolder()
    await open(`file://${folder}/made`).send(mail)
    const [name = ''] = await readdir(join(folder, 'made'))
    assert.match(name, /^\d{4}-.*\.eml$/)
    assert.equal((await stat(join(folder, 'made', name))).mode & 0o077, 0)
    await remove()
  })

  test('an unwritable folder is MailFailed', async () => {
    await assert.rejects(open(`file:${import.meta.filename}/folder`).send(mail), MailFailed)
  })
})

describe('log', () => {
  mailSuite(async () => {
    const lines: Record<string, unknown>[] = []
    const log = { ...silentLog, info: (fields: Record<string, unknown>) => void lines.push(fields) }
    return {
      mailer: open('log:', log),
      arrived: async () =>
        lines.map(({ to, subject, text }) => ({ to: `${to}`, subject: `${subject}`, text: `${text}` })),
      async close() {},
    }
  })
})

describe('the fake', () => {
  mailSuite(async () => {
    const mailer = createFakeMailer()
    return { mailer, arrived: async () => mailer.sent, async close() {} }
  })
})

test('without a URL there is no mailer', () => {
  assert.equal(openMailer(null, deps), null)
})
