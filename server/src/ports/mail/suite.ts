import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Mail, type Mailer, MailFailed } from './port.ts'

/** An open mailer and the mail that has arrived at its destination. */
export type SuiteMail = { mailer: Mailer; arrived(): Promise<Mail[]>; close(): Promise<void> }

/** Tests for every mailer. */
export function mailSuite(open: () => Promise<SuiteMail>): void {
  const opened = async () => {
    const it = await open()
    return {
      ...it,
      async [Symbol.asyncDispose]() {
        await it.mailer.close()
        await it.close()
      },
    }
  }

  test('a mail arrives with its recipient, subject and text', async () => {
    await using it = await opened()
    const mail = {
      to: 'wren@example.com',
      subject: 'Grüße aus der Ferne 🦉',
      text: `Your code is 123456.\n\nGrüße\n${'long '.repeat(100)}end\n.\nafter a lone dot\n`,
    }
    await it.mailer.send(mail)
    const [arrived, ...others] = await it.arrived()
    assert.equal(others.length, 0)
    assert.deepEqual({ ...arrived, text: arrived?.text.trimEnd() }, { ...mail, text: mail.text.trimEnd() })
  })

  test('concurrent mails all arrive', async () => {
    await using it = await opened()
    const names = Array.from({ length: 10 }, (_, index) => `wren${index}@example.com`)
    await Promise.all(names.map((to) => it.mailer.send({ to, subject: 'hello', text: to })))
    assert.deepEqual((await it.arrived()).map(({ to }) => to).sort(), names.sort())
  })

  test('input that would add a recipient or header is refused', async () => {
    await using it = await opened()
    for (const to of ['a@example.com, b@example.com', 'a@example.com\r\nBcc: b@example.com', 'nobody', '']) {
      await assert.rejects(it.mailer.send({ to, subject: 's', text: 't' }), MailFailed, to)
    }
    const mail = { to: 'a@example.com', subject: 'one\r\nBcc: b@example.com', text: 't' }
    await assert.rejects(it.mailer.send(mail), MailFailed)
    assert.deepEqual(await it.arrived(), [])
  })
}
