import { checkMail, type Mail, type Mailer, MailFailed } from './port.ts'

export type FakeMailer = Mailer & {
  /** Sent mail, in order. */
  readonly sent: Mail[]
  /** Makes further mail succeed, fail, or hang until the next change. */
  set(state: 'works' | 'fails' | 'hangs'): void
}

export function createFakeMailer(): FakeMailer {
  const sent: Mail[] = []
  let state: 'works' | 'fails' | 'hangs' = 'works'
  let changed = Promise.withResolvers<void>()
  return {
    kind: 'fake',
    sent,
    set(next) {
      state = next
      changed.resolve()
      changed = Promise.withResolvers<void>()
    },
    async send(mail) {
      checkMail(mail)
      while (state === 'hangs') await changed.promise
      if (state === 'fails') throw new MailFailed('The mail server is unreachable.')
      sent.push(mail)
    },
    async close() {},
  }
}
